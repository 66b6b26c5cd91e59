//! The service of a worker: one engine after another, until it is asked to end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{interval, sleep, timeout};

use super::delivery::{Deliveries, Event};
use super::options::{MANY_THREADS, Phase, SLOW_POLL, ServeEnd, Served, Stopper, WorkerOptions};
use super::statements;
use super::watchdog::Watchdog;
use crate::QueueError;
use crate::connection::Connection;
use crate::engine::{self, EngineFailure, EngineRun, EngineSettings};
use crate::job::Work;

/// The time of work after which waits are short again.
const RESTORED: Duration = Duration::from_secs(5);

/// The wait between two looks for open jobs of a worker that ends without them.
const DRAIN: Duration = Duration::from_secs(1);

/// The reason why the engine is left.
enum Leave {
    /// The worker is asked to end, and its jobs have ended or are given back.
    Asked,
    /// The engine failed.
    Failed(EngineFailure),
}

/// A worker that serves.
pub(super) struct Service {
    kind: String,
    semantics: String,
    deliveries: Arc<Deliveries>,
    options: WorkerOptions,
    stopper: Stopper,
    /// Whether the engine claims nothing more.
    close: watch::Sender<bool>,
    events: mpsc::UnboundedReceiver<Event>,
    reason: ServeEnd,
    /// The error to end with, after the jobs at hand.
    refusal: Option<QueueError>,
}

impl Service {
    pub(super) fn new(
        work: Arc<dyn Work>,
        connection: Connection,
        options: WorkerOptions,
        stopper: Stopper,
    ) -> Self {
        let (events, receiver) = mpsc::unbounded_channel();
        Self {
            kind: work.kind().to_owned(),
            semantics: work.semantics().to_owned(),
            deliveries: Arc::new(Deliveries::new(work, connection, options.clone(), events)),
            options,
            stopper,
            close: watch::Sender::new(false),
            events: receiver,
            reason: ServeEnd::Stopped,
            refusal: None,
        }
    }

    pub(super) async fn serve(mut self) -> Result<Served, QueueError> {
        let ended = self.run().await;
        if !matches!(ended, Err(QueueError::Stuck { .. })) {
            statements::unregister(self.connection(), &self.options.name).await;
        }
        ended.map(|()| Served::new(self.deliveries.finished(), self.reason))
    }

    fn connection(&self) -> &Connection {
        &self.deliveries.connection
    }

    /// Runs one engine after another.
    async fn run(&mut self) -> Result<(), QueueError> {
        let mut backoff = self.connection().backoff();
        let patience = self.options.timing.patience;
        let mut limit = Box::pin(sleep(patience));
        loop {
            let stopper = self.stopper.clone();
            let started = tokio::select! {
                biased;
                () = stopper.reached(Phase::Finishing) => None,
                started = self.start() => Some(started?),
            };
            let left = match started {
                // Only results are still to be stored.
                None => return self.finish_without_engine().await,
                Some(Err(failure)) => Leave::Failed(failure),
                Some(Ok(mut engine)) => {
                    let mut watch = std::pin::pin!(self.watch(&mut engine));
                    let left = tokio::select! {
                        left = &mut watch => left?,
                        () = sleep(RESTORED) => {
                            backoff.reset();
                            watch.await?
                        }
                    };
                    // The server could be reached until now.
                    limit.set(sleep(patience));
                    left
                }
            };
            let failure = match left {
                Leave::Asked => return self.refusal.take().map_or(Ok(()), Err),
                Leave::Failed(failure) => failure,
            };
            if !failure.is_lost {
                return Err(self.connection().error(failure));
            }
            tracing::warn!("{}: {failure}; trying again", self.connection().address);
            tokio::select! {
                biased;
                () = stopper.reached(Phase::Finishing) => {}
                () = &mut limit => return Err(self.connection().lost(failure)),
                () = backoff.wait() => {}
            }
        }
    }

