//! Batches in a spool: rows B1 to B6 of the specification, in both forms.

mod budget;
mod calls;
mod calls_errors;
mod disk;
mod faults;
mod hostile;
mod killed;
mod kills;
mod money;
mod other;
mod plain;
mod refusals;
mod search;
mod server;
mod upload;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use durable::Disk;
use futures_util::future::ready;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use llm_client::batch::{BatchOptions, Key, Progress, Spool};
use llm_client::error::ConnectPhase;
use llm_client::provider::{HttpRequest, HttpResponse, Transport};
use llm_client::{
    Budget, Client, ClientBuilder, Clock as _, Error, LedgerFile, ModelTable, Reply, Request, Usd,
};
use test_support::FakeClock;

use self::server::{BatchServer, Shared, lock};
use crate::faults::{BOTH, Wire};

pub const MODEL: &str = "model-1";

/// A price of 4 and 20 dollars a million, and half of it in a batch.
pub fn prices() -> ModelTable {
    table(r#", "multipliers": {"batch": "0.5"}"#)
}

/// The same price, without one in a batch.
pub fn plain_prices() -> ModelTable {
    table("")
}

/// The table with more fields in each row.
pub fn table(fields: &str) -> ModelTable {
    let row = |provider: &str, model: &str| {
        format!(
            r#"{{"provider": "{provider}", "id": "{model}", "price": {{"in": "4", "out": "20"}}{fields}}}"#
        )
    };
    let rows = [
        row("anthropic", MODEL),
        row("openai", MODEL),
        row("anthropic", "model-2"),
        row("openai", "model-2"),
    ];
    let rows = rows.join(",");
    let table = format!(r#"{{"schema_version": 1, "read_on": "2026-11-21", "models": [{rows}]}}"#);
    ModelTable::parse(&table).unwrap()
}

pub fn question(text: &str) -> Request {
    Request::new(MODEL, text).max_tokens(Some(100))
}

pub fn questions(names: impl IntoIterator<Item = usize>) -> Vec<Request> {
    names
        .into_iter()
        .map(|n| question(&format!("text {n}")))
        .collect()
}

/// The end of a process at a step: a write, a sync, a request or its answer. After it, nothing leaves the process.
#[derive(Clone)]
pub struct Kill {
    at: u64,
    steps: Arc<AtomicU64>,
}

impl Kill {
    pub fn at(at: u64) -> Self {
        let steps = Arc::default();
        Self { at, steps }
    }

    pub fn never() -> Self {
        Self::at(u64::MAX)
    }

    /// Whether the process is dead at its next step.
    fn step(&self) -> bool {
        self.steps.fetch_add(1, Ordering::SeqCst) + 1 >= self.at
    }

    pub fn is_dead(&self) -> bool {
        self.steps.load(Ordering::SeqCst) >= self.at
    }

    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::SeqCst)
    }

    pub fn disk(&self) -> Disk {
        let kill = self.clone();
        let watch = move |_, _: &Path| {
            if kill.step() {
                return Err(io::Error::other("killed"));
            }
            Ok(())
        };
        Disk::default().without_sync().watched(Arc::new(watch))
    }
}

/// The way to the server of a process that may be killed.
struct Line {
    server: Shared,
    kill: Kill,
}

impl Line {
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, Error> {
        let dead = || Error::connect(ConnectPhase::Send, "killed");
        if self.kill.step() {
            return Err(dead());
        }
        let path = match request.url.query() {
            Some(query) => format!("{}?{query}", request.url.path()),
            None => request.url.path().to_owned(),
        };
        assert_eq!(request.url.host_str(), Some("127.0.0.1"));
        let kind = crate::memory::header(request, "content-type").unwrap_or_default();
        let (method, body) = (request.method.as_str(), &request.body);
        let (status, text) = lock(&self.server).answer(method, &path, &kind, body);
        if self.kill.step() || status == server::NO_ANSWER {
            return Err(dead());
        }
        // In two pieces, with a place to be killed between them.
        let bytes = Bytes::from(text);
        let half = bytes.len() / 2;
        let second = if self.kill.step() {
            Err(dead())
        } else {
            Ok(bytes.slice(half..))
        };
        let body = stream::iter([Ok(bytes.slice(..half)), second]).boxed();
        Ok(HttpResponse::new(status, Vec::new(), body))
    }
}

