//! Parts of both benches: a database with a queue on a server that syncs each commit, and workers in separate processes.

mod kinds;
mod worker;

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool};
use test_support::postgres::{Database, Server};
use work_queue::{Address, Group, Queue, QueueOptions, Work};

pub use kinds::{Primes, Wait};
pub use worker::{WorkerProcess, runtime, serve};

/// The wait between two looks at the open jobs of a turn.
const LOOK: Duration = Duration::from_millis(20);

/// The time of some work in seconds, with its answer.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub async fn seconds<T>(work: impl Future<Output = T>) -> (f64, T) {
    let begin = Instant::now();
    let answer = work.await;
    (begin.elapsed().as_secs_f64(), answer)
}

/// The time for which the processor ran a process or a thread, in seconds; 0 where the system does not say.
pub fn processor(folder: &Path) -> f64 {
    let text = std::fs::read_to_string(folder.join("schedstat")).unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    nanos.unwrap_or(0.0) / 1e9
}

/// The value in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A database with a queue.
pub struct Scene {
    pub url: String,
    pub queue: Queue,
    /// Sessions of the bench, next to those of queue and workers.
    pub pool: PgPool,
    _database: Database,
}

/// The figures of jobs that were done.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// The seconds from the submit to the last result.
    pub wall: f64,
    /// The seconds that the jobs took by themselves.
    pub work: f64,
    /// The seconds of the server's processor for the workers' sessions.
    pub server: f64,
}

impl Scene {
    pub async fn new(server: &Server) -> Self {
        let database = server.database();
        let url = database.url().to_owned();
        let address = Address::parse(&url).unwrap();
        let options = QueueOptions::new("bench");
        Queue::migrate(&address, &options).await.unwrap();
        let queue = Queue::open(&address, &options).await.unwrap();
        let pool = PgPoolOptions::new()
            .max_connections(2)
            .connect_lazy_with(address.options("bench"));
        Self {
            url,
            queue,
            pool,
            _database: database,
        }
    }

    /// Runs statements without an answer.
    pub async fn execute(&self, sql: &str) {
        let statements = sqlx::raw_sql(AssertSqlSafe(sql));
        statements.execute(&self.pool).await.unwrap();
    }

    /// Starts workers in separate processes and waits until each is there.
    pub async fn workers(
        &self,
        count: usize,
        work: &dyn Work,
        threads: usize,
        poll: Duration,
    ) -> Vec<WorkerProcess> {
        let started =
            (0..count).map(|_| WorkerProcess::start(&self.url, work.kind(), threads, poll));
        let started: Vec<_> = started.collect();
        for worker in &started {
            let there = "SELECT count(*) FROM work_queue.workers WHERE name = $1";
            while sqlx::query_scalar::<_, i64>(there)
                .bind(worker.name())
                .fetch_one(&self.pool)
                .await
                .unwrap()
                == 0
            {
                tokio::time::sleep(LOOK).await;
            }
        }
        started
    }

    /// Lets the running workers do these jobs. The group is complete afterwards.
    pub async fn turn(&self, work: &dyn Work, id: &str, inputs: &[Vec<u8>]) -> Turn {
        let group = Group::of(work, id).unwrap();
        let before = self.server_seconds().await;
        self.queue.submit(&group, inputs).await.unwrap();
        let now = "SELECT extract(epoch FROM clock_timestamp())::float8";
        let begin: f64 = sqlx::query_scalar(now).fetch_one(&self.pool).await.unwrap();
        let open = "SELECT count(*) FROM work_queue.work WHERE group_id = $1 AND state = 0";
        while sqlx::query_scalar::<_, i64>(open)
            .bind(id)
            .fetch_one(&self.pool)
            .await
            .unwrap()
            > 0
        {
            tokio::time::sleep(LOOK).await;
        }
        let server = self.server_seconds().await - before;
        let ended =
            "SELECT count(*), extract(epoch FROM max(at))::float8, sum(meta::bigint)::float8
            FROM work_queue.results JOIN work_queue.work USING (key) WHERE group_id = $1";
        let (count, end, micros): (i64, f64, f64) = sqlx::query_as(ended)
            .bind(id)
            .fetch_one(&self.pool)
            .await
            .unwrap();
        assert_eq!(count, inputs.len() as i64, "a job has no result");
        self.queue.complete(&group).await.unwrap();
        Turn {
            wall: end - begin,
            work: micros / 1e6,
            server,
        }
    }

    /// The seconds of the server's processor that the sessions of running workers have taken.
    pub async fn server_seconds(&self) -> f64 {
        let sessions = "SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'bench worker %'";
        let ids: Vec<i32> = sqlx::query_scalar(sessions)
            .fetch_all(&self.pool)
            .await
            .unwrap();
        let folders = ids.iter().map(|id| format!("/proc/{id}"));
        folders.map(|folder| processor(Path::new(&folder))).sum()
    }
}
