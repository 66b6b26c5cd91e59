//! Caps on money, tokens and time are never exceeded, and a run continues with higher ones.

use std::time::Duration;

use llm_client::LedgerFile;
use serde_json::{Value, json};
use test_support::{MindScript, MindStub};

use crate::journal::{self, calls, events, of_type};
use crate::program::{Place, Ran, finish, start, words};

/// Dollars for a million tokens of the model below, of prompt and of answer.
const PRICE: [f64; 2] = [1.0, 5.0];

/// With a model whose price is known.
fn priced(place: &Place, stub: &MindStub, arguments: &[&str]) -> Ran {
    let url = stub.messages_url();
    let server = format!("--provider anthropic --model claude-haiku-4-5 --base-url {url}");
    let server = words(&server);
    finish(start(place.command(arguments).args(server)))
}

const RUN: &str =
    "run E --minds 10 --rounds 8 --seed 4 --scheduling snapshot --concurrency 8 --token-limit 150";

#[test]
fn a_cap_in_dollars_has_nothing_to_limit_offline_and_the_program_says_so() {
    let place = Place::new();
    place.experiment("E");
    let line = "--max-usd: no model is called offline, and there is no cost";
    let run = "run E --mind copier --rounds 1 --max-usd 1";
    place.alone(&words(run)).exits(0).tells(&[line]);
    let resume = "resume E --rounds 2";
    place.alone(&words(resume)).exits(0).tells(&[line]);
}

fn late() -> MindStub {
    MindStub::start(MindScript {
        latency: Duration::from_millis(2),
        jitter: Duration::from_millis(8),
        ..MindScript::default()
    })
}

fn spent(stub: &MindStub) -> f64 {
    let billed = stub.stats().billed;
    (billed.prompt as f64 * PRICE[0] + billed.completion as f64 * PRICE[1]) / 1e6
}

/// Checks that the run stopped for a cap and can be resumed.
#[track_caller]
fn is_capped(place: &Place) -> Vec<Value> {
    let events = events(place, "E");
    let last = events.last().unwrap();
    assert_eq!(last["type"], "run_interrupted");
    assert_eq!(
        (&last["cause"], &last["resumable"]),
        (&json!("cap"), &json!(true))
    );
    events
}

#[test]
fn no_more_money_than_allowed() {
    for cap in ["0.002", "0.01", "0.016"] {
        let (place, stub) = (Place::new(), late());
        place.experiment("E");
        let ran = priced(
            &place,
            &stub,
            &[&words(RUN)[..], &["--max-usd", cap]].concat(),
        )
        .exits(130);
        assert!(
            ran.stderr.contains("--max-usd") || ran.stderr.contains("cap"),
            "{}",
            ran.stderr
        );
        let limit: f64 = cap.parse().unwrap();
        // One figure for what is spent, which holds failed calls too, and the command that continues.
        let stopped = ran.stderr.lines().last().unwrap();
        let begin = format!("logosphere: cost cap of ${cap} reached ($");
        let end = format!(
            " spent); continue with: logosphere resume E --max-usd {}",
            2.0 * limit
        );
        assert!(
            stopped.starts_with(&begin) && stopped.ends_with(&end),
            "{stopped}"
        );
        assert!(spent(&stub) <= limit, "{} of {limit}", spent(&stub));
        // And not much less: the next call, at its longest, would have passed it.
        assert!(
            spent(&stub) > limit - 9.0 * 0.0015,
            "{} of {limit}",
            spent(&stub)
        );
        let before = is_capped(&place);
        let made = stub.stats().requests;
        assert!(made < 80 && calls(&before).len() <= made, "{made}");
        // With the same cap there is nothing to be had, however often: what the run spent is beside its journal.
        for _ in 0..3 {
            priced(
                &place,
                &stub,
                &["resume", "E", "--max-usd", cap, "--concurrency", "8"],
            )
            .exits(130);
            assert!(spent(&stub) <= limit, "{} of {limit}", spent(&stub));
        }
        let ledger = LedgerFile::new(place.path("E/spend.jsonl"));
        let on_record = ledger.spent().unwrap().usd.0 as f64 / 1e9;
        assert!(
            on_record > spent(&stub) - 1e-6 && on_record <= limit,
            "{on_record}"
        );
        priced(&place, &stub, &["resume", "E", "--max-usd", "1"]).exits(0);
        assert_eq!(stub.stats().requests, 80, "no call was made twice");
        let events = events(&place, "E");
        assert_eq!(calls(&events).len(), 80);
        let resumed = of_type(&events, "run_resumed");
        assert!(
            resumed.last().unwrap()["changed"]
                .to_string()
                .contains("max_usd"),
            "{resumed:?}"
        );
        let cost = events.last().unwrap()["cost_usd"].as_f64().unwrap();
        assert!(
            (cost - spent(&stub)).abs() < 1e-6,
            "{cost} {}",
            spent(&stub)
        );
        place.alone(&["verify", &journal::path("E")]).exits(0);
    }
}