impl Transport for Line {
    fn execute(
        &self,
        request: HttpRequest,
    ) -> futures_util::future::BoxFuture<'_, Result<HttpResponse, Error>> {
        ready(self.send(&request)).boxed()
    }
}

/// A server, and the time in which it and its clients live.
pub struct World {
    pub clock: FakeClock,
    pub server: Shared,
    pub folder: tempfile::TempDir,
    pub wire: Wire,
}

impl World {
    pub fn new(wire: Wire) -> Self {
        let clock = FakeClock::new();
        let time = clock.clone();
        let now = move || {
            let now = time.now().duration_since(UNIX_EPOCH).unwrap();
            i64::try_from(now.as_secs()).unwrap()
        };
        Self {
            server: Arc::new(std::sync::Mutex::new(BatchServer::new(wire, now))),
            folder: tempfile::tempdir().unwrap(),
            clock,
            wire,
        }
    }

    pub fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("spool.jsonl")
    }

    pub fn client(&self, kill: &Kill) -> ClientBuilder {
        self.client_at("http://127.0.0.1:1", kill)
    }

    /// A client of the server at the base `host`, which may have a path.
    pub fn client_at(&self, host: &str, kill: &Kill) -> ClientBuilder {
        let provider = self.wire.provider_at(host);
        Client::builder(provider, Arc::new(self.clock.clone()))
            .models(prices())
            .transport(Arc::new(self.line(kill)))
    }

    pub fn line(&self, kill: &Kill) -> impl Transport + use<> {
        Line {
            server: self.server.clone(),
            kill: kill.clone(),
        }
    }

    /// The file with the money of this world.
    pub fn ledger(&self) -> LedgerFile {
        LedgerFile::new(self.folder.path().join("spend.jsonl"))
    }

    pub fn client_with_ledger(&self, kill: &Kill, cap: i64) -> Client {
        let budget = Budget::default().usd(Some(Usd(cap)));
        let client = self.client(kill).budget(budget).build().unwrap();
        client.keep_ledger(&self.ledger()).unwrap();
        client
    }

    pub fn options(&self, kill: &Kill) -> BatchOptions {
        let client = self.client(kill).build().unwrap();
        BatchOptions::new(client).disk(kill.disk())
    }

    pub fn open(&self) -> Spool {
        Spool::open(&self.path(), self.options(&Kill::never())).unwrap()
    }

    /// Runs `work` in the time of this world.
    pub fn run<T>(&self, work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        runtime.block_on(self.clock.run(work))
    }
}

pub type Results = Vec<(Key, Result<Reply, Error>)>;

/// Polls until all results are in, or the process is dead.
pub async fn finish(spool: &mut Spool, kill: &Kill) -> Result<(Results, Progress), Error> {
    let mut problems = Vec::new();
    loop {
        let mut progress = spool.poll().await?;
        problems.append(&mut progress.problems);
        if kill.is_dead() {
            return Err(Error::protocol("killed"));
        }
        if progress.is_done() {
            progress.problems = problems;
            return Ok((spool.collect()?, progress));
        }
        assert!(problems.len() < 1000, "{problems:?}");
    }
}

/// The texts of the replies, in the order of `keys`.
pub fn texts(keys: &[Key], results: &Results) -> Vec<String> {
    assert_eq!(keys.len(), results.len());
    let text = |key| {
        let found = results.iter().find(|(own, _)| own == key);
        let (_, result) = found.unwrap_or_else(|| panic!("{key} has no result"));
        result.as_ref().map_or_else(Error::message, Reply::text)
    };
    keys.iter().map(text).collect()
}

pub fn answers(names: impl IntoIterator<Item = usize>) -> Vec<String> {
    names.into_iter().map(|n| format!("re: text {n}")).collect()
}

/// More than all tests spend.
pub const CAP: i64 = 1_000_000_000;
/// 100 tokens of prompt and 20 of reply at half of 4 and 20 dollars a million.
pub const COST: i64 = 100 * 2_000 + 20 * 10_000;
pub const HOUR: Duration = Duration::from_hours(1);

