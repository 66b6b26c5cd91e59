//! A database with a queue, workers in this process, and waits for what happens.

use std::collections::{BTreeMap, HashSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool};
use test_support::postgres::{self, Database, Server};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use work_queue::{
    Address, Collected, Group, Outcome, Queue, QueueError, QueueOptions, Served, Stopper, Timing,
    Work, Worker, WorkerOptions,
};

/// The limit for anything that must happen, far above what a busy machine needs.
pub const LIMIT: Duration = Duration::from_secs(100);

pub struct Scene {
    pub address: Address,
    pub url: String,
    pub queue: Queue,
    pub group: Group,
    /// Sessions of the test, next to those under test.
    pub pool: PgPool,
    _database: Database,
}

/// A worker in this process.
pub struct RunningWorker {
    pub stopper: Stopper,
    pub task: JoinHandle<Result<Served, QueueError>>,
}

/// The times of the tests: a lease of a second.
pub fn timing() -> Timing {
    let mut timing = Timing::default();
    timing.lease = Duration::from_secs(1);
    timing.patience = LIMIT;
    timing.stall = Duration::from_secs(20);
    timing
}

pub fn queue_options() -> QueueOptions {
    let mut options = QueueOptions::new("test queue");
    options.timing = timing();
    options
}

pub fn worker_options(name: &str) -> WorkerOptions {
    let mut options = WorkerOptions::new(name);
    options.timing = timing();
    options.poll = Duration::from_millis(10);
    options
}

impl Scene {
    /// A new database with the tables. `None` where no server can run.
    pub async fn new(work: &dyn Work) -> Option<Self> {
        Some(Self::with(postgres::database()?, work).await)
    }

    /// The same on a server that the test may kill.
    pub async fn on(server: &Server, work: &dyn Work) -> Self {
        Self::with(server.database(), work).await
    }

    async fn with(database: Database, work: &dyn Work) -> Self {
        let url = database.url().to_owned();
        let address = Address::parse(&url).unwrap();
        Queue::migrate(&address, &queue_options()).await.unwrap();
        let queue = Queue::open(&address, &queue_options()).await.unwrap();
        let pool = PgPoolOptions::new()
            .max_connections(2)
            .connect_lazy_with(address.options("test"));
        let group = Group::of(work, "run 1").unwrap();
        Self {
            address,
            url,
            queue,
            group,
            pool,
            _database: database,
        }
    }

    /// Gives the queue a longer lease, for a test in which no worker may seem to be dead on a busy machine. Its workers need the
    /// same.
    pub async fn with_lease(mut self, lease: Duration) -> Self {
        let mut options = queue_options();
        options.timing.lease = lease;
        self.queue = Queue::open(&self.address, &options).await.unwrap();
        self
    }

    pub async fn submit(&self, inputs: &[&str]) -> Vec<String> {
        let inputs: Vec<_> = inputs
            .iter()
            .map(|input| input.as_bytes().to_vec())
            .collect();
        self.queue.submit(&self.group, &inputs).await.unwrap()
    }

    pub async fn worker(&self, work: Arc<dyn Work>, options: WorkerOptions) -> RunningWorker {
        let worker = Worker::open(&self.address, work, options).await.unwrap();
        RunningWorker {
            stopper: worker.stopper(),
            task: tokio::spawn(worker.serve()),
        }
    }

    /// Collects until `count` jobs of the group have ended, by input.
    pub async fn collect(&self, count: usize) -> BTreeMap<String, Outcome> {
        let mut taken = HashSet::new();
        let mut notices = self.queue.listen(&self.group).await.unwrap();
        let mut all = BTreeMap::new();
        let collect = async {
            loop {
                for job in self.queue.collect(&self.group, &mut taken).await.unwrap() {
                    let Collected { input, outcome, .. } = job;
                    let input = String::from_utf8(input).unwrap();
                    assert!(all.insert(input, outcome).is_none(), "collected twice");
                }
                if all.len() >= count {
                    return;
                }
                notices.wait().await;
            }
        };
        let ended = timeout(LIMIT, collect).await;
        let state = if ended.is_err() {
            format!("{:?} {}", self.queue.status().await, self.errors().await)
        } else {
            String::new()
        };
        assert!(
            ended.is_ok(),
            "{} of {count} jobs ended; {state}",
            all.len()
        );
        all
    }

    /// The errors that the engine keeps of its jobs.
    async fn errors(&self) -> String {
        let errors =
            "SELECT coalesce(string_agg(last_error, '; '), '') FROM graphile_worker._private_jobs";
        sqlx::query_scalar(errors)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    /// The number that a query gives.
    pub async fn number(&self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    pub async fn execute(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&self.pool)
            .await
            .unwrap();
    }

    /// Waits until a query gives a number.
    pub async fn reaches(&self, sql: &str, expected: i64) {
        let reached = async {
            while self.number(sql).await != expected {
                sleep(Duration::from_millis(5)).await;
            }
        };
        if timeout(LIMIT, reached).await.is_err() {
            let sessions = "SELECT string_agg(concat_ws(' ', application_name, state, query_start, query), E'\\n')
                FROM pg_stat_activity WHERE datname = current_database()";
            let sessions: String = sqlx::query_scalar(sessions)
                .fetch_one(&self.pool)
                .await
                .unwrap();
            let status = self.queue.status().await;
            panic!(
                "{sql} is not {expected}; {status:?} {}\n{sessions}",
                self.errors().await
            );
        }
    }
}

impl RunningWorker {
    /// Stops the worker and waits for its end.
    pub async fn stop(self) -> Served {
        self.stopper.stop();
        self.ended().await.unwrap()
    }

    pub async fn ended(self) -> Result<Served, QueueError> {
        within(self.task).await.unwrap()
    }
}

/// Waits until a condition holds.
pub async fn until(condition: impl AsyncFn() -> bool) {
    within(async {
        while !condition().await {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// The value of a future, which must come.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.unwrap()
}

/// The bytes of a result as text.
pub fn answer(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Done(answer) => std::str::from_utf8(&answer.bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

pub fn problem(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Aside { problem } => problem,
        other => panic!("{other:?}"),
    }
}

/// Says why a test does nothing.
#[expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]
pub fn skipped(what: &str) {
    eprintln!("SKIPPED: {what}");
}
