//! A delivery: from the key of a job to its result, to its pieces, or to its problem.

use std::collections::HashMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{RwLock, mpsc, watch};
use tokio::time::timeout;

use crate::QueueError;
use crate::connection::Connection;
use crate::engine::{Handler, HandlerFuture};
use crate::job::{Group, MOST_BYTES, Output, Work, WorkError, flag};
use crate::result;
use crate::thread::{self, CallEnd};

use super::options::WorkerOptions;
use super::statements::{self, Delivery};

/// The deliveries without a result after which a job is split.
const MOST_WHOLE: i32 = 3;

/// The deliveries without a result after which a job that cannot be split is quarantined.
const MOST: i32 = 5;

/// The limit for giving jobs back, as the process is to end.
const TAKE_BACK: Duration = Duration::from_secs(5);

/// The problem of a job that ended its worker each time.
pub(crate) const DEADLY: &str = "its evaluation ended the worker 5 times";

/// The problem of a job that panicked each time.
pub(crate) const PANICKED: &str = "its evaluation panicked twice";

/// An event that ends a worker.
#[derive(Debug)]
pub(super) enum Event {
    /// A job did not stop.
    Stuck(String),
    /// A job is for another program.
    Refused { expected: String, found: String },
}

/// The end of a delivery; an error tells the engine to give the job out again, later.
type DeliveryEnd = Result<(), String>;

/// A job at hand.
struct HeldJob {
    stop: Arc<AtomicBool>,
    end: watch::Receiver<Option<DeliveryEnd>>,
    /// Whether its delivery is counted.
    is_counted: bool,
}

/// The jobs at hand. They continue when the engine loses its connection.
pub(super) struct Deliveries {
    work: Arc<dyn Work>,
    pub(super) connection: Connection,
    options: WorkerOptions,
    runtime: Handle,
    held: Mutex<HashMap<String, HeldJob>>,
    events: mpsc::UnboundedSender<Event>,
    /// Whether the jobs at hand were given back.
    is_over: AtomicBool,
    /// Read while a delivery is counted: what is given back has been counted before, not after.
    counting: RwLock<()>,
    claimed: AtomicU64,
    finished: AtomicU64,
}

impl Handler for Deliveries {
    fn deliver(self: Arc<Self>, key: String) -> HandlerFuture {
        self.claimed.fetch_add(1, Ordering::Relaxed);
        let mut end = self.begin(key);
        Box::pin(async move {
            let ended = end.wait_for(Option::is_some).await;
            let ended = ended.map(|end| end.clone());
            ended
                .ok()
                .flatten()
                .unwrap_or_else(|| Err("the delivery was interrupted".to_owned()))
        })
    }
}

impl Deliveries {
    pub(super) fn new(
        work: Arc<dyn Work>,
        connection: Connection,
        options: WorkerOptions,
        events: mpsc::UnboundedSender<Event>,
    ) -> Self {
        Self {
            work,
            connection,
            options,
            runtime: Handle::current(),
            held: Mutex::default(),
            events,
            is_over: AtomicBool::new(false),
            counting: RwLock::default(),
            claimed: AtomicU64::new(0),
            finished: AtomicU64::new(0),
        }
    }

    /// The number of jobs that the engine has handed over.
    pub(super) fn claimed(&self) -> u64 {
        self.claimed.load(Ordering::Relaxed)
    }

    /// The number of results that were stored.
    pub(super) fn finished(&self) -> u64 {
        self.finished.load(Ordering::Relaxed)
    }

    /// The mark of the jobs that the engine hands over.
    pub(super) fn flag(&self) -> String {
        flag(self.work.kind(), self.work.semantics())
    }