    /// Starts an engine with a new name, under which this worker is listed.
    async fn start(&self) -> Result<Result<EngineRun, EngineFailure>, QueueError> {
        engine::check(self.connection()).await?;
        let threads = statements::threads(self.connection()).await?;
        let poll = if threads < MANY_THREADS {
            self.options.poll
        } else {
            self.options.poll.max(SLOW_POLL)
        };
        let settings = EngineSettings {
            address: self.connection().address.clone(),
            application: self.options.application.clone(),
            flag: self.deliveries.flag(),
            threads: self.options.threads.max(1),
            lease: self.options.timing.lease,
            grace: self.options.grace,
            poll,
        };
        let handler = Arc::clone(&self.deliveries);
        let start = EngineRun::start(settings, handler, self.close.subscribe());
        let mut engine = match timeout(self.options.timing.stall, start).await {
            Ok(Ok(engine)) => engine,
            Ok(Err(failure)) => return Ok(Err(failure)),
            Err(_) => return Ok(Err(EngineFailure::lost("the server does not answer"))),
        };
        let group = (self.kind.as_str(), self.semantics.as_str());
        statements::register(self.connection(), &self.options, group, engine.id()).await?;
        // Not before: a stop may drop the engine until now, and nobody would give its jobs back.
        engine.begin();
        Ok(Ok(engine))
    }

    /// Lets the engine work until it fails or is asked to end.
    async fn watch(&mut self, engine: &mut EngineRun) -> Result<Leave, QueueError> {
        let deliveries = Arc::clone(&self.deliveries);
        let id = engine.id().to_owned();
        // The checks ask the server, which may not answer: a stop does not wait for them.
        let mut lost = std::pin::pin!(lost(&id, &self.options, &deliveries));
        let mut drained = std::pin::pin!(drained(&deliveries, &self.kind, &self.semantics));
        let mut grace = std::pin::pin!(sleep(self.options.grace));
        let (mut is_drained, mut is_stopping, mut is_over) = (!self.options.drain, false, false);
        let stopper = self.stopper.clone();
        loop {
            tokio::select! {
                biased;
                ended = engine.ended() => {
                    return Ok(ended.map_or_else(Leave::Failed, |()| Leave::Asked));
                }
                Some(event) = self.events.recv() => match event {
                    Event::Stuck(key) => return Err(QueueError::Stuck { key }),
                    Event::Refused { expected, found } => {
                        self.refusal = Some(QueueError::Refused { expected, found });
                        self.close.send_replace(true);
                    }
                },
                () = stopper.reached(Phase::Abandoning) => {
                    deliveries.give_back().await;
                    return Ok(Leave::Asked);
                }
                () = stopper.reached(Phase::Finishing), if !is_stopping => {
                    is_stopping = true;
                    self.close.send_replace(true);
                    grace.set(sleep(self.options.grace));
                }
                // The engine returns the jobs soon after.
                () = &mut grace, if is_stopping && !is_over => {
                    is_over = true;
                    deliveries.give_back().await;
                }
                () = &mut drained, if !is_drained => {
                    is_drained = true;
                    self.reason = ServeEnd::Drained;
                    self.close.send_replace(true);
                }
                () = &mut lost => {
                    return Ok(Leave::Failed(EngineFailure::lost("a claim got no answer")));
                }
            }
        }
    }

    /// Waits for the jobs at hand after a stop while the server cannot be reached.
    async fn finish_without_engine(&mut self) -> Result<(), QueueError> {
        let ended = async {
            // What is given back already does not end.
            while !self.deliveries.is_over() && !self.deliveries.keys().is_empty() {
                sleep(Duration::from_millis(50)).await;
            }
        };
        let ended = async {
            tokio::select! {
                () = ended => {}
                () = self.stopper.reached(Phase::Abandoning) => {}
            }
        };
        if timeout(self.options.grace, ended).await.is_err() || !self.deliveries.keys().is_empty() {
            // Without a server the rest stays counted, and is given out again after its lease.
            self.deliveries.give_back().await;
        }
        self.refusal.take().map_or(Ok(()), Err)
    }
}

/// Waits until the watchdog suspects that the engine has lost a claim.
async fn lost(engine_id: &str, options: &WorkerOptions, deliveries: &Deliveries) {
    let mut watchdog = Watchdog::new(engine_id, options.threads);
    let mut turns = interval(options.timing.lease / 2);
    loop {
        turns.tick().await;
        if watchdog.suspects(deliveries).await {
            return;
        }
    }
}

/// Waits until no job of a kind and its semantics is open or at hand.
async fn drained(deliveries: &Deliveries, kind: &str, semantics: &str) {
    let mut turns = interval(DRAIN);
    loop {
        turns.tick().await;
        let open = statements::open_jobs(&deliveries.connection, kind, semantics).await;
        if open.is_ok_and(|open| open.own == 0) && deliveries.keys().is_empty() {
            return;
        }
    }
}
