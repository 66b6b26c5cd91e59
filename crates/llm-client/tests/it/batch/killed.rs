//! A real process that is killed while it works with a spool and a ledger: rows B1 and B2 with `kill -9`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_client::batch::{BatchOptions, Spool};
use llm_client::{Budget, Client, LedgerFile, Timeouts, Usd};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use test_support::{Answer, FakeClock, FaultServer};

use super::server::{BatchServer, Mess, Shared, lock};
use super::{CAP, COST, Kill, answers, finish, prices, questions, texts};
use crate::faults::{BOTH, Wire};

const CHILD: &str = "ORRERY_SPOOL_TEST";

/// Not a test: the process that is killed.
#[test]
#[ignore = "the child of the test below"]
fn child() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent tells where to continue"
    )]
    let Ok(given) = std::env::var(CHILD) else {
        return;
    };
    let given: Vec<&str> = given.split(' ').collect();
    let [wire, host, folder] = given[..] else {
        panic!("{given:?}");
    };
    let wire = if wire == "Openai" {
        Wire::Openai
    } else {
        Wire::Anthropic
    };
    let folder = Path::new(folder);
    // The waits between looks pass at once, the timeouts of a request do not.
    let long = Duration::from_hours(2);
    let timeouts = Timeouts::default().idle(long).total(long);
    let client = Client::builder(
        wire.provider_at(host),
        Arc::new(FakeClock::skip_up_to(Duration::from_hours(1))),
    )
    .models(prices())
    .timeouts(timeouts)
    .budget(Budget::default().usd(Some(Usd(CAP))))
    .build()
    .unwrap();
    client
        .keep_ledger(&LedgerFile::new(folder.join("spend.jsonl")))
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let options = BatchOptions::new(client).max_requests(4);
        let mut spool = Spool::open(&folder.join("spool.jsonl"), options).unwrap();
        let mut all = Vec::new();
        for phase in [0..6, 6..10] {
            let keys = spool.submit(&questions(phase)).await.unwrap();
            let (results, _) = finish(&mut spool, &Kill::never()).await.unwrap();
            all.extend(texts(&keys, &results));
        }
        assert_eq!(all, answers(0..10));
    });
}

fn start(wire: Wire, server: &FaultServer, folder: &Path) -> Child {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's own program is the child"
    )]
    let program = std::env::current_exe().unwrap();
    Command::new(program)
        .args(["batch::killed::child", "--exact", "--ignored"])
        .env(
            CHILD,
            format!("{wire:?} {} {}", server.url(""), folder.display()),
        )
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The server kills the process that asks it, after it did what was asked, at requests that a seed chooses. A new process
/// continues until one reaches the end; then a new spool begins.
#[test]
fn a_kill_at_any_request_pays_for_each_request_once() {
    let mut random = ChaCha20Rng::seed_from_u64(12);
    for wire in BOTH {
        let victim: Arc<Mutex<Option<Child>>> = Arc::default();
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let state: Shared = Arc::new(Mutex::new(fresh(wire)));
        let server = FaultServer::play({
            let (victim, left, state) = (victim.clone(), left.clone(), state.clone());
            move |received| {
                let kind = received.header("content-type").unwrap_or_default();
                let (status, text) =
                    lock(&state).answer(&received.method, &received.path, kind, &received.body);
                if left.fetch_sub(1, Ordering::SeqCst) == 1
                    && let Some(child) = victim.lock().unwrap().as_mut()
                {
                    child.kill().unwrap();
                }
                Answer::json(status, text)
            }
        });
        let (mut killed, mut ended) = (0, 0);
        let mut folder = tempfile::tempdir().unwrap();
        while killed < 15 {
            left.store(1 + random.next_u32() as usize % 12, Ordering::SeqCst);
            let mut slot = victim.lock().unwrap();
            *slot = Some(start(wire, &server, folder.path()));
            drop(slot);
            let status = loop {
                let ended = victim.lock().unwrap().as_mut().unwrap().try_wait().unwrap();
                match ended {
                    Some(status) => break status,
                    None => std::thread::yield_now(),
                }
            };
            left.store(usize::MAX, Ordering::SeqCst);
            victim.lock().unwrap().take();
            let ledger = LedgerFile::new(folder.path().join("spend.jsonl"));
            let spend = ledger.spent().unwrap();
            let submitted: usize = lock(&state)
                .batches
                .iter()
                .map(|batch| batch.requests.len())
                .sum();
            let billed = i64::try_from(submitted).unwrap() * COST;
            assert!(
                billed <= spend.usd.0 && spend.usd.0 <= CAP,
                "{spend:?}, billed {billed}"
            );
            if !status.success() {
                killed += 1;
                continue;
            }
            assert_eq!(submitted, 10, "{wire:?}");
            assert_eq!(
                (spend.usd, spend.unsettled),
                (Usd(10 * COST), 0),
                "{wire:?}"
            );
            *lock(&state) = fresh(wire);
            folder = tempfile::tempdir().unwrap();
            ended += 1;
        }
        assert!(ended > 0, "{wire:?}: no process reached the end");
    }
}

fn fresh(wire: Wire) -> BatchServer {
    // The day of the clock of each child.
    let start: jiff::Timestamp = "2026-11-22T00:00:00Z".parse().unwrap();
    let mut server = BatchServer::new(wire, move || start.as_second());
    server.mess = Mess {
        doubled: true,
        ..Mess::default()
    };
    server
}
