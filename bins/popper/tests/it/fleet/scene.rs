//! Processes of popper that share a database on a server.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use test_support::postgres::dump::{self, Dump};
use test_support::postgres::{self, Database, Server};
use test_support::program;
use work_queue::{Address, Queue, QueueOptions, Timing};

use crate::process::{Ran, fresh, words};
use crate::runs::Place;

/// The limit for anything that must happen, far above what a busy machine needs.
pub const LIMIT: Duration = Duration::from_secs(100);

/// The wait between two looks, as some phases are short.
const TURN: Duration = Duration::from_millis(2);

/// The times of all processes.
const TIMES: &str = "--lease 1s --patience 100s";

/// A database, and a folder in which the processes run.
pub struct Fleet {
    pub place: Place,
    pub url: String,
    /// The number of processes that were started.
    started: Cell<u32>,
    database: Database,
}

impl Fleet {
    /// A separate database. `None` where no server can run.
    pub fn new(place: Place) -> Option<Self> {
        Some(Self::with(place, postgres::database()?))
    }

    /// The same on a server that the test may kill.
    pub fn on(server: &Server, place: Place) -> Self {
        Self::with(place, server.database())
    }

    fn with(place: Place, database: Database) -> Self {
        Self {
            place,
            url: database.url().to_owned(),
            started: Cell::default(),
            database,
        }
    }

    /// Makes the tables of the queue, so that workers can be there before the run.
    pub fn migrate(&self) {
        let migrated = async { Queue::migrate(&self.address(), &queue_options()).await };
        bin_support::block_on(migrated).unwrap().unwrap();
    }

    pub fn address(&self) -> Address {
        Address::parse(&self.url).unwrap()
    }

    /// A command in the folder, without a database.
    pub fn start(&self, line: &str) -> Process {
        Process::start(self, fresh(self.place.path(), &words(line)))
    }

    /// A command on the database.
    pub fn popper(&self, line: &str) -> Process {
        self.start(&format!("{line} --store {}", self.url))
    }

    /// Begins a run, or continues it.
    pub fn run(&self, flags: &str) -> Process {
        self.popper(&format!(
            "run --config config.json --proposer enumerative {TIMES} {flags}"
        ))
    }

    pub fn worker(&self, name: &str) -> Process {
        self.popper(&format!("worker --threads 1 --name {name} {TIMES}"))
    }

    /// The number that a query gives.
    pub fn number(&self, sql: &str) -> i64 {
        Database::query(&self.url, sql)
    }

    /// Runs some statements.
    pub fn execute(&self, sql: &str) {
        let done = async {
            let options: PgConnectOptions = self.url.parse()?;
            let mut session = options.connect().await?;
            let sql = sqlx::raw_sql(AssertSqlSafe(sql));
            sql.execute(&mut session).await?;
            session.close().await
        };
        bin_support::block_on(done).unwrap().unwrap();
    }

    /// Waits until a query gives a number.
    pub fn reaches(&self, sql: &str, expected: i64) {
        until(sql, || self.number(sql) == expected);
    }

    pub fn name(&self) -> &str {
        self.database.name()
    }

    /// All rows of the run's tables but for times.
    pub fn rows(&self) -> Dump {
        let rows = dump::of_server(&self.url);
        dump::without_times(bin_support::block_on(rows).unwrap())
    }

    /// The exported document but for times, ids as ranks.
    pub fn exported(&self) -> String {
        comparable(&self.popper("export").end().exits(0))
    }

    /// Checks that no job, no open conflict and no session is left, and that no attempt is stored twice.
    pub fn assert_clean(&self) {
        for sql in [
            "SELECT count(*) FROM work_queue.work",
            "SELECT count(*) FROM work_queue.results",
            "SELECT count(*) FROM work_queue.late",
            "SELECT count(*) FROM work_queue.conflicts WHERE resolved_at IS NULL",
            "SELECT count(*) FROM graphile_worker._private_jobs",
            "SELECT count(*) FROM (SELECT 1 FROM popper.law_evaluations
                GROUP BY run_id, law_id, harness_config_hash, seed HAVING count(*) > 1) twice",
        ] {
            assert_eq!(self.number(sql), 0, "{sql}");
        }
        self.reaches(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
            0,
        );
    }
}

/// The options of a queue of the test's own.
pub fn queue_options() -> QueueOptions {
    let mut options = QueueOptions::new("test");
    options.timing = timing();
    options
}

