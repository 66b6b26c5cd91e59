//! The estimate of a run before its first call.

use serde_json::Value;
use test_support::{MindMode, MindScript, MindStub};

use crate::journal::{calls, events};
use crate::program::{Place, Ran, finish, server, start};

/// Calls, tokens and dollars of a forecast are within a tenth of those of the run.
#[track_caller]
fn is_near(forecast: &str, place: &Place, experiment: &str) {
    let forecast: Value = serde_json::from_str(forecast).unwrap();
    let events = events(place, experiment);
    let end = events.last().unwrap();
    assert_eq!(forecast["calls"], calls(&events).len());
    for (forecast_of, actual_of) in [
        ("/prompt_tokens", "/tokens/prompt"),
        ("/completion_tokens", "/tokens/completion"),
        ("/usd", "/cost_usd"),
    ] {
        let number =
            |value: &Value, pointer| value.pointer(pointer).and_then(Value::as_f64).unwrap();
        let (said, was) = (number(&forecast, forecast_of), number(end, actual_of));
        assert!(
            (said - was).abs() <= was / 10.0,
            "{forecast_of}: {said}, but it was {was}"
        );
    }
}

/// A model whose price is known.
fn priced(stub: &MindStub) -> [String; 6] {
    let url = stub.messages_url();
    [
        "--provider",
        "anthropic",
        "--model",
        "claude-haiku-4-5",
        "--base-url",
        &url,
    ]
    .map(str::to_owned)
}

fn with_price(place: &Place, stub: &MindStub, line: &str) -> Ran {
    let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
    finish(start(command.args(priced(stub))))
}

#[test]
fn nothing_is_sent_or_written() {
    let (place, stub) = (Place::new(), MindStub::start(MindScript::default()));
    place.experiment("E");
    let flags = ["--minds", "5", "--rounds", "20", "--seed", "1"];
    let ran = place
        .asking(&stub, &[&["run", "E", "--dry-run"][..], &flags].concat())
        .exits(0);
    assert!(ran.stdout.contains("100"), "calls\n{}", ran.stdout);
    let ran = place
        .asking(&stub, &[&["estimate", "E"][..], &flags].concat())
        .exits(0);
    assert!(ran.stdout.contains("100"), "calls\n{}", ran.stdout);
    assert_eq!(stub.stats().requests, 0);
    assert_eq!(place.names("E"), ["init.md"]);
}

/// The averages of a short run give the estimate of a long one.
#[test]
fn a_measured_forecast_comes_near_the_run() {
    for scheduling in ["sequential", "snapshot"] {
        let stub = MindStub::start(MindScript::default());
        let place = Place::new();
        for (name, rounds) in [("short", 5), ("long", 25)] {
            place.experiment(name);
            let line = format!(
                "run {name} --minds 4 --seed 3 --rounds {rounds} --scheduling {scheduling}"
            );
            with_price(&place, &stub, &line).exits(0);
        }
        let ran = place
            .alone(&["estimate", "short", "--rounds", "25", "--json"])
            .exits(0);
        is_near(&ran.stdout, &place, "long");
    }
}

/// Without measured answers only their length is given. The share of an answer that is sent is unknown.
#[test]
fn a_first_forecast_knows_calls_and_answers() {
    let stub = MindStub::start(MindScript {
        mode: MindMode::Literal {
            texts: 2,
            bytes: 200,
        },
        ..MindScript::default()
    });
    let place = Place::new();
    place.experiment("E");
    let flags = "E --minds 4 --rounds 20 --seed 3";
    let forecast = format!("estimate {flags} --answer-tokens 108 --json");
    let ran = with_price(&place, &stub, &forecast).exits(0);
    assert_eq!(stub.stats().requests, 0);
    with_price(&place, &stub, &format!("run {flags}")).exits(0);
    let forecast: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(forecast["calls"], stub.stats().requests);
    let billed = stub.stats().billed.completion;
    let said = forecast["completion_tokens"].as_u64().unwrap();
    assert!(
        said.abs_diff(billed) <= billed / 10,
        "{said}, but it was {billed}"
    );
}

#[test]
fn a_model_without_a_price_has_no_cost() {
    let place = Place::new();
    place.experiment("E");
    let mut command = place.command(&["estimate", "E", "--json"]);
    let ran = finish(start(command.args(server("http://127.0.0.1:9/v1")))).exits(0);
    let forecast: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(forecast["usd"], Value::Null, "{forecast}");
    assert_eq!(forecast["calls"], 30);
}