    /// Whether the jobs at hand were given back.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The keys of the jobs at hand.
    pub(super) fn keys(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Gives the jobs at hand back, once: their deliveries do not count, and they are asked to stop.
    pub(super) async fn give_back(&self) {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return;
        }
        let taken = async {
            // After this no delivery is counted any more.
            drop(self.counting.write().await);
            self.take_back(&self.keys()).await
        };
        if !matches!(timeout(TAKE_BACK, taken).await, Ok(Ok(()))) {
            tracing::warn!("the server was not reached: the deliveries at hand stay counted");
        }
        for job in self.lock().values() {
            job.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Takes the counts of the deliveries of these jobs back, each once.
    async fn take_back(&self, keys: &[String]) -> Result<(), QueueError> {
        let counted: Vec<String> = keys
            .iter()
            .filter(|key| self.uncount(key))
            .cloned()
            .collect();
        statements::take_back(&self.connection, &counted).await
    }

    /// Whether the delivery of a job at hand was counted until now.
    fn uncount(&self, key: &str) -> bool {
        let mut held = self.lock();
        held.get_mut(key)
            .is_some_and(|job| std::mem::take(&mut job.is_counted))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, HeldJob>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to work on a job in a task that the engine does not end, or finds the one that does already.
    fn begin(self: Arc<Self>, key: String) -> watch::Receiver<Option<DeliveryEnd>> {
        let this = Arc::clone(&self);
        let mut held = self.lock();
        if let Some(job) = held.get(&key) {
            return job.end.clone();
        }
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, end) = watch::channel(None);
        let job = HeldJob {
            stop: Arc::clone(&stop),
            end: end.clone(),
            is_counted: false,
        };
        held.insert(key.clone(), job);
        drop(held);
        self.runtime.spawn(async move {
            let ended = this.attend(&key, &stop).await.unwrap_or_else(|error| {
                let error = error.with_causes();
                tracing::warn!("job {key}: {error}");
                Err(error)
            });
            this.lock().remove(&key);
            sender.send_replace(Some(ended));
        });
        end
    }

    /// Delivers a job until it has an end.
    async fn attend(&self, key: &str, stop: &Arc<AtomicBool>) -> Result<DeliveryEnd, QueueError> {
        loop {
            let Some(delivery) = self.count(key).await? else {
                return Ok(Ok(()));
            };
            match self.end(key, delivery, stop).await {
                Ok(Some(ended)) => return Ok(ended),
                // The worker stops, or the limit of the job was reached: then this was a delivery without a result.
                Ok(None) => stop.store(false, Ordering::Relaxed),
                Err(error) => {
                    // The database failed, not the job. The end of a worker gives all deliveries back by itself.
                    if !self.is_over.load(Ordering::Relaxed) {
                        let keys = [key.to_owned()];
                        let taken = self.take_back(&keys);
                        let _tried = timeout(TAKE_BACK, taken).await;
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Counts a delivery; `None` for a job that has an end.
    async fn count(&self, key: &str) -> Result<Option<Delivery>, QueueError> {
        let counting = self.counting.read().await;
        if self.is_over.load(Ordering::Relaxed) {
            drop(counting);
            // The engine gives the job to others.
            return pending().await;
        }
        let delivery = statements::deliver(&self.connection, key).await?;
        if let Some(job) = self.lock().get_mut(key) {
            job.is_counted = delivery.is_some();
        }
        Ok(delivery)
    }

    /// Brings a delivery to its end; `None` if the job was stopped.
    async fn end(
        &self,
        key: &str,
        delivery: Delivery,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<DeliveryEnd>, QueueError> {
        let connection = &self.connection;
        let Delivery {
            number,
            group_id,
            input,
        } = delivery;
        let input = Arc::new(input);
        if number > MOST_WHOLE && self.split(key, &group_id, &input).await? {
            return Ok(Some(Ok(())));
        }
        if number > MOST {
            statements::quarantine(connection, key, DEADLY).await?;
            return Ok(Some(Ok(())));
        }
        // A second try after a panic belongs to the same delivery.
        let mut has_panicked = false;
        let ended = loop {
            match self.run(key, &input, stop).await? {
                CallEnd::Returned(ended) => break ended,
                CallEnd::Panicked if self.split(key, &group_id, &input).await? => {
                    return Ok(Some(Ok(())));
                }
                CallEnd::Panicked if has_panicked => {
                    break Err(WorkError::Input(PANICKED.to_owned()));
                }
                CallEnd::Panicked => has_panicked = true,
            }
        };
        match ended {
            Ok(output) => self.finish(key, number, &output).await?,
            Err(WorkError::Input(problem)) => {
                statements::quarantine(connection, key, &problem).await?;
            }
            Err(WorkError::Refused { expected, found }) => {
                self.take_back(&[key.to_owned()]).await?;
                let _unheard = self.events.send(Event::Refused { expected, found });
                return Ok(Some(Err("the job is for another program".to_owned())));
            }
            Err(WorkError::Stopped) => return Ok(None),
        }
        Ok(Some(Ok(())))
    }

    /// Runs a job within its limit.
    async fn run(
        &self,
        key: &str,
        input: &Arc<Vec<u8>>,
        stop: &Arc<AtomicBool>,
    ) -> Result<CallEnd<Result<Output, WorkError>>, QueueError> {
        let mut ran = std::pin::pin!(thread::run(&self.work, input, stop));
        if let Ok(ended) = timeout(self.options.job_limit, &mut ran).await {
            return ended.map_err(|error| self.connection.error(error));
        }
        stop.store(true, Ordering::Relaxed);
        if let Ok(ended) = timeout(self.options.stop_limit, ran).await {
            return ended.map_err(|error| self.connection.error(error));
        }
        let _unheard = self.events.send(Event::Stuck(key.to_owned()));
        pending().await
    }

    async fn finish(&self, key: &str, number: i32, output: &Output) -> Result<(), QueueError> {
        let bytes = output.bytes.len();
        if bytes > MOST_BYTES {
            let problem = format!("its output has {bytes} bytes, at most {MOST_BYTES} are taken");
            return statements::quarantine(&self.connection, key, &problem).await;
        }
        let stored =
            result::finish(&self.connection, &self.options.name, key, number, output).await?;
        tracing::debug!("job {key}: {stored:?}");
        self.finished.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Replaces a job by its pieces, if it has any.
    async fn split(
        &self,
        key: &str,
        group_id: &str,
        input: &Arc<Vec<u8>>,
    ) -> Result<bool, QueueError> {
        let pieces = thread::split(&self.work, input)
            .await
            .map_err(|error| self.connection.error(error))?;
        let is_shard = pieces.len() > 1;
        if is_shard {
            let group = Group::of(&*self.work, group_id)?;
            statements::split(&self.connection, &group, key, &pieces).await?;
        }
        Ok(is_shard)
    }
}
