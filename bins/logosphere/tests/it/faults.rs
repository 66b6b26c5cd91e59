//! Servers that fail: what passes is tried again, what does not is skipped or ends the run, and nothing is lost.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use test_support::{MindFatal, MindFaults, MindMode, MindScript, MindStub};

use crate::journal::{self, calls, events, of_type, sha256};
use crate::program::{Place, words};

fn failing(faults: MindFaults) -> MindScript {
    MindScript {
        faults: Some(faults),
        ..MindScript::default()
    }
}

/// Checks that every attempt that the server received is in the journal once.
#[track_caller]
fn attempts_are_logged(place: &Place, stub: &MindStub) {
    let mut logged: BTreeMap<String, usize> = BTreeMap::new();
    for call in calls(&events(place, "E")) {
        let attempts = call["attempts"].as_array().unwrap();
        let numbers: Vec<_> = attempts
            .iter()
            .map(|one| one["n"].as_u64().unwrap())
            .collect();
        assert!(
            numbers.iter().copied().eq(1..=numbers.len() as u64),
            "{numbers:?}"
        );
        for (place, attempt) in attempts.iter().enumerate() {
            let last = place + 1 == attempts.len();
            let answered = last && call["parse"]["reason"] != "call_failed";
            assert_eq!(attempt["class"].is_null(), answered, "{attempt}");
            assert_eq!(answered, attempt["status"] == 200, "{attempt}");
        }
        let hash = call["request_sha256"].as_str().unwrap().to_owned();
        *logged.entry(hash).or_default() += attempts.len();
    }
    let asked = stub
        .asked()
        .into_iter()
        .map(|(body, times)| (sha256(&body), times));
    assert_eq!(logged, asked.collect());
}

#[test]
fn a_fifth_of_the_calls_fails_for_good() {
    for scheduling in ["sequential", "snapshot"] {
        let (place, stub) = (
            Place::new(),
            MindStub::start(failing(MindFaults::always(0.2))),
        );
        place.experiment("E");
        let run = format!("run E --minds 5 --rounds 6 --seed 2 --scheduling {scheduling}");
        let run = words(&run);
        place.asking(&stub, &run).exits(3);
        attempts_are_logged(&place, &stub);
        let events = events(&place, "E");
        let failed = |call: &&&Value| call["parse"]["reason"] == "call_failed";
        let calls = calls(&events);
        let failures = calls.iter().filter(failed).count();
        assert!((2..12).contains(&failures), "{failures}");
        // Each is told before its invocation, which sends nothing.
        let errors = of_type(&events, "error");
        assert_eq!(errors.len(), failures);
        for (place, event) in events
            .iter()
            .enumerate()
            .filter(|(_, event)| event["type"] == "error")
        {
            let next = &events[place + 1];
            assert_eq!(
                (&event["round"], &event["mind_id"]),
                (&next["round"], &next["mind_id"])
            );
            assert_eq!(next["parse"]["reason"], "call_failed");
            assert_eq!(event["attempts"], next["attempts"]);
            assert_eq!(event["fatal"], false);
            assert_eq!(
                (&next["raw_output"], &next["completed"]),
                (&json!(""), &json!(false))
            );
            assert_eq!(next["transmitted"], json!([]));
        }
        // No message is lost, and none is there twice.
        let keys: Vec<_> = calls
            .iter()
            .map(|call| (call["round"].as_u64(), call["mind_id"].as_u64()))
            .collect();
        let all = (1..=6).flat_map(|round| (0..5).map(move |mind| (Some(round), Some(mind))));
        assert!(keys.into_iter().eq(all));
        let sent: usize = calls
            .iter()
            .map(|call| call["transmitted"].as_array().unwrap().len())
            .sum();
        let ids: Vec<_> = calls
            .iter()
            .flat_map(|call| journal_ids(&call["added_ids"]))
            .collect();
        assert!(ids.iter().copied().eq(8..8 + sent as u64));
        let end = events.last().unwrap();
        assert_eq!(end["final_pool_size"], 8 + sent);
        assert_eq!(end["errors"], failures);
        place.alone(&["verify", &journal::path("E")]).exits(0);
    }
}

fn journal_ids(value: &Value) -> Vec<u64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_u64().unwrap())
        .collect()
}

#[test]
fn what_passes_is_tried_again() {
    let (place, stub) = (
        Place::new(),
        MindStub::start(failing(MindFaults::once(0.3))),
    );
    place.experiment("E");
    place
        .asking(
            &stub,
            &["run", "E", "--minds", "4", "--rounds", "6", "--seed", "2"],
        )
        .exits(0);
    attempts_are_logged(&place, &stub);
    assert!(stub.stats().requests > 24);
    assert_eq!(stub.stats().by_status[&200], 24);
    // As without failures.
    let calm = MindStub::start(MindScript::default());
    place.experiment("C");
    place
        .asking(
            &calm,
            &["run", "C", "--minds", "4", "--rounds", "6", "--seed", "2"],
        )
        .exits(0);
    place
        .alone(&["diff", &journal::path("E"), &journal::path("C")])
        .exits(0);
}

