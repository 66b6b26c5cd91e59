//! A run and a check by workers, against the same by the threads of one process, on one machine.
//!
//! `cargo bench -p popper --bench machines -- [ROUNDS]` starts a `PostgreSQL` server that syncs every commit, runs the program's processes in
//! turn, and prints one JSON object with the least seconds of each and their ratios. All processes share this machine: with
//! two processors, four workers cannot be faster than two.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use test_support::postgres::{self, Database};

/// Rounds, unless the command line says otherwise.
const ROUNDS: usize = 3;

/// Enumerated laws, next to those of the fixtures.
const ENUMERATED: &str = "400";

/// The largest ring whose starts are all tried.
const EXHAUSTIVE: &str = "16";

fn popper(folder: &Path, arguments: &[&str]) -> Command {
    let mut popper = Command::new(env!("CARGO_BIN_EXE_popper"));
    popper
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    popper
}

/// Seconds of a command, which may say that a law cannot be read.
fn seconds(mut command: Command) -> f64 {
    let begin = Instant::now();
    let status = command.status().unwrap();
    assert!(
        [Some(0), Some(3)].contains(&status.code()),
        "{command:?}: {status}"
    );
    begin.elapsed().as_secs_f64()
}

/// Writes laws that take the processors some seconds: those of the fixtures, and enumerated ones.
fn write_laws(folder: &Path) {
    let run = [
        "run",
        "--proposer",
        "enumerative",
        "--iterations",
        "1",
        "--exhaustive-n",
        "5",
    ];
    let laws = [
        "--propose",
        ENUMERATED,
        "--test",
        ENUMERATED,
        "--db",
        "laws.db",
    ];
    seconds(popper(folder, &[&run[..], &laws].concat()));
    let exported = popper(folder, &["export", "--db", "laws.db"])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let exported: Value = serde_json::from_slice(&exported.stdout).unwrap();
    let law = |row: &Value| {
        let mut law = row["normalized"].clone();
        law["law_id"] = row["law_id"].clone();
        law["claim"] = row["claim_text"].clone();
        law["forbidden"] = row["forbidden_text"].clone();
        law
    };
    let mut laws: Vec<Value> = exported["laws"]
        .as_array()
        .unwrap()
        .iter()
        .map(law)
        .collect();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/popper/laws");
    for file in ["true", "false", "unknown"] {
        let text = std::fs::read_to_string(format!("{fixtures}/{file}.json")).unwrap();
        laws.extend(serde_json::from_str::<Vec<Value>>(&text).unwrap());
    }
    std::fs::write(folder.join("laws.json"), json!(laws).to_string()).unwrap();
}

/// Workers that end with this.
struct Workers(Vec<Child>);

impl Workers {
    fn start(folder: &Path, url: &str, count: usize) -> Self {
        let start = |_| popper(folder, &["worker", "--store", url, "--threads", "1"]).spawn();
        let workers: Result<Vec<_>, _> = (0..count).map(start).collect();
        let workers = Self(workers.unwrap());
        let ready = "SELECT count(*) FROM work_queue.workers w
            JOIN graphile_worker._private_workers e ON e.id = w.engine_id";
        while Database::query(url, ready) < count as i64 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        workers
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            let id = worker.id().to_string();
            let _sent = Command::new("kill").args(["-TERM", &id]).status();
            let _ended = worker.wait();
        }
    }
}

/// The least seconds of each way.
fn measure(folder: &Path, server: &postgres::Server, rounds: usize) -> Vec<(&'static str, f64)> {
    let mut least: Vec<(&str, f64)> = Vec::new();
    let mut keep =
        |name: &'static str, taken: f64| match least.iter_mut().find(|(kept, _)| *kept == name) {
            Some((_, kept)) => *kept = kept.min(taken),
            None => least.push((name, taken)),
        };
    let checks = [
        "check",
        "laws.json",
        "--exhaustive-n",
        EXHAUSTIVE,
        "--audit",
        "0",
        "--threads",
        "0",
    ];
    let run = [
        "run",
        "--new-run",
        "--proposer",
        "enumerative",
        "--iterations",
        "4",
        "--propose",
        ENUMERATED,
        "--test",
        ENUMERATED,
        "--exhaustive-n",
        "12",
    ];
    let database = server.database();
    let url = database.url();
    let tables = ["run", "--proposer", "enumerative", "--iterations", "1"];
    seconds(popper(folder, &[&tables[..], &["--store", url]].concat()));
    for round in 0..rounds {
        for (name, count) in [
            ("check_1_worker", 1),
            ("check_2_workers", 2),
            ("check_4_workers", 4),
        ] {
            let workers = Workers::start(folder, url, count);
            keep(
                name,
                seconds(popper(folder, &[&checks[..], &["--store", url]].concat())),
            );
            drop(workers);
        }
        for (name, threads) in [("run_file_1_thread", "1"), ("run_file_2_threads", "2")] {
            let db = format!("run.{round}.{threads}.db");
            let flags = ["--threads", threads, "--db", &db];
            keep(name, seconds(popper(folder, &[&run[..], &flags].concat())));
        }
        let fresh = server.database();
        // The tables are made once in the life of a database.
        seconds(popper(
            folder,
            &[&tables[..], &["--store", fresh.url()]].concat(),
        ));
        let flags = ["--threads", "2", "--audit", "0", "--store", fresh.url()];
        keep(
            "run_server_2_threads",
            seconds(popper(folder, &[&run[..], &flags].concat())),
        );
    }
    least
}

fn main() {
    let rounds = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let server = postgres::durable_server().expect("a PostgreSQL server");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    write_laws(folder.path());
    let least = measure(folder.path(), &server, rounds.unwrap_or(ROUNDS));
    let of = |name: &str| least.iter().find(|(kept, _)| *kept == name).unwrap().1;
    let ratio = |one: &str, other: &str| (of(one) / of(other) * 100.0).round() / 100.0;
    let seconds: serde_json::Map<String, Value> = least
        .iter()
        .map(|(name, taken)| ((*name).to_owned(), json!((taken * 100.0).round() / 100.0)))
        .collect();
    let answer = json!({
        "seconds": seconds,
        "speed_up_2_workers": ratio("check_1_worker", "check_2_workers"),
        "speed_up_4_against_2_workers": ratio("check_2_workers", "check_4_workers"),
        "speed_up_2_threads": ratio("run_file_1_thread", "run_file_2_threads"),
        "server_against_file": ratio("run_server_2_threads", "run_file_2_threads"),
    });
    println!("{}", serde_json::to_string_pretty(&answer).unwrap());
}
