use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use jiff::Timestamp;
use llm_types::{Reply, Request, Target};

use super::file::SpoolFile;
use super::key::Key;
use super::line::SpoolEntry;
use super::options::BatchOptions;
use super::progress::Progress;
use super::state::KeyState;
use crate::Error;
use crate::dialect::BatchForm;
use crate::layers::timer::timestamp;

/// The shortest and the longest wait before a server is asked again.
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_mins(5);

/// The result of a request.
type KeyedResult = (Key, Result<Reply, Error>);

/// An error, and the requests that it is about.
pub(super) struct SpoolFailure {
    pub keys: Vec<Key>,
    pub error: Error,
}

/// The first error.
fn first_of(failures: Vec<SpoolFailure>) -> Result<(), Error> {
    let first = failures.into_iter().next();
    first.map_or(Ok(()), |failure| Err(failure.error))
}

/// A finding about a batch that may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Doubt {
    /// A batch is not in the server's list.
    Absent,
    /// A batch is not over.
    Open,
    /// The results of a batch that is over are not complete.
    Short,
    /// The server answered the submission with a failure, after which it has no batch in general.
    Failed,
}

/// Requests and their results, in a file. One process works with a file at a time.
///
/// Every future may be dropped; the next call continues. Plain calls, where a provider has no batches, end with it: those under
/// way are paid for, and are made again.
pub struct Spool {
    pub(super) options: BatchOptions,
    pub(super) file: SpoolFile,
    /// The requests of this process that were not collected.
    pub(super) asked: IndexSet<Key>,
    /// Whether nothing more is submitted.
    pub(super) is_cancelled: bool,
    /// The wait before the next look at the server, and its time.
    wait: Duration,
    due: Option<Duration>,
    pub(super) problems: Vec<String>,
    /// The time at which this process first found what it doubts.
    since: HashMap<(Doubt, String), Duration>,
    /// Batches at the server that are over, with the first of the spool's requests in their results: `None` in another
    /// program's.
    pub(super) owners: HashMap<String, Option<Key>>,
    /// The maximum number of requests in the next batch: less after one was refused as a whole, or did not get through.
    pub(super) limit: usize,
    /// The requests that were refused alone, each with the place of its batch and the error.
    pub(super) refused: IndexMap<Key, (usize, Error)>,
    /// The file at the server with the requests of the last batch, which the server did not take yet.
    pub(super) uploaded: Option<(Vec<Key>, String)>,
}

impl Spool {
    /// Opens the spool at `path`, or makes one.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) names the file: it cannot be read or written, it is not a spool, a
    /// line is damaged, or another process works with it; then the source is `durable::LockError::Held`.
    pub fn open(path: &Path, options: BatchOptions) -> Result<Self, Error> {
        let inner = &options.client.inner;
        let file = SpoolFile::open(&options.disk, path, &inner.clock)?;
        // A process that was killed just before it wrote the submission down left a reservation for nothing.
        inner.ledger.settle_batch(&file.state.next_batch(), None);
        for (name, row) in &file.state.batches {
            if row.is_closed {
                // The line of the ledger may have been lost with the power.
                inner.ledger.settle_batch(name, row.charge);
            } else {
                // An account without a file does not know the batches of earlier processes.
                let calls = row.keys.len() as u64;
                inner.ledger.hold_batch(name, calls, row.most)?;
            }
        }
        Ok(Self {
            limit: options.max_requests.max(1),
            options,
            file,
            asked: IndexSet::new(),
            is_cancelled: false,
            wait: SHORTEST,
            due: None,
            problems: Vec::new(),
            since: HashMap::new(),
            owners: HashMap::new(),
            refused: IndexMap::new(),
            uploaded: None,
        })
    }

    /// Keeps requests in the spool, submits those that are new, and returns the key of each.
    ///
    /// # Errors
    /// No request is kept if one of them is [`Refused`](crate::ErrorKind::Refused), as by [`crate::Client::complete`] or for a model
    /// without a factor of batches. If the submission fails, the requests are kept, and the same requests have the same keys
    /// again; an error that may pass is one of [`Progress::problems`], as is a cap that batches under way use up: the requests
    /// within it are submitted.
    pub async fn submit(&mut self, requests: &[Request]) -> Result<Vec<Key>, Error> {
        let mut equal: HashMap<String, u64> = HashMap::new();
        let mut keys = Vec::with_capacity(requests.len());
        for request in requests {
            let (_, root) = self.options.client.batch_root(request)?;
            let number = equal.entry(root.clone()).or_default();
            keys.push(self.check(request, &root, *number).await?);
            *number += 1;
        }
        for (key, request) in keys.iter().zip(requests) {
            self.plan(key, request).await?;
        }
        first_of(self.submit_planned(&keys).await)?;
        Ok(keys)
    }