#[test]
fn what_no_other_call_can_survive_ends_the_run_which_goes_on_later() {
    for (fatal, class) in [
        (MindFatal::Auth, "auth"),
        (MindFatal::Quota, "quota"),
        (MindFatal::NoModel, "model_unavailable"),
        (MindFatal::BadRequest, "bad_request"),
    ] {
        for scheduling in ["sequential", "snapshot"] {
            let place = Place::new();
            place.experiment("E");
            let stub = MindStub::start(MindScript {
                fatal: Some((5, fatal)),
                ..MindScript::default()
            });
            let run = words("run E --minds 3 --rounds 4 --seed 6 --concurrency 1");
            let ran = place
                .asking(&stub, &[&run[..], &["--scheduling", scheduling]].concat())
                .exits(1);
            assert!(ran.stderr.contains("resume"), "{}", ran.stderr);
            assert_eq!(stub.stats().requests, 6, "{class}");
            let before = events(&place, "E");
            assert_eq!(
                calls(&before).len(),
                5,
                "{class}: the failing call is not committed"
            );
            let last = before.last().unwrap();
            assert_eq!(last["type"], "run_interrupted");
            assert_eq!(
                (&last["cause"], &last["resumable"]),
                (&json!("error"), &json!(true))
            );
            assert_eq!((&last["round"], &last["next_mind"]), (&json!(2), &json!(2)));
            assert!(
                of_type(&before, "error")
                    .iter()
                    .all(|error| error["class"] == class && error["fatal"] == true)
            );
            stub.set(MindScript::default());
            place.resuming(&stub, "E", &[]).exits(0);
            assert_eq!(stub.stats().requests, 6 + 7);
            place.experiment("C");
            let whole = [&["run", "C"], &run[2..], &["--scheduling", scheduling]].concat();
            place.asking(&stub, &whole).exits(0);
            place
                .alone(&["diff", &journal::path("E"), &journal::path("C")])
                .exits(0);
            place.alone(&["verify", &journal::path("E")]).exits(0);
        }
    }
}

#[test]
fn three_failures_in_a_row_for_each_mind_end_the_run() {
    let script = failing(MindFaults {
        fault: test_support::MindFault::Server,
        ..MindFaults::always(1.0)
    });
    let (place, stub) = (Place::new(), MindStub::start(script));
    place.experiment("E");
    place
        .asking(
            &stub,
            &[
                "run",
                "E",
                "--minds",
                "2",
                "--rounds",
                "9",
                "--seed",
                "1",
                "--on-error",
                "skip",
            ],
        )
        .exits(1);
    let before = events(&place, "E");
    assert_eq!(before.last().unwrap()["type"], "run_interrupted");
    // The sixth ends it and is not committed.
    assert_eq!(calls(&before).len(), 5);
    stub.set(MindScript::default());
    place.resuming(&stub, "E", &["--rounds", "9"]).exits(3);
    assert_eq!(calls(&events(&place, "E")).len(), 18);
    place.alone(&["verify", &journal::path("E")]).exits(0);
}

#[test]
fn a_round_without_any_answer_stops_a_run_that_can_be_resumed() {
    let dead = MindFaults {
        fault: test_support::MindFault::Server,
        ..MindFaults::always(1.0)
    };
    for scheduling in ["sequential", "snapshot"] {
        let (place, stub) = (Place::new(), MindStub::start(MindScript::default()));
        place.experiment("E");
        let run = format!("run E --minds 3 --rounds 1 --seed 1 --scheduling {scheduling}");
        place.asking(&stub, &words(&run)).exits(0);
        stub.set(failing(dead));
        for _ in 0..2 {
            let ran = place.resuming(&stub, "E", &["--rounds", "4"]).exits(1);
            let last = ran.stderr.lines().last().unwrap();
            assert!(last.contains("no call of round 2 was answered"), "{last}");
            assert!(
                last.ends_with("continue with: logosphere resume E"),
                "{last}"
            );
            let events = events(&place, "E");
            assert_eq!(events.last().unwrap()["type"], "run_interrupted");
            assert_eq!(calls(&events).len(), 5, "{scheduling}");
            place.alone(&["status", "E"]).exits(0);
            place.alone(&["verify", "E"]).exits(0);
        }
        stub.set(MindScript::default());
        place.resuming(&stub, "E", &[]).exits(3);
        assert_eq!(calls(&events(&place, "E")).len(), 12);
        place.alone(&["verify", "E"]).exits(0);
    }
}

#[test]
fn on_error_stop_ends_at_the_first() {
    let script = failing(MindFaults {
        fault: test_support::MindFault::Server,
        ..MindFaults::always(0.3)
    });
    let (place, stub) = (Place::new(), MindStub::start(script));
    place.experiment("E");
    place.file(
        "E/config.json",
        r#"{"on_error": "stop", "n_minds": 4, "seed": 3, "max_rounds": 5}"#,
    );
    place.asking(&stub, &["run", "E"]).exits(1);
    let before = events(&place, "E");
    assert!(
        calls(&before)
            .iter()
            .all(|call| call["parse"]["reason"] != "call_failed")
    );
    assert_eq!(before.last().unwrap()["type"], "run_interrupted");
    stub.set(MindScript::default());
    place.resuming(&stub, "E", &[]).exits(0);
    assert_eq!(calls(&events(&place, "E")).len(), 20);
}

#[test]
fn a_reply_that_is_no_reply_is_an_error_and_not_an_answer() {
    let stub = MindStub::start(MindScript {
        mode: MindMode::Raw(b"\"broken".to_vec()),
        ..MindScript::default()
    });
    let place = Place::new();
    place.experiment("E");
    place
        .asking(&stub, &words("run E --minds 2 --rounds 1 --on-error skip"))
        .exits(3);
    let events = events(&place, "E");
    assert_eq!(of_type(&events, "error").len(), 2);
    assert!(
        calls(&events)
            .iter()
            .all(|call| call["parse"]["reason"] == "call_failed")
    );
}