#[test]
fn a_spool_answers_each_request_once_and_again_from_its_file() {
    for wire in BOTH {
        let world = World::new(wire);
        let (keys, first) = world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..5)).await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(
                (progress.requests, progress.results, progress.again),
                (5, 5, 0)
            );
            assert_eq!(progress.to_string(), "5 of 5 results are in");
            assert_eq!(spool.collect().unwrap().len(), 0);
            (keys, texts(&for_all(&results), &results).len())
        });
        assert_eq!(first, 5);
        // A new process asks nothing, for the same requests and in another order.
        let mut spool = world.open();
        lock(&world.server).outage = Some((500, "no one is here"));
        let again = world.run(spool.submit(&questions((0..5).rev()))).unwrap();
        assert!(keys.iter().rev().eq(&again), "{keys:?} {again:?}");
        assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..5));
        assert_eq!(lock(&world.server).batches.len(), 1);
        for key in &keys {
            assert_eq!(key.as_str().len(), 8 + 1 + 40);
        }
    }
}

fn for_all(results: &Results) -> Vec<Key> {
    results.iter().map(|(key, _)| key.clone()).collect()
}

#[test]
fn larger_sets_are_split_by_number_and_by_model() {
    for wire in BOTH {
        let world = World::new(wire);
        let mut requests = questions(0..5);
        requests[1].model = "model-2".to_owned();
        world.run(async {
            let options = world.options(&Kill::never()).max_requests(3);
            let mut spool = Spool::open(&world.path(), options).unwrap();
            let keys = spool.submit(&requests).await.unwrap();
            let sizes = lock(&world.server)
                .batches
                .iter()
                .map(|batch| batch.requests.len())
                .collect::<Vec<_>>();
            assert_eq!(sizes, [3, 1, 1]);
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..5));
        });
    }
}

#[test]
fn equal_requests_are_told_apart_by_order_and_replay_key() {
    let world = World::new(Wire::Anthropic);
    world.run(async {
        let mut spool = world.open();
        let same = questions([1, 1]);
        let keys = spool.submit(&same).await.unwrap();
        assert_ne!(keys[0], keys[1]);
        assert_eq!(spool.submit(&same).await.unwrap(), keys);
        let other = [same[0].clone().replay_key(Some("judge".to_owned()))];
        assert!(!keys.contains(&spool.submit(&other).await.unwrap()[0]));
        let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
        assert_eq!((results.len(), progress.requests), (3, 3));
    });
}

#[test]
fn a_cancelled_spool_submits_no_more_until_it_is_opened_again() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            let mut spool = world.open();
            lock(&world.server).looks = u32::MAX;
            spool.submit(&questions(0..3)).await.unwrap();
            spool.cancel().await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!((results.len(), progress.results, progress.again), (0, 0, 0));
            assert_eq!(lock(&world.server).batches.len(), 1);
            drop(spool);
            lock(&world.server).looks = 1;
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
            assert_eq!(progress.again, 3);
        });
    }
}

/// A batch that ended since the last look.
#[test]
fn a_batch_that_is_over_is_not_an_error_of_a_cancellation() {
    for wire in BOTH {
        let world = World::new(wire);
        world.run(async {
            let mut spool = world.open();
            let keys = spool.submit(&questions(0..3)).await.unwrap();
            lock(&world.server).batches[0].looks = 0;
            spool.cancel().await.unwrap();
            let (results, progress) = finish(&mut spool, &Kill::never()).await.unwrap();
            assert_eq!(texts(&keys, &results), answers(0..3));
            assert_eq!(progress.problems, [""; 0]);
        });
    }
}

#[test]
fn results_that_could_not_be_read_are_still_there() {
    let world = World::new(Wire::Anthropic);
    world.run(async {
        let mut spool = world.open();
        let keys = spool.submit(&questions(0..3)).await.unwrap();
        while !spool.poll().await.unwrap().is_done() {}
        let good = std::fs::read_to_string(world.path()).unwrap();
        let last = good.rfind("\"result\"").unwrap();
        let bad = format!("{}\"RESULT\"{}", &good[..last], &good[last + 8..]);
        std::fs::write(world.path(), bad).unwrap();
        assert!(spool.collect().is_err());
        std::fs::write(world.path(), good).unwrap();
        assert_eq!(texts(&keys, &spool.collect().unwrap()), answers(0..3));
    });
}