    /// The key of a request, which was planned or can be sent. `root` is its hash, and `number` counts equal requests.
    pub(super) async fn check(
        &self,
        request: &Request,
        root: &str,
        number: u64,
    ) -> Result<Key, Error> {
        let client = &self.options.client;
        let key = Key::new(&self.file.state.id, root, number);
        let is_planned = self.file.state.keys.contains_key(&key);
        if !is_planned && client.batch_form(&request.model) != BatchForm::None {
            client.batch_item(request).await?;
        }
        Ok(key)
    }

    /// Keeps a request from the next write on, unless the file has it.
    pub(super) async fn plan(&mut self, key: &Key, request: &Request) -> Result<(), Error> {
        if self.file.state.keys.contains_key(key) {
            return Ok(());
        }
        let key = key.clone();
        let planned = SpoolEntry::<&Request, Reply>::Planned { key, request };
        if self.file.add(&planned)? {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Submits the planned requests that have neither a batch nor a result.
    pub(super) async fn submit_planned(&mut self, keys: &[Key]) -> Vec<SpoolFailure> {
        if let Err(error) = self.file.flush() {
            let keys = keys.to_vec();
            return vec![SpoolFailure { keys, error }];
        }
        self.asked.extend(keys.iter().cloned());
        (self.is_cancelled, self.wait, self.due) = (false, SHORTEST, None);
        self.send_waiting(false).await
    }

    /// Looks at the server once: takes the results of batches that are over, and submits what waits. It waits before, at first
    /// 5 s and up to 5 minutes while nothing changes.
    ///
    /// # Errors
    /// The first of: the file cannot be written, the key is refused, the server refuses the question about a batch, the budget
    /// does not allow a batch and none is under way, several requests alone were refused and none answered. All batches were
    /// looked at all the same, and another call continues. A server that does not answer is not an error: its batches are
    /// asked for until they are [`BatchOptions::max_age`] old.
    pub async fn poll(&mut self) -> Result<Progress, Error> {
        self.wait_until_due().await;
        first_of(self.poll_now().await)?;
        Ok(self.progress())
    }

    pub(super) async fn poll_now(&mut self) -> Vec<SpoolFailure> {
        let before = self.server_facts();
        let failures = self.visit_all().await;
        self.wait = if self.server_facts() == before && self.due.is_some() {
            (self.wait * 2).min(LONGEST)
        } else {
            SHORTEST
        };
        let now = self.options.client.inner.clock.elapsed();
        self.due = Some(now.saturating_add(self.wait));
        failures
    }

    /// Waits until the server may be asked again.
    pub(super) async fn wait_until_due(&self) {
        let clock = &self.options.client.inner.clock;
        if let Some(due) = self.due {
            clock.sleep(due.saturating_sub(clock.elapsed())).await;
        }
    }

    /// Looks at each batch and submits what waits. A failure ends none of the others.
    async fn visit_all(&mut self) -> Vec<SpoolFailure> {
        let mut failures = Vec::new();
        for name in self.file.state.open_names() {
            if let Err(error) = self.visit(&name).await {
                let keys = self.file.state.batches[&name].keys.iter();
                let keys = keys.cloned().collect();
                failures.push(SpoolFailure { keys, error });
            }
        }
        failures.extend(self.send_waiting(true).await);
        failures
    }

    /// The progress by the file, with the problems since the last time.
    pub fn progress(&mut self) -> Progress {
        Progress {
            waiting: self.waiting().count(),
            problems: std::mem::take(&mut self.problems),
            ..self.file.state.progress()
        }
    }

    /// The requests of this process without a result that are in no batch, while they are to be submitted.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&Key, &KeyState)> {
        let asked = (self.asked.iter()).filter(move |_| !self.is_cancelled);
        let states = asked.filter_map(move |key| Some((key, self.file.state.keys.get(key)?)));
        states.filter(|(key, state)| {
            state.result.is_none() && !state.is_out && !self.refused.contains_key(*key)
        })
    }

    /// Returns the results of the requests that this process submitted, each once, as far as they are there.
    ///
    /// # Errors
    /// The file cannot be read. Then all results are still there.
    pub fn collect(&mut self) -> Result<Vec<KeyedResult>, Error> {
        let keys = self.answered().into_iter();
        let results = keys.map(|key| self.result(&key).map(|result| (key, result)));
        let results: Vec<_> = results.collect::<Result<_, _>>()?;
        let state = &self.file.state;
        self.asked.retain(|key| !state.has_result(key));
        Ok(results)
    }

    /// The requests of this process with a result that was not collected.
    pub(super) fn answered(&self) -> Vec<Key> {
        let keys = self.asked.iter();
        let keys = keys.filter(|key| self.file.state.has_result(key));
        keys.cloned().collect()
    }

    /// The result of a request that has one.
    pub(super) fn result(&self, key: &Key) -> Result<Result<Reply, Error>, Error> {
        let at = self.file.state.keys[key].result.unwrap_or_default();
        let line = self.file.line(at)?;
        match line.entry {
            SpoolEntry::Result {
                reply: Some(reply), ..
            } => Ok(Ok(reply)),
            SpoolEntry::Result {
                error: Some(error), ..
            } => Ok(Err(error.into_error(&self.target(key)))),
            _ => Err(self.file.error("a result is neither a reply nor an error")),
        }
    }

    /// Asks the server to end the batches under way, now and at each [`Self::poll`], and submits nothing more until
    /// [`Self::submit`] is called. Results that exist are still collected. A batch of which it is not known whether it is at the
    /// server is ended when it is found; without labels, as at Anthropic, it is found once it is over.
    ///
    /// # Errors
    /// As of [`Self::poll`]. The other batches are ended all the same.
    pub async fn cancel(&mut self) -> Result<(), Error> {
        self.is_cancelled = true;
        first_of(self.visit_all().await)
    }

    /// The facts that change when a server answers: results, batches that it has, and those that are not over.
    fn server_facts(&self) -> (usize, usize, usize) {
        let state = &self.file.state;
        let known = || state.batches.values().filter(|row| row.id.is_some());
        let open = known().filter(|row| !row.is_closed);
        (state.results(), known().count(), open.count())
    }

    /// Whether this process has found `doubt` of a batch for as long as `limit`. The first call begins the time.
    pub(super) fn lasts(&mut self, doubt: Doubt, batch: &str, limit: Duration) -> bool {
        let now = self.options.client.inner.clock.elapsed();
        let since = self.since.entry((doubt, batch.to_owned())).or_insert(now);
        now.saturating_sub(*since) >= limit
    }

    /// Ends a doubt. Returns whether there was one.
    pub(super) fn forget(&mut self, doubt: Doubt, batch: &str) -> bool {
        self.since.remove(&(doubt, batch.to_owned())).is_some()
    }

    /// Whether a batch was begun longer than [`BatchOptions::max_age`] ago.
    pub(super) fn is_too_old(&self, name: &str) -> bool {
        let now = timestamp(self.options.client.inner.clock.now());
        let begun = self.file.state.batches[name].at;
        is_before(begun, now, self.options.max_age)
    }

    /// The ids of the batches at the server that the spool knows.
    pub(super) fn known_ids(&self) -> HashSet<String> {
        let rows = self.file.state.batches.values();
        rows.filter_map(|row| row.id.clone()).collect()
    }

    /// The provider and the model of a request.
    pub(super) fn target(&self, key: &Key) -> Target {
        let provider = self.options.client.inner.settings.provider.name();
        Target::new(provider, &self.file.state.keys[key].model)
    }

    /// The request of a key.
    pub(super) fn request(&self, key: &Key) -> Result<Request, Error> {
        let line = match self.file.state.keys.get(key) {
            Some(state) => Some(self.file.line(state.planned)?.entry),
            None => None,
        };
        match line {
            Some(SpoolEntry::Planned { request, .. }) => Ok(request),
            _ => Err(self.file.error("a request is not in the file")),
        }
    }
}

/// Whether `a` is more than `by` before `b`.
pub(super) fn is_before(a: Timestamp, b: Timestamp, by: Duration) -> bool {
    Duration::try_from(b.duration_since(a)).is_ok_and(|time| time > by)
}
