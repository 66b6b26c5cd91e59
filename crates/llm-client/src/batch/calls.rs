//! Calls that wait for a batch: a program asks as always, and its calls are collected into batches.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::iter::once;
use std::mem::take;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use llm_types::Reply;
use tokio::sync::mpsc::{Receiver, channel};

use super::file::is_of_file;
use super::form::FormRules;
use super::key::Key;
use super::options::BatchOptions;
use super::progress::Progress;
use super::spool::{Spool, SpoolFailure};
use crate::client::queue::{QueuedCall, ReplySender};
use crate::{Error, ErrorKind};

/// The time without a further call after which those that wait are submitted, and the longest time for which one waits.
const QUIET: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_mins(1);
/// The number of requests or replies that are in memory at a stretch.
const AT_ONCE: usize = 1000;

/// The calls of a program that is written for single calls, as batches in a [`Spool`].
///
/// The calls that wait at the same time are one submission: when no other has come for 2 s, when the first has waited for 60 s
/// or when they fill a batch. A program whose calls depend on each other so needs a batch for each of its phases, and has to
/// make the calls of a phase at the same time. A call that an earlier process made is answered out of the file.
///
/// Equal calls have one result, whenever they come; those that need several have a different
/// [`Request::replay_key`](crate::Request::replay_key) each.
///
/// ```no_run
/// use std::future::pending;
/// use std::sync::Arc;
///
/// use llm_client::batch::{BatchCalls, BatchOptions};
/// use llm_client::{Client, Echo, Request, SystemClock};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("spool.jsonl");
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let client = Client::builder(Arc::new(Echo::new(7)), Arc::new(SystemClock::new())).build()?;
/// let calls = BatchCalls::open(&path, BatchOptions::new(client.clone()))?;
/// let work = async {
///     let requests = [Request::new("m", "One?"), Request::new("m", "Two?")];
///     let [one, two] = requests.each_ref().map(|request| client.complete(request));
///     tokio::join!(one, two)
/// };
/// // It ends with Ctrl-C in place of `pending`.
/// let (one, two) = calls.run(work, pending(), |progress| println!("{progress}")).await;
/// println!("{} {}", one?.text(), two?.text());
/// # Ok(())
/// # })
/// # }
/// ```
pub struct BatchCalls {
    spool: Spool,
    queue: Receiver<QueuedCall>,
    /// The calls without a result.
    waiting: HashMap<Key, Vec<ReplySender>>,
    /// The requests of these that are not submitted yet, the time at which they are, and the latest such time.
    new: Vec<Key>,
    due: Duration,
    latest: Duration,
}

/// A step that no call which comes meanwhile interrupts.
enum Step {
    Plan(Box<QueuedCall>),
    Submit,
    Poll,
}

impl BatchCalls {
    /// Opens the spool at `path`, or makes one. From now on [`Client::complete`](crate::Client::complete) of the client and of
    /// its clones goes through it. Streams, counts and models without batches are calls as before.
    ///
    /// # Errors
    /// As of [`Spool::open`], or the client has a spool.
    pub fn open(path: &Path, options: BatchOptions) -> Result<Self, Error> {
        let (sender, queue) = channel(AT_ONCE);
        let client = options.client.clone();
        let spool = Spool::open(path, options)?;
        if client.inner.queue.set(sender).is_err() {
            let why = "the calls of this client go through another spool; make another client";
            return Err(Error::refused("batch", why));
        }
        Ok(Self {
            spool,
            queue,
            waiting: HashMap::new(),
            new: Vec::new(),
            due: Duration::ZERO,
            latest: Duration::ZERO,
        })
    }

    /// Answers the calls of `work` until it ends. `report` gets the progress whenever the server was asked, and at a stop.
    ///
    /// Once `stop` is over, nothing more is submitted, and every call in a batch ends as
    /// [`Cancelled`](crate::ErrorKind::Cancelled). Batches under way stay at the server, where the next process finds them.
    ///
    /// A failed submission ends its calls, an error about a batch those in it, and all others continue. If it is an error of
    /// the spool's file, they end as [`Cancelled`](crate::ErrorKind::Cancelled), too, with it as the source and as one of
    /// [`Progress::problems`].
    pub async fn run<T>(
        self,
        work: impl Future<Output = T>,
        stop: impl Future<Output = ()>,
        report: impl FnMut(&Progress),
    ) -> T {
        tokio::select! {
            biased;
            done = work => done,
            never = self.answer(stop, report) => match never {},
        }
    }

