//! A cap in dollars is the run's, over all its processes, and attempts without a reply are reported.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use llm_client::{LedgerFile, Usd};
use serde_json::{Value, json};
use test_support::postgres;
use test_support::{Answer, CannedReply, FaultServer, Received};

use crate::process::{Ran, fresh, words};
use crate::runs::Place;

const CAP: Usd = Usd(500_000_000);

/// The bill of a request with the longest reply, at 2 and 10 dollars a million tokens.
fn longest(received: &Received) -> i64 {
    let output = received.json()["max_tokens"].as_i64().unwrap();
    received.body.len() as i64 / 8 * 2_000 + output * 10_000
}

fn asking(place: &Place, server: &FaultServer, arguments: &[&str]) -> Ran {
    let url = server.url("");
    let common = format!(
        "--db popper.db --provider anthropic --base-url {url} --max-usd 0.50 --iterations 40"
    );
    let common = words(&common);
    fresh(place.path(), arguments)
        .args(common)
        .env("POPPER_API_KEY", "no-key-at-all-01")
        .output()
        .unwrap()
        .into()
}

/// A run and three times `resume`, as it is printed: what the server billed in the end.
fn run_and_resume(answer: impl Fn(&Received) -> (Answer, i64) + Send + 'static) -> (Place, i64) {
    let billed = Arc::new(AtomicI64::new(0));
    let server = FaultServer::play({
        let billed = billed.clone();
        move |received| {
            let (answer, nanos) = answer(received);
            billed.fetch_add(nanos, Ordering::SeqCst);
            answer
        }
    });
    let place = Place::new();
    let model = ["--model", "claude-sonnet-5-5"];
    let run = ["run", "--config", "config.json", "--proposer", "llm"];
    let mut ran = asking(&place, &server, &[&run[..], &model].concat());
    for _ in 0..3 {
        assert_ne!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.contains(" --max-usd "), "{}", ran.stderr);
        ran = asking(&place, &server, &["resume", "--run-id", "1"]);
    }
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("popper: cost cap of $0.50 reached ("),
        "{last}"
    );
    assert!(last.contains("continue with: popper resume 1 "), "{last}");
    assert!(last.ends_with(" --max-usd 1.00"), "{last}");
    let billed = billed.load(Ordering::SeqCst);
    let spend = ledger(&place).spent().unwrap();
    assert!(
        billed <= spend.usd.0 && spend.usd <= CAP,
        "{billed} {spend:?}"
    );
    assert!(server.requests().len() > 1);
    (place, billed)
}

#[test]
fn a_run_on_a_server_refuses_another_ledger() {
    let Some(database) = postgres::database() else {
        return;
    };
    let server = FaultServer::play(|_| {
        let laws = json!({"research_log": "a look", "candidate_laws": [{"law_id": "broken"}]});
        let canned = CannedReply::text(laws.to_string()).tokens(1_200, 1_500);
        Answer::json(200, canned.anthropic_json())
    });
    let place = Place::new();
    let asking = |folder: &Path, line: &str| -> Ran {
        let flags = "--provider anthropic --max-usd 0.50 --threads 1 --base-url";
        let mut popper = fresh(
            folder,
            &words(&format!("{line} {flags} {}", server.url(""))),
        );
        popper
            .env("POPPER_STORE", database.url())
            .env("POPPER_API_KEY", "no-key-at-all-01")
            .output()
            .unwrap()
            .into()
    };
    let run = "run --config config.json --proposer llm --model claude-sonnet-5-5 --iterations 1";
    let ran = asking(place.path(), run);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let calls = server.requests().len();
    // Another folder has no ledger of the run.
    let other = Place::new();
    let ran = asking(other.path(), "resume --run-id 1 --iterations 2");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the cap would count too little"),
        "{}",
        ran.stderr
    );
    assert_eq!(server.requests().len(), calls);
    let ran = asking(place.path(), "resume --run-id 1 --iterations 2");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(server.requests().len() > calls);
}

fn ledger(place: &Place) -> LedgerFile {
    LedgerFile::new(place.path().join("popper.db.spend.jsonl")).run(1)
}

#[test]
fn a_run_and_three_resumes_keep_one_cap() {
    let (place, billed) = run_and_resume(|_| {
        let laws = json!({"research_log": "a look", "candidate_laws": [{"law_id": "broken"}]});
        let canned = CannedReply::text(laws.to_string()).tokens(1_200, 1_500);
        let bill = 1_200 * 2_000 + 1_500 * 10_000;
        (Answer::json(200, canned.anthropic_json()), bill)
    });
    assert!(billed > CAP.0 / 2, "{billed}");
    let status: Value = place.status("1");
    assert!(status["cost"].get("unsettled").is_none(), "{status}");
}

#[test]
fn attempts_without_a_reply_keep_the_cap_and_are_told() {
    let (place, billed) = run_and_resume(|received| {
        let cut = CannedReply::text("half of it").anthropic_json()[..60].to_owned();
        (Answer::json(200, cut), longest(received))
    });
    let spend = ledger(&place).spent().unwrap();
    assert_eq!(spend.usd, spend.uncertain);
    let shown = place.popper(&["status"]).stdout;
    let line = format!(
        "cost       0 replies, {} attempts of unknown outcome, up to {}\n",
        spend.unsettled, spend.uncertain
    );
    assert!(shown.contains(&line), "{shown} {line}");
    let cost = &place.status("1")["cost"];
    assert_eq!(cost["unsettled"], spend.unsettled);
    assert!(cost["uncertain_nano_usd"].as_i64().unwrap() >= billed);
}

#[test]
fn a_cap_needs_a_price_before_anything_is_made() {
    let server = FaultServer::play(|_| {
        let canned = CannedReply::text("{}").tokens(1_200, 1_500);
        Answer::json(200, canned.anthropic_json())
    });
    let place = Place::new();
    let run = words("run --config config.json --proposer llm --model of-my-own");
    let ran = asking(&place, &server, &run);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let last = ran.stderr.lines().last().unwrap_or_default();
    let line = "popper: --max-usd: the price of of-my-own is not known; give it with --prices FILE";
    assert_eq!(last, line);
    assert!(!place.path().join("popper.db").exists());
    let price = json!({
        "provider": "anthropic", "id": "of-my-own", "context": 200_000, "max_output": 64_000,
        "price": {"in": "2", "out": "10"},
    });
    let prices = json!({"schema_version": 1, "read_on": "2026-11-21", "models": [price]});
    std::fs::write(place.path().join("my prices.json"), prices.to_string()).unwrap();
    let priced = [&run[..], &["--prices", "my prices.json"]].concat();
    let ran = asking(&place, &server, &priced);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(
        last.ends_with(" --prices 'my prices.json' --max-usd 1.00"),
        "{last}"
    );
}

#[test]
fn another_run_of_the_database_has_a_cap_of_its_own() {
    let server = FaultServer::play(|_| {
        let canned = CannedReply::text("{}").tokens(1_200, 1_500);
        Answer::json(200, canned.anthropic_json())
    });
    let place = Place::new();
    let run = words("run --config config.json --proposer llm --model claude-sonnet-5-5 --new-run");
    for _ in 0..2 {
        let before = server.requests().len();
        let ran = asking(&place, &server, &run);
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        assert!(server.requests().len() > before + 5);
    }
}
