//! The ledger of a run is in a file, and a kill at any instant leaves no less in it than was billed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use llm_client::{Budget, Client, Error, ErrorKind, LedgerFile, Request, Spend, SystemClock, Usd};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use test_support::{Answer, CannedReply, FaultServer};

use crate::bill::prices;
use crate::faults::{Wire, no_retries, skipping};
use crate::memory::{client, failed, json as replying, saying, server};

const WIRE: Wire = Wire::Anthropic;
const MODEL: &str = "model-1";
/// Fifteen tokens of prompt and 100 of reply at 1 and 5 dollars a million.
const RESERVED: i64 = 15 * 1_000 + 100 * 5_000;
const COST: i64 = 10 * 1_000 + 5 * 5_000;

fn question() -> Request {
    let mut request = Request::new(MODEL, "hello");
    request.max_tokens = Some(100);
    request
}

fn with(
    ledger: &LedgerFile,
    cap: i64,
    transport: &Arc<test_support::MemoryTransport>,
) -> Result<Client, Error> {
    let client = client(WIRE, transport, &skipping())
        .models(prices(1, 5))
        .retry(no_retries())
        .budget(Budget::default().usd(Some(Usd(cap))))
        .build()
        .unwrap();
    client.keep_ledger(ledger)?;
    Ok(client)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn every_attempt_is_a_line_before_it_and_a_line_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spend.jsonl");
    let mut n = 0;
    let transport = server({
        let path = path.clone();
        move |request| {
            // The line is there before the request goes out.
            assert!(lines(&path).last().unwrap()["reserve"].is_object());
            n += 1;
            Ok(match n {
                1 => crate::memory::said(WIRE, &CannedReply::text("a"), request),
                2 => replying(200, "{".into()),
                _ => failed(WIRE, 400, "invalid_request_error"),
            })
        }
    });
    let client = with(&LedgerFile::new(&path).run(7), 1_000_000_000, &transport).unwrap();
    for _ in 0..3 {
        drop(client.complete(&question()).await);
    }
    let reserve = |id: &str| {
        json!({"schema_version": 1, "id": id, "t": "2026-11-22T00:00:00Z", "run_id": 7,
            "reserve": {"nano_usd": RESERVED, "tokens": 115}})
    };
    let settle = |id: &str, nano_usd: i64, tokens: u64, how: &str| json!({"schema_version": 1, "id": id, "settle": {"nano_usd": nano_usd, "tokens": tokens, "how": how}});
    let (a, b, c) = ("0000000000000000", "0000000000000001", "0000000000000002");
    assert_eq!(
        lines(&path),
        [
            reserve(a),
            settle(a, COST, 15, "usage"),
            reserve(b),
            settle(b, RESERVED, 115, "reserved"),
            reserve(c),
            settle(c, 0, 0, "refund"),
        ]
    );
    drop(client);
    let spend = LedgerFile::new(&path).run(7).spent().unwrap();
    let mut expected = Spend::default();
    expected.usd = Usd(COST + RESERVED);
    expected.uncertain = Usd(RESERVED);
    expected.calls = 2;
    expected.unsettled = 1;
    expected.tokens = 130;
    assert_eq!(spend, expected);
    // Another run in the same file has spent nothing.
    assert_eq!(
        LedgerFile::new(&path).run(8).spent().unwrap(),
        Spend::default()
    );
}

#[tokio::test]
async fn the_next_process_goes_on_with_the_cap() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = LedgerFile::new(folder.path().join("spend.jsonl"));
    let transport = saying(WIRE, &CannedReply::text("hello yourself"));
    let cap = RESERVED + 10 * COST;
    let mut done = 0;
    for _ in 0..4 {
        let client = with(&ledger, cap, &transport).unwrap();
        assert_eq!(client.spent().usd, Usd(done * COST));
        for _ in 0..4 {
            match client.complete(&question()).await {
                Ok(_) => done += 1,
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::BudgetExceeded { .. }),
                    "{error:?}"
                ),
            }
        }
    }
    assert_eq!(done, 11);
}

#[tokio::test]
async fn what_has_no_second_line_counts_whole_and_a_torn_line_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spend.jsonl");
    let ledger = LedgerFile::new(&path);
    let line = r#"{"schema_version":1,"id":"000000000000000f","t":"2026-11-22T00:00:00Z","reserve":{"nano_usd":5,"tokens":7}}"#;
    std::fs::write(&path, format!("{line}\n{}", &line[..40])).unwrap();
    let spend = ledger.spent().unwrap();
    assert_eq!(
        (spend.usd, spend.uncertain, spend.tokens),
        (Usd(5), Usd(5), 7)
    );
    let transport = saying(WIRE, &CannedReply::text("hello yourself"));
    let client = with(&ledger, 1_000_000_000, &transport).unwrap();
    // One writer at a time.
    let second = with(&ledger, 1, &transport).err().unwrap().to_string();
    assert!(second.contains("another process"), "{second}");
    client.complete(&question()).await.unwrap();
    drop(client);
    assert_eq!(lines(&path)[1]["id"], "0000000000000010");
    assert_eq!(ledger.spent().unwrap().usd, Usd(5 + COST));
}

