use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::connection::Timing;

/// The number of threads of all workers from which each asks less often.
pub(super) const MANY_THREADS: i64 = 200;

/// The wait between two claims of a thread when there are many.
pub(super) const SLOW_POLL: Duration = Duration::from_millis(250);

/// The settings of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerOptions {
    /// The name, which no other running worker of the database has.
    pub name: String,
    /// The name of the machine, for reports.
    pub host: String,
    /// The name that the server shows for the sessions.
    pub application: String,
    /// The number of jobs at once.
    pub threads: usize,
    /// The times that all processes share.
    pub timing: Timing,
    /// The time after which a job must stop, 1 s to 24 h.
    pub job_limit: Duration,
    /// The time that a job has to stop after its limit. Then the process must end.
    pub stop_limit: Duration,
    /// The time after a stop in which jobs may end by themselves.
    pub grace: Duration,
    /// Whether to end when no job of this kind and semantics is open.
    pub drain: bool,
    /// The wait between two claims of a thread. It is longer while the database has 200 threads or more.
    pub poll: Duration,
}

impl WorkerOptions {
    /// The default settings of a worker with a name.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            host: String::new(),
            application: name.to_owned(),
            threads: 1,
            timing: Timing::default(),
            job_limit: Duration::from_mins(10),
            stop_limit: Duration::from_secs(10),
            grace: Duration::from_secs(30),
            drain: false,
            poll: Duration::from_millis(100),
        }
    }
}

/// The progress of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Jobs are claimed.
    Serving,
    /// The jobs at hand may end.
    Finishing,
    /// The jobs at hand are given back.
    Abandoning,
}

/// A switch that stops a worker, for a signal handler.
#[derive(Clone)]
pub struct Stopper(Arc<watch::Sender<Phase>>);

impl Stopper {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Phase::Serving)))
    }

    /// Stops the worker. At the first call it claims nothing more and ends what it has; at the second it gives its jobs back
    /// and ends at once.
    pub fn stop(&self) {
        self.0.send_modify(|phase| {
            *phase = match phase {
                Phase::Serving => Phase::Finishing,
                Phase::Finishing | Phase::Abandoning => Phase::Abandoning,
            }
        });
    }

    /// Waits until the stop is at least at `phase`.
    pub(super) async fn reached(&self, phase: Phase) {
        // The sender lives as long as this.
        let mut now = self.0.subscribe();
        let _reached = now.wait_for(|now| *now >= phase).await;
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopper")
    }
}

/// The report of a worker that ended as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Served {
    /// The number of jobs whose result was stored, late ones included.
    pub finished: u64,
    /// The reason of the end.
    pub reason: ServeEnd,
}

impl Served {
    pub(super) fn new(finished: u64, reason: ServeEnd) -> Self {
        Self { finished, reason }
    }
}

/// The reason why a worker ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a worker ends when it is stopped, or when nothing is left"
)]
pub enum ServeEnd {
    /// [`Stopper::stop`] was called.
    Stopped,
    /// No job was open, and the options say to end then.
    Drained,
}

/// The open jobs of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenJobs {
    /// The number of open jobs with the semantics of the worker.
    pub own: u64,
    /// The other semantics that open jobs have.
    pub others: Vec<String>,
}

impl OpenJobs {
    pub(super) fn new(own: u64, others: Vec<String>) -> Self {
        Self { own, others }
    }
}