pub fn timing() -> Timing {
    let mut timing = Timing::default();
    timing.lease = Duration::from_secs(1);
    timing.patience = LIMIT;
    timing
}

/// The rows and the document of the same run on one machine.
pub struct Expected {
    pub rows: Dump,
    pub exported: String,
}

impl Expected {
    /// Runs to a number of iterations with a number of threads in a database file.
    pub fn new(place: &Place, iterations: u32, threads: u32) -> Self {
        let flags = format!("--iterations {iterations} --threads {threads}");
        let ran = place.run(&words(&flags));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let rows = bin_support::block_on(dump::of_file(&place.db())).unwrap();
        let exported = place.popper(&["export"]).exits(0);
        Self {
            rows: dump::without_times(rows),
            exported: comparable(&exported),
        }
    }

    /// Checks that a run on a server has the same rows and the same document, and that nothing is left of its jobs.
    pub fn assert_same(&self, fleet: &Fleet, context: &str) {
        let rows = fleet.rows();
        for (table, expected) in &self.rows {
            assert_eq!(&rows[table], expected, "{context}: {table}");
        }
        assert!(fleet.exported() == self.exported, "{context}: export");
        fleet.assert_clean();
    }
}

/// The references to rows in an exported document, and the list of the rows.
const REFERENCES: [(&str, &str); 7] = [
    ("run_id", "run"),
    ("iteration_id", "iterations"),
    ("created_iteration_id", "iterations"),
    ("law_row_id", "laws"),
    ("evaluation_id", "evaluations"),
    ("law_evaluation_id", "evaluations"),
    ("counterexample_id", "counterexamples"),
];

/// A document in which ids are ranks and nothing tells the time.
pub fn comparable(exported: &Ran) -> String {
    let mut document = exported.json();
    let mut ranks: BTreeMap<String, BTreeMap<i64, i64>> = BTreeMap::new();
    for (name, field) in document.as_object_mut().unwrap() {
        let rows: Vec<&mut Value> = match field {
            Value::Array(rows) => rows.iter_mut().collect(),
            row => vec![row],
        };
        let ranks = ranks.entry(name.clone()).or_default();
        for (row, rank) in rows.into_iter().zip(1..) {
            if let Some(id) = row.get("id").and_then(Value::as_i64) {
                ranks.insert(id, rank);
                row["id"] = rank.into();
            }
        }
    }
    scrub(&mut document, &ranks);
    document.to_string()
}

fn scrub(value: &mut Value, ranks: &BTreeMap<String, BTreeMap<i64, i64>>) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| scrub(value, ranks)),
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_at") && name != "runtime_ms");
            for (name, value) in fields {
                let list = REFERENCES.iter().find(|(reference, _)| reference == name);
                match list.zip(value.as_i64()) {
                    Some(((_, list), id)) => *value = ranks[*list][&id].into(),
                    None => scrub(value, ranks),
                }
            }
        }
        _ => {}
    }
}

/// Waits until a condition holds.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "not within {LIMIT:?}: {what}");
        thread::sleep(TURN);
    }
}

/// A process with its output in files, where the test can look while it runs. It is killed when this is dropped.
pub struct Process {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Process {
    pub fn start(fleet: &Fleet, mut command: Command) -> Self {
        let number = fleet.started.get();
        fleet.started.set(number + 1);
        let file = |end: &str| fleet.place.path().join(format!("process-{number}.{end}"));
        let (stdout, stderr) = (file("out"), file("err"));
        let into = |path: &PathBuf| Stdio::from(File::create(path).unwrap());
        let child = command.stdout(into(&stdout)).stderr(into(&stderr)).spawn();
        Self {
            child: child.unwrap(),
            stdout,
            stderr,
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        program::signal(self.id(), name);
    }

    /// Kills the process at once.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// The text on stderr so far.
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap()
    }

    /// Waits until the process has said something.
    #[track_caller]
    pub fn says(&self, words: &str) {
        let mut said = String::new();
        until(words, || {
            said = self.said();
            said.contains(words)
        });
    }

    /// Waits for the end of the process.
    #[track_caller]
    pub fn end(mut self) -> Ran {
        until("the end of a process", || self.has_ended());
        Ran {
            code: self.child.try_wait().unwrap().unwrap().code(),
            stdout: std::fs::read_to_string(&self.stdout).unwrap(),
            stderr: self.said(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}