#[tokio::test]
async fn a_file_that_is_no_ledger_is_an_error_that_names_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spend.jsonl");
    for (text, named) in [
        ("{}\n", "line 1: "),
        ("nonsense\n", "line 1: "),
        (
            "{\"schema_version\":2,\"id\":\"1\",\"settle\":null}\n",
            "schema_version is 2",
        ),
        ("{\"schema_version\":1,\"id\":\"x\"}\n", "16 hex digits"),
        (
            "{\"schema_version\":1,\"id\":\"1\"}\n",
            "reserve and settle",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = LedgerFile::new(&path).spent().unwrap_err().to_string();
        assert!(
            error.contains(named) && error.contains("spend.jsonl"),
            "{error}"
        );
        assert!(with(&LedgerFile::new(&path), 1, &crate::memory::nobody()).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

/// The settings that the child and the test share.
const CHILD: &str = "ORRERY_LEDGER_TEST";
const CAP: i64 = 500_000_000;

/// Not a test: the process that is killed. It asks until the budget says no.
#[test]
#[ignore = "the child of the test below"]
fn child() {
    #[expect(
        clippy::disallowed_methods,
        reason = "how the parent tells where to go on"
    )]
    let Ok(told) = std::env::var(CHILD) else {
        return;
    };
    let (host, path) = told.split_once(' ').unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = Client::builder(WIRE.provider_at(host), Arc::new(SystemClock::new()))
            .models(prices(4, 20))
            .budget(Budget::default().usd(Some(Usd(CAP))))
            .build()
            .unwrap();
        client.keep_ledger(&LedgerFile::new(path)).unwrap();
        let request = question();
        join_all((0..4).map(|n| {
            let (client, request) = (&client, &request);
            async move {
                loop {
                    let outcome = if n % 2 == 0 {
                        client.complete(request).await.map(drop)
                    } else {
                        match client.stream(request).await {
                            Ok(events) => {
                                let _: Vec<_> = events.take(3).collect().await;
                                Ok(())
                            }
                            Err(error) => Err(error),
                        }
                    };
                    if matches!(
                        outcome.as_ref().map_err(Error::kind),
                        Err(ErrorKind::BudgetExceeded { .. })
                    ) {
                        return;
                    }
                }
            }
        }))
        .await;
    });
}

fn start(server: &FaultServer, path: &Path) -> Child {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's own program is the child"
    )]
    let program = std::env::current_exe().unwrap();
    Command::new(program)
        .args(["ledger::child", "--exact", "--ignored"])
        .env(CHILD, format!("{} {}", server.url(""), path.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The server kills the process that asks it, before or after it answers, at requests that a seed chooses. A new process
/// continues with the same file until the cap is reached; then a new file begins.
#[test]
fn a_kill_at_any_instant_leaves_no_less_on_record_than_was_billed() {
    #[expect(
        clippy::disallowed_methods,
        reason = "more kills than a usual run has time for"
    )]
    let kills = std::env::var("ORRERY_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    let kills: usize = kills.unwrap_or(60);
    let folder = tempfile::tempdir().unwrap();
    let victim: Arc<Mutex<Option<Child>>> = Arc::default();
    let billed = Arc::new(AtomicI64::new(0));
    // Requests until the kill.
    let left = Arc::new(AtomicUsize::new(usize::MAX));
    let server = FaultServer::play({
        let (victim, billed, left) = (victim.clone(), billed.clone(), left.clone());
        move |received| {
            let streams = received.json()["stream"] == true;
            let canned = CannedReply::text("hello yourself").tokens(15, 100);
            // All that was asked for, whatever becomes of the answer: 15 tokens and 100.
            billed.fetch_add(15 * 4_000 + 100 * 20_000, Ordering::SeqCst);
            if left.fetch_sub(1, Ordering::SeqCst) == 1
                && let Some(child) = victim.lock().unwrap().as_mut()
            {
                child.kill().unwrap();
            }
            if streams {
                Answer::sse(WIRE.events(&canned))
            } else {
                Answer::json(200, WIRE.json(&canned))
            }
        }
    });
    let mut random = ChaCha20Rng::seed_from_u64(11);
    let (mut files, mut ledger) = (0, LedgerFile::new(folder.path().join("0.jsonl")));
    let mut killed = 0;
    while killed < kills {
        left.store(1 + random.next_u32() as usize % 40, Ordering::SeqCst);
        // The lock keeps the server from killing before the child is known.
        let mut slot = victim.lock().unwrap();
        *slot = Some(start(&server, ledger.path()));
        let id = slot.as_ref().unwrap().id();
        drop(slot);
        let status = loop {
            let ended = victim.lock().unwrap().as_mut().unwrap().try_wait().unwrap();
            match ended {
                Some(status) => break status,
                None => std::thread::yield_now(),
            }
        };
        victim.lock().unwrap().take();
        let spend = ledger.spent().unwrap();
        let billed_now = billed.load(Ordering::SeqCst);
        assert!(
            billed_now <= spend.usd.0 && spend.usd.0 <= CAP,
            "process {id}, {status}: billed {}, {spend:?}",
            Usd(billed_now)
        );
        if status.success() {
            // The cap is reached.
            assert!(spend.usd.0 * 10 > CAP * 9, "{spend:?}");
            files += 1;
            ledger = LedgerFile::new(folder.path().join(format!("{files}.jsonl")));
            billed.store(0, Ordering::SeqCst);
        } else {
            killed += 1;
        }
    }
    assert!(files > 0 || kills < 60);
}
