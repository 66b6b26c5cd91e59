//! A cap in dollars is the run's, over all its processes.

use std::fs;

use llm_client::{LedgerFile, Spend, Usd};
use test_support::{CompressionStub, StubMode};

use crate::program::Place;

/// The stub's bill at 3 and 15 dollars a million tokens: the longest reply for every call that it did not refuse.
fn billed(stub: &CompressionStub) -> i64 {
    let calls = stub.calls();
    let asked = calls.iter().filter(|call| call.status < 400);
    asked
        .filter_map(|call| {
            let reply = call.body["max_tokens"].as_i64()?;
            Some(call.body.to_string().len() as i64 / 8 * 3_000 + reply * 15_000)
        })
        .sum()
}

fn spent(place: &Place) -> Spend {
    LedgerFile::new(place.path("dir/spend.jsonl"))
        .spent()
        .unwrap()
}

/// A run and three times `resume` with the same cap.
fn run_and_resume(mode: StubMode, cap: &str) -> (Place, CompressionStub) {
    let (place, stub) = (Place::new(), CompressionStub::start(mode));
    let most: Usd = cap.parse().unwrap();
    let mut arguments = vec!["run", "--all", "--run-dir", "dir"];
    for _ in 0..4 {
        let ran = place.asking(&stub, &[&arguments[..], &["--max-usd", cap]].concat());
        if mode != StubMode::DropOnce {
            assert_ne!(ran.code, Some(0), "{}", ran.stderr);
        }
        let spend = spent(&place);
        assert!(spend.usd <= most, "{spend:?}");
        arguments = vec!["resume", "dir"];
    }
    (place, stub)
}

#[test]
fn a_run_and_three_resumes_keep_one_cap() {
    let (place, stub) = run_and_resume(StubMode::Ok, "0.07");
    let spend = spent(&place);
    assert!(spend.usd > Usd::ZERO && spend.unsettled == 0, "{spend:?}");
    // A higher one goes on with what the run has spent.
    place
        .asking(&stub, &["resume", "dir", "--max-usd", "1"])
        .exits(0);
    assert!(spent(&place).usd > spend.usd);
}

#[test]
fn replies_that_break_off_keep_the_cap_too() {
    for mode in [StubMode::BadJson, StubMode::DropOnce] {
        let (place, stub) = run_and_resume(mode, "0.30");
        let spend = spent(&place);
        assert!(spend.unsettled > 0, "{spend:?}");
        if mode == StubMode::BadJson {
            let billed = billed(&stub);
            assert!(billed > 0 && billed <= spend.usd.0, "{billed} {spend:?}");
        }
    }
}

#[test]
fn z24_a_run_keeps_its_cap_without_the_flag() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let run = ["run", "--all", "--run-dir", "dir"];
    place
        .asking(&stub, &[&run[..], &["--max-usd", "0.07"]].concat())
        .exits(130);
    let cap: Usd = "0.07".parse().unwrap();
    for arguments in [
        &["resume", "dir"][..],
        &run,
        &["rescore", "dir", "--resume"],
    ] {
        let ran = place.asking(&stub, arguments);
        assert!(matches!(ran.code, Some(130 | 2)), "{}", ran.stderr);
        assert!(
            spent(&place).usd <= cap,
            "{arguments:?}: {:?}",
            spent(&place)
        );
    }
    // Another one is kept from then on, and is no other plan.
    let more = ["resume", "dir", "--max-usd", "0.071"];
    place.asking(&stub, &more).exits(130);
    assert_eq!(place.read_json("dir/run.json")["caps"]["maxUsd"], 0.071);
    place
        .asking(&stub, &[&run[..], &["--max-usd", "1"]].concat())
        .exits(0);
}

#[test]
fn a_cap_is_not_held_against_an_account_that_is_lost() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let run = ["run", "--level", "1", "--run-dir", "dir", "--max-usd", "1"];
    place.asking(&stub, &run).exits(0);
    fs::remove_file(place.path("dir/spend.jsonl")).unwrap();
    stub.reset(StubMode::Ok);
    let rescore = ["rescore", "dir", "--judge-model", "claude-haiku-4-5"];
    for arguments in [&["resume", "dir"][..], &run, &rescore] {
        let ran = place.asking(&stub, arguments).exits(2);
        let said = "spend.jsonl: is missing though calls were made, so the cap of $1";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(stub.stats().calls, 0, "{arguments:?}");
    }
    // The user may say that nothing was spent.
    place.file("dir/spend.jsonl", "");
    place.asking(&stub, &["resume", "dir"]).exits(0);
}

#[test]
fn a_cap_that_is_no_amount_is_no_absence_of_a_cap() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let run = ["run", "--level", "1", "--run-dir", "dir", "--max-usd", "1"];
    place.asking(&stub, &run).exits(0);
    let record = place.read("dir/run.json");
    let written = "\"maxUsd\": 1.0";
    assert!(record.contains(written), "{record}");
    for wrong in ["-1.0", "1e300"] {
        place.file(
            "dir/run.json",
            record.replace(written, &format!("\"maxUsd\": {wrong}")),
        );
        stub.reset(StubMode::Ok);
        let ran = place
            .asking(&stub, &["rescore", "dir", "--judge-model", "other"])
            .exits(2);
        assert!(
            ran.stderr
                .contains("caps.maxUsd is not an amount in US dollars"),
            "{}",
            ran.stderr
        );
        assert_eq!(stub.stats().calls, 0);
    }
}
