//! Settings that flags give, when a run begins and when it is resumed.

use serde_json::json;

use crate::journal::{events, of_type, path};
use crate::program::{Place, words};

#[test]
fn l02_a_resume_with_a_value_out_of_range_is_refused_in_the_words_of_a_run() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "1", "--seed", "1"])
        .exits(0);
    let before = place.bytes(&path("E"));
    let effective = place.bytes("E/config.effective.json");
    for (flag, value, words) in [
        (
            "--loss-above",
            "50",
            "stop.loss_above: expected a number from 0 to 1, found 50.0",
        ),
        (
            "--loss-above",
            "1.5",
            "stop.loss_above: expected a number from 0 to 1, found 1.5",
        ),
        (
            "--concurrency",
            "5000",
            "concurrency: expected a whole number from 1 to 1000, found 5000",
        ),
        (
            "--call-timeout",
            "0",
            "call_timeout: expected a whole number from 1 to 3600, found 0",
        ),
        (
            "--first-byte-timeout",
            "3601",
            "first_byte_timeout: expected a whole number from 0 to 3600, found 3601",
        ),
        (
            "--retries",
            "21",
            "retries: expected a whole number from 0 to 20, found 21",
        ),
        (
            "--retry-wait",
            "3601",
            "retry_wait: expected a whole number from 0 to 3600, found 3601",
        ),
    ] {
        place.experiment("N");
        place
            .alone(&["run", "N", flag, value])
            .exits(2)
            .tells(&[words]);
        place
            .alone(&["resume", "E", "--rounds", "2", flag, value])
            .exits(2)
            .tells(&[words]);
        assert_eq!(place.bytes(&path("E")), before);
        assert_eq!(place.bytes("E/config.effective.json"), effective);
    }
    place.alone(&["verify", "E"]).exits(0);
}

#[test]
fn a_run_with_a_cap_of_messages_out_of_range_is_refused_in_the_words_of_the_settings() {
    let place = Place::new();
    place.experiment("E");
    for (flag, value, words) in [
        (
            "--max-messages",
            "1000001",
            "max_messages: expected a whole number from 0 to 1000000, found 1000001",
        ),
        ("--max-messages", "-1", "--max-messages"),
        ("--max-message-chars", "x", "--max-message-chars"),
    ] {
        let flag = format!("{flag}={value}");
        place.alone(&["run", "E", &flag]).exits(2).tells(&[words]);
        assert_eq!(place.names("E"), ["init.md"]);
    }
}

#[test]
fn l02_no_rounds_of_silence_and_a_loss_above_one_mean_never() {
    let never = ["--silence-rounds", "0", "--loss-above", "1"];
    let place = Place::new();
    place.experiment("E");
    place
        .alone(
            &[
                &["run", "E", "--mind", "silent", "--rounds", "3"],
                &never[..],
            ]
            .concat(),
        )
        .exits(0);
    let rounds = |name| of_type(&events(&place, name), "round_end").len();
    assert_eq!(rounds("E"), 3);
    assert_eq!(
        events(&place, "E")[0]["effective"]["stop"]["silence_rounds"],
        json!(0)
    );
    // A run that a rule has ended continues without the rule.
    place.experiment("R");
    place
        .alone(&words("run R --mind silent --rounds 9 --silence-rounds 2"))
        .exits(0);
    assert_eq!(rounds("R"), 2);
    place
        .alone(&[&["resume", "R", "--rounds", "10"], &never[..]].concat())
        .exits(0);
    assert_eq!(rounds("R"), 10);
    for name in ["E", "R"] {
        place.alone(&["verify", name]).exits(0);
    }
}