    async fn answer(
        mut self,
        stop: impl Future<Output = ()>,
        mut report: impl FnMut(&Progress),
    ) -> Infallible {
        let clock = self.spool.options.client.inner.clock.clone();
        let mut stop = pin!(stop);
        loop {
            let (gathers, asks) = (!self.new.is_empty(), !self.spool.asked.is_empty());
            let step = tokio::select! {
                biased;
                () = &mut stop => break,
                () = clock.sleep(self.due.saturating_sub(clock.elapsed())), if gathers => Step::Submit,
                () = self.spool.wait_until_due(), if asks => Step::Poll,
                Some(call) = self.queue.recv() => Step::Plan(Box::new(call)),
            };
            // A batch whose submission this drops is looked for by the next process.
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = self.take(step, &mut report) => {}
            }
        }
        report(&self.spool.progress());
        // Without their senders all calls end, those of later too.
        drop(self);
        pending().await
    }

    async fn take(&mut self, step: Step, report: &mut impl FnMut(&Progress)) {
        let failures = match step {
            Step::Plan(call) => match self.plan(*call).await {
                Ok(()) => return,
                Err(error) => {
                    let keys = take(&mut self.new);
                    vec![SpoolFailure { keys, error }]
                }
            },
            Step::Submit => self.spool.submit_planned(&take(&mut self.new)).await,
            Step::Poll => self.spool.poll_now().await,
        };
        self.hand_out(failures, report).await;
    }

    /// Keeps a new call for the next submission. An error is of the file, which lost the calls before, too.
    async fn plan(&mut self, call: QueuedCall) -> Result<(), Error> {
        let QueuedCall {
            request,
            root,
            reply,
        } = call;
        // Equal calls are one request.
        let key = match self.spool.check(&request, &root, 0).await {
            Ok(key) => key,
            Err(error) => {
                let _ = reply.send(Err(error));
                return Ok(());
            }
        };
        let senders = self.waiting.entry(key.clone()).or_default();
        senders.push(reply);
        if senders.len() > 1 {
            return Ok(());
        }
        let options = &self.spool.options;
        let now = options.client.inner.clock.elapsed();
        if self.new.is_empty() {
            self.latest = now.saturating_add(LONGEST);
        }
        self.due = now.saturating_add(QUIET).min(self.latest);
        let rules = FormRules::of(options.client.batch_form(&request.model));
        let most = rules.map_or(usize::MAX, |rules| rules.requests);
        self.new.push(key.clone());
        if self.new.len() >= most.min(options.max_requests) {
            self.due = now;
        }
        self.spool.plan(&key, &request).await
    }

    /// Gives the results that are in to their calls, and failures to those that they are about.
    async fn hand_out(
        &mut self,
        mut failures: Vec<SpoolFailure>,
        report: &mut impl FnMut(&Progress),
    ) {
        let mut answered = self.spool.answered().into_iter().enumerate();
        while let Some((number, key)) = answered.next() {
            if number % AT_ONCE == AT_ONCE - 1 {
                // The calls take their replies.
                tokio::task::yield_now().await;
            }
            match self.spool.result(&key) {
                Ok(result) => self.end([key], &result),
                Err(error) => {
                    let keys = once(key).chain(answered.map(|(_, key)| key)).collect();
                    failures.push(SpoolFailure { keys, error });
                    break;
                }
            }
        }
        for failure in failures {
            self.fail(failure);
        }
        // A request whose call has ended is not submitted again.
        let waiting = &self.waiting;
        self.spool.asked.retain(|key| waiting.contains_key(key));
        let is_done =
            self.spool.file.state.open().next().is_none() && self.spool.waiting().next().is_none();
        if is_done && !self.spool.asked.is_empty() {
            let keys = take(&mut self.spool.asked).into_iter().collect();
            let why = "no batch has the requests that wait; remove the file to submit them again";
            let error = self.spool.file.error(why);
            self.fail(SpoolFailure { keys, error });
        }
        report(&self.spool.progress());
    }

    /// Ends calls with an error. After one of the file another process continues.
    fn fail(&mut self, failure: SpoolFailure) {
        let SpoolFailure { keys, mut error } = failure;
        if is_of_file(&error) {
            self.spool.problems.push(error.message());
            error = Error::from(ErrorKind::Cancelled).with_source(error);
        }
        self.end(keys, &Err(error));
    }

    /// Gives a result to the calls of these requests, of which some may have been dropped.
    fn end(&mut self, keys: impl IntoIterator<Item = Key>, result: &Result<Reply, Error>) {
        let waiting = &mut self.waiting;
        let senders = keys.into_iter().filter_map(|key| waiting.remove(&key));
        for sender in senders.flatten() {
            let result = match result {
                Ok(reply) => Ok(reply.clone()),
                Err(error) => Err(error.repeated()),
            };
            let _ = sender.send(result);
        }
    }
}