#[test]
fn no_more_tokens_than_allowed() {
    let (place, stub) = (Place::new(), late());
    place.experiment("E");
    place
        .asking(
            &stub,
            &[&words(RUN)[..], &["--max-tokens", "6000"]].concat(),
        )
        .exits(130);
    let billed = stub.stats().billed;
    let tokens = billed.prompt + billed.completion;
    assert!((2000..=6000).contains(&tokens), "{tokens}");
    is_capped(&place);
    place
        .resuming(&stub, "E", &["--max-tokens", "1000000"])
        .exits(0);
    assert_eq!(stub.stats().requests, 80);
    place.experiment("C");
    place
        .asking(&stub, &words(&RUN.replace(" E ", " C ")))
        .exits(0);
    place
        .alone(&["diff", &journal::path("E"), &journal::path("C")])
        .exits(0);
}

#[test]
fn caps_of_the_file_hold_too() {
    let (place, stub) = (Place::new(), late());
    place.experiment("E");
    place.file(
        "E/config.json",
        r#"{"caps": {"max_tokens": 3000}, "token_limit": 150, "n_minds": 4, "max_rounds": 20}"#,
    );
    place.asking(&stub, &["run", "E"]).exits(130);
    let billed = stub.stats().billed;
    assert!(billed.prompt + billed.completion <= 3000);
    is_capped(&place);
}

#[test]
fn no_more_time_than_allowed() {
    let (place, stub) = (
        Place::new(),
        MindStub::start(MindScript {
            latency: Duration::from_millis(400),
            ..MindScript::default()
        }),
    );
    place.experiment("E");
    place
        .asking(
            &stub,
            &words("run E --minds 3 --rounds 4 --seed 1 --max-wall 1"),
        )
        .exits(130);
    let events = events(&place, "E");
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["resumable"]),
        (&json!("run_interrupted"), &json!(true))
    );
    assert!(
        ["wall", "cap"].contains(&last["cause"].as_str().unwrap()),
        "{last}"
    );
    assert!(calls(&events).len() < 12);
    stub.set(MindScript::default());
    place.resuming(&stub, "E", &["--max-wall", "60"]).exits(0);
    // What was under way was waited for.
    assert_eq!(stub.stats().requests, 12);
}

#[test]
fn what_the_provider_says_that_a_call_costs_is_counted() {
    let stub = MindStub::start(MindScript {
        cost: Some([100.0, 500.0]),
        ..MindScript::default()
    });
    let place = Place::new();
    place.experiment("E");
    place
        .asking(&stub, &["run", "E", "--rounds", "2", "--seed", "1"])
        .exits(0);
    let events = events(&place, "E");
    let cost = events.last().unwrap()["cost_usd"].as_f64().unwrap();
    let billed = stub.stats().billed.usd;
    assert!((cost - billed).abs() < 1e-6, "{cost} {billed}");
    let each = calls(&events)
        .into_iter()
        .map(|call| call["cost_usd"].as_f64().unwrap());
    assert!((each.sum::<f64>() - billed).abs() < 1e-6);
}
