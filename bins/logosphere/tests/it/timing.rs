//! Timeouts, retries and waits of a run, at a server that fails.

use serde_json::{Value, json};
use test_support::{MindFault, MindFaults, MindScript, MindStub};

use crate::journal::{calls, events, of_type, path};
use crate::program::{Place, words};

fn failing(fault: MindFault) -> MindStub {
    let faults = MindFaults {
        fault,
        ..MindFaults::always(1.0)
    };
    MindStub::start(MindScript {
        faults: Some(faults),
        ..MindScript::default()
    })
}

/// Runs one call that fails, with these flags. Returns the number of requests and the error.
fn failed(stub: &MindStub, flags: &str) -> (usize, Value) {
    let place = Place::new();
    place.experiment("E");
    let run = format!("run E --minds 1 --rounds 1 --on-error skip {flags}");
    place.asking(stub, &words(&run)).exits(3);
    place.alone(&["verify", "E"]).exits(0);
    let events = events(&place, "E");
    let requests = stub.stats().requests;
    stub.forget();
    (requests, of_type(&events, "error")[0].clone())
}

#[test]
fn n20_a_call_has_as_many_attempts_as_the_flag_says() {
    let stub = failing(MindFault::Server);
    for (flags, attempts) in [("", 3), ("--retries 0", 1), ("--retries 5", 6)] {
        let (requests, error) = failed(&stub, flags);
        assert_eq!((requests, &error["class"]), (attempts, &json!("server")));
        assert_eq!(error["attempts"].as_array().unwrap().len(), attempts);
    }
}

