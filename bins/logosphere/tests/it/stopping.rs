//! Runs that end before their last round, and runs at the limits of the settings.

use serde_json::{Value, json};
use test_support::{MindForm, MindMode, MindScript, MindStub};

use crate::journal::{calls, events, path};
use crate::program::Place;

fn saying(mode: MindMode) -> MindStub {
    MindStub::start(MindScript {
        mode,
        ..MindScript::default()
    })
}

/// Runs with this config.json; the last event.
fn end(stub: &MindStub, config: &Value) -> (Place, Value) {
    let place = Place::new();
    place.experiment("E");
    place.file("E/config.json", config.to_string());
    place.asking(stub, &["run", "E", "--seed", "1"]).exits(0);
    place.alone(&["verify", &path("E")]).exits(0);
    let last = events(&place, "E").pop().unwrap();
    assert_eq!(last["type"], "experiment_end");
    (place, last)
}

#[test]
fn silence_ends_a_run() {
    let stub = saying(MindMode::Form(MindForm::Silent));
    let (_, last) = end(&stub, &json!({"stop": {"silence_rounds": 2}}));
    assert_eq!(
        (&last["stop_reason"], &last["total_rounds"]),
        (&json!("silence_rounds"), &json!(2))
    );
    // It is off unless it is set.
    let (_, last) = end(&stub, &json!({"max_rounds": 4}));
    assert_eq!(
        (&last["stop_reason"], &last["total_rounds"]),
        (&json!("max_rounds"), &json!(4))
    );
}

#[test]
fn losses_end_a_run_after_fifty_calls() {
    let stub = saying(MindMode::Form(MindForm::Unterminated));
    let (place, last) = end(
        &stub,
        &json!({"stop": {"loss_above": 0.5}, "n_minds": 10, "max_rounds": 9}),
    );
    assert_eq!(
        (&last["stop_reason"], &last["total_rounds"]),
        (&json!("loss_above"), &json!(5))
    );
    assert_eq!(calls(&events(&place, "E")).len(), 50);
    let stub = saying(MindMode::Ok);
    let (_, last) = end(
        &stub,
        &json!({"stop": {"loss_above": 0.5}, "n_minds": 10, "max_rounds": 7}),
    );
    assert_eq!(last["stop_reason"], "max_rounds");
}

#[test]
fn equal_messages_end_a_run() {
    let stub = saying(MindMode::Say("t\n---\nThe same.\n---\n\n---\n".to_owned()));
    let config = json!({"stop": {"fixed_pool": true}, "m_active_pool": 6, "n_minds": 3});
    let (_, last) = end(&stub, &config);
    assert_eq!(
        (&last["stop_reason"], &last["total_rounds"]),
        (&json!("fixed_pool"), &json!(2))
    );
}

#[test]
fn a_run_of_no_rounds_is_one() {
    let (_, last) = end(&saying(MindMode::Ok), &json!({"max_rounds": 0}));
    assert_eq!(
        (&last["total_rounds"], &last["final_pool_size"]),
        (&json!(0), &json!(8))
    );
}

#[test]
fn a_pool_that_forgets_and_events_that_are_only_flushed() {
    let mut pools = Vec::new();
    for (keep, durability) in [("all", "fsync"), ("active", "flush")] {
        for scheduling in ["sequential", "snapshot"] {
            let stub = saying(MindMode::Mix);
            let config = json!({"keep": keep, "durability": durability, "scheduling": scheduling, "m_active_pool": 4});
            let (place, _) = end(&stub, &config);
            let all = events(&place, "E");
            let inputs: Vec<_> = calls(&all)
                .iter()
                .map(|call| call["input_messages"].clone())
                .collect();
            pools.push(inputs);
        }
    }
    assert_eq!(pools[0], pools[2]);
    assert_eq!(pools[1], pools[3]);
    assert_ne!(pools[0], pools[1]);
}

#[test]
fn a_system_prompt_with_a_delimiter_is_warned_about_and_can_be_checked() {
    let place = Place::new();
    place.experiment("E");
    place.file(
        "E/config.json",
        json!({"system_prompt": "Read.\n---\nWrite."}).to_string(),
    );
    let stub = saying(MindMode::Ok);
    let ran = place.asking(&stub, &["run", "E", "--rounds", "2"]).exits(0);
    assert!(
        ran.stderr.contains("---") || ran.stderr.contains("delimiter"),
        "{}",
        ran.stderr
    );
    place.alone(&["verify", &path("E")]).exits(0);
}

#[test]
fn what_minds_write_moves_no_terminal_and_no_browser() {
    let place = Place::new();
    place.experiment("E");
    let stub = saying(MindMode::Form(MindForm::Hostile));
    let ran = place.asking(&stub, &["run", "E", "--rounds", "2"]).exits(0);
    assert!(!ran.all().contains(['\u{1b}', '\u{202e}']), "{}", ran.all());
    let ran = place.alone(&["report", "E"]).exits(0);
    assert!(!ran.all().contains(['\u{1b}', '\u{202e}']), "{}", ran.all());
    let page = place.read("E/report.html");
    for mark in [
        "<script>alert",
        "</script></script>",
        "\u{1b}",
        "src=\"http",
        "href=\"http",
        "url(http",
    ] {
        assert!(!page.contains(mark), "{mark:?}");
    }
    assert!(page.contains("default-src 'none'"));
    place.alone(&["report", "E"]).exits(0);
    assert_eq!(place.read("E/report.html"), page, "the same bytes twice");
}
