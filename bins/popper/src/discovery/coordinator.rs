//! The evaluation of a run's laws: by the threads of this process, or by workers through the queue of a server.

use std::future::pending;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use bin_support::{Failure, Session, escape};
use futures_util::{Stream, StreamExt as _};
use llm_client::SystemClock;
use popper_discovery::EvaluatorError;
use popper_discovery::evaluator::{Batch, Evaluated, Evaluator, LocalEvaluator};
use popper_discovery::queue::{EvaluationWork, QueueEvaluator, QueueEvaluatorOptions};
use tokio::task::JoinHandle;
use work_queue::{Queue, QueueError, QueueOptions, Served, Stopper, Work, Worker, WorkerOptions};

use crate::flags::FleetFlags;
use crate::location::{ServerLocation, StoreLocation};

/// The evaluator of a run.
pub enum RunEvaluator {
    Threads(LocalEvaluator),
    Queue(Box<QueueEvaluator>),
}

impl Evaluator for RunEvaluator {
    fn evaluate<'a>(
        &'a mut self,
        batch: Batch<'a>,
    ) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + 'a {
        match self {
            Self::Threads(evaluator) => evaluator.evaluate(batch).left_stream(),
            Self::Queue(evaluator) => evaluator.evaluate(batch).right_stream(),
        }
    }
}

impl RunEvaluator {
    /// Deletes the jobs of a run, after all its verdicts are stored. An error costs nothing: the next process deletes them.
    pub async fn finish(&self, run_id: i64, session: &Session) {
        if let Self::Queue(evaluator) = self
            && let Err(error) = evaluator.finish(run_id).await
        {
            session.report(&error);
        }
    }
}

/// The worker within the process of a run; `None` if only others decide.
pub struct OwnWorker(Option<(Stopper, JoinHandle<Result<Served, QueueError>>)>);

impl OwnWorker {
    /// Waits until the worker fails. It does not end by itself.
    pub async fn failed(&mut self) -> EvaluatorError {
        if let Some((_, task)) = &mut self.0 {
            let ended = task.await;
            self.0 = None;
            match ended {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return EvaluatorError::Other(error.into()),
                Err(error) => return EvaluatorError::Other(error.into()),
            }
        }
        pending().await
    }

    /// Gives its jobs back, and ends it.
    pub async fn stop(self) {
        if let Some((stopper, task)) = self.0 {
            // The second call stops the jobs at hand.
            stopper.stop();
            stopper.stop();
            let _ended = task.await;
        }
    }
}

/// Opens the evaluation of a run's laws.
pub async fn open(
    location: &StoreLocation,
    run_id: i64,
    flags: &FleetFlags,
    session: &Session,
) -> Result<(RunEvaluator, OwnWorker), Failure> {
    match location {
        StoreLocation::File(_) => {
            let threads = LocalEvaluator::with_threads(flags.own_threads());
            Ok((RunEvaluator::Threads(threads), OwnWorker(None)))
        }
        StoreLocation::Server(server) => {
            // The lock of the coordinator makes the name the only one.
            let name = format!("popper run {run_id}");
            let (evaluator, own) = open_queue(server, &name, flags, session).await?;
            Ok((RunEvaluator::Queue(Box::new(evaluator)), own))
        }
    }
}

/// Opens the queue of a server, with a worker of this process. The name is shown by the server, and no other worker has it.
pub async fn open_queue(
    server: &ServerLocation,
    name: &str,
    flags: &FleetFlags,
    session: &Session,
) -> Result<(QueueEvaluator, OwnWorker), QueueError> {
    let address = &server.address;
    let mut options = QueueOptions::new(name);
    options.timing = flags.timing.timing();
    Queue::migrate(address, &options).await?;
    let queue = Queue::open(address, &options).await?;
    let work = Arc::new(EvaluationWork::new(Arc::new(SystemClock::new())));
    let threads = flags.own_threads();
    warn_of_workers(&queue, &*work, threads, session).await?;

    let own = if threads == 0 {
        None
    } else {
        let mut own = WorkerOptions::new(name);
        own.host = bin_support::environment::host_name();
        own.threads = threads;
        own.timing = options.timing;
        // A thread takes one job at each look, and one process may look often: this costs the server half a percent of a core.
        own.poll = Duration::from_millis(20);
        let kind: Arc<dyn Work> = Arc::clone(&work) as Arc<dyn Work>;
        let worker = Worker::open(address, kind, own).await?;
        Some((worker.stopper(), tokio::spawn(worker.serve())))
    };
    let mut audited = QueueEvaluatorOptions::default();
    audited.own_threads = threads;
    audited.audit_percent = flags.audit.unwrap_or(audited.audit_percent);
    Ok((QueueEvaluator::new(queue, work, audited), OwnWorker(own)))
}

/// Warns of workers that compute something else, and where there are none.
async fn warn_of_workers(
    queue: &Queue,
    work: &dyn Work,
    own_threads: usize,
    session: &Session,
) -> Result<(), QueueError> {
    let mut workers = queue.workers().await?;
    workers.retain(|worker| worker.is_alive && worker.kind == work.kind());
    let (alike, others): (Vec<_>, Vec<_>) = workers
        .into_iter()
        .partition(|worker| worker.semantics == work.semantics());
    if alike.is_empty() && own_threads == 0 {
        session.warn("no worker is there: the laws wait for `popper worker`");
    }
    if let Some(first) = others.first() {
        let count = match others.len() {
            1 => "1 worker computes".to_owned(),
            some => format!("{some} workers compute"),
        };
        session.warn(&format!(
            "{count} {}, this run needs {}: they are not used",
            escape(&first.semantics),
            work.semantics(),
        ));
    }
    Ok(())
}

/// Ends the process if a job of its worker does not stop: only so another worker gets the job.
pub fn abort_if_stuck(error: &QueueError, session: &Session) {
    if matches!(error, QueueError::Stuck { .. }) {
        session.report(error);
        process::abort();
    }
}