#[test]
fn n20_a_longer_wait_than_allowed_is_not_waited_for() {
    let stub = failing(MindFault::TooMany);
    // The server asks for five milliseconds.
    let (requests, error) = failed(&stub, "--retry-wait 1");
    assert_eq!((requests, &error["class"]), (3, &json!("rate_limit")));
    let (requests, error) = failed(&stub, "--retry-wait 0");
    assert_eq!((requests, &error["class"]), (1, &json!("rate_limit")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("longer than allowed"), "{message}");
}

#[test]
fn n20_a_silent_server_is_given_up_at_the_limit_of_the_flag() {
    let stub = MindStub::start(MindScript {
        hold: 0..usize::MAX,
        ..MindScript::default()
    });
    for (flags, words) in [
        ("--call-timeout 1", "no whole reply within 1 s"),
        ("--first-byte-timeout 1", "no first byte within 1 s"),
        ("--call-timeout 1 --first-byte-timeout 0", "within 1 s"),
    ] {
        let (requests, error) = failed(&stub, &format!("--retries 0 {flags}"));
        assert_eq!((requests, &error["class"]), (1, &json!("timeout")));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_resumed_run_takes_other_limits_and_records_them() {
    let (place, stub) = (Place::new(), MindStub::start(MindScript::default()));
    place.experiment("E");
    place
        .asking(&stub, &words("run E --minds 1 --rounds 1 --seed 1"))
        .exits(0);
    let flags = "--rounds 2 --retries 1 --retry-wait 5 --call-timeout 9 --first-byte-timeout 8 --on-error stop";
    place.resuming(&stub, "E", &words(flags)).exits(0);
    let events = events(&place, "E");
    let mut changed = of_type(&events, "run_resumed")[0]["changed"].clone();
    let address = changed.as_object_mut().unwrap().remove("api_base_url");
    assert_eq!(address, None);
    let expected = json!({
        "max_rounds": [1, 2], "retries": [2, 1], "retry_wait": [60, 5], "call_timeout": [null, 9],
        "first_byte_timeout": [null, 8], "on_error": ["skip", "stop"],
    });
    assert_eq!(changed, expected);
    let effective = place.read_json("E/config.effective.json");
    assert_eq!(
        (&effective["call_timeout"], &effective["retries"]),
        (&json!(9), &json!(1))
    );
    place.alone(&["verify", "E"]).exits(0);
    // Such settings do not make another run of it.
    place.experiment("C");
    place
        .asking(
            &stub,
            &words("run C --minds 1 --rounds 1 --seed 1 --retries 7 --call-timeout 5"),
        )
        .exits(0);
    place.experiment("D");
    place
        .asking(&stub, &words("run D --minds 1 --rounds 1 --seed 1"))
        .exits(0);
    place.alone(&["diff", &path("C"), &path("D")]).exits(0);
}

#[cfg(unix)]
#[test]
fn n20_a_call_that_is_not_given_up_has_a_line_for_each_wait_and_a_signal_ends_it() {
    use std::io::{BufRead as _, BufReader};

    use crate::program::{finish, signal};

    for scheduling in ["sequential", "snapshot"] {
        let (place, stub) = (Place::new(), failing(MindFault::TooMany));
        place.experiment("E");
        let run = format!("--minds 2 --rounds 2 --seed 1 --scheduling {scheduling}");
        let begin = format!("run E {run} --on-error wait --retries 0");
        let mut child = place.start_asking(&stub, &words(&begin));
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = stderr.find_map(|line| line.ok().filter(|line| line.contains("waits")));
        let line = line.unwrap();
        let start = "mind 0 of round 1 waits 60 s and is called again: rate_limit: HTTP 429";
        let other = start.replace("mind 0", "mind 1");
        assert!(
            line.starts_with(start) || line.starts_with(&other),
            "{line}"
        );
        signal(child.id(), "-INT");
        // Its lines are read to the end, so that it does not wait for a reader.
        stderr.for_each(drop);
        finish(child).exits(130);
        let before = events(&place, "E");
        let last = before.last().unwrap();
        assert_eq!(
            (&last["type"], &last["cause"]),
            (&json!("run_interrupted"), &json!("signal"))
        );
        assert_eq!(calls(&before).len() + of_type(&before, "error").len(), 0);
        stub.set(MindScript::default());
        place.resuming(&stub, "E", &[]).exits(0);
        place.alone(&["verify", "E"]).exits(0);
        place.experiment("C");
        let whole = format!("run C {run} --on-error wait");
        place.asking(&stub, &words(&whole)).exits(0);
        place.alone(&["diff", "E", "C"]).exits(0);
    }
}

#[test]
fn scripted_minds_are_not_waited_for() {
    let place = Place::new();
    place.experiment("E");
    let words = "--on-error wait: --provider offline asks no model; leave --on-error wait out";
    let run = ["run", "E", "--on-error", "wait"];
    place.alone(&run).exits(2).tells(&[words]);
    place.alone(&["run", "E", "--rounds", "1"]).exits(0);
    let resume = ["resume", "E", "--rounds", "2", "--on-error", "wait"];
    place.alone(&resume).exits(2).tells(&[words]);
    place.alone(&["verify", "E"]).exits(0);
}

#[test]
fn l14_a_round_in_which_more_than_a_fifth_of_the_calls_failed_is_reported_once() {
    for (every, warned) in [(5, 0), (4, 1), (2, 1)] {
        let stub = MindStub::start(MindScript {
            fail_every: Some(every),
            ..MindScript::default()
        });
        let place = Place::new();
        place.experiment("E");
        let run = "run E --minds 5 --rounds 6 --seed 1 --retries 0 --on-error skip";
        let ran = place.asking(&stub, &words(run)).exits(3);
        let lines = (ran.stderr.lines()).filter(|line| line.contains("of 5 calls of round"));
        let lines: Vec<_> = lines.collect();
        assert_eq!(lines.len(), warned, "{every}: {lines:?}");
        if let [line] = lines[..] {
            assert!(
                line.starts_with("logosphere: 2 of 5 calls of round"),
                "{line}"
            );
            assert!(line.contains("the first was mind"), "{line}");
        }
    }
}
