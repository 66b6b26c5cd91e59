//! `--cost`: what an encoding saves, and what it costs to find that out.

use serde_json::{Value, json};
use test_support::{CompressionStub, StubMode};

use crate::program::Place;

const RUN: [&str; 4] = ["run", "--level", "1", "--cost"];

#[test]
fn the_rules_and_the_wrapper_are_counted_once() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = [&RUN[..], &["--measure-wrapper"]].concat();
    let results = place.asking(&stub, &arguments).exits(0).results();
    // Two texts, two encodings, the rules, and a text of one token.
    assert_eq!(stub.stats().by_role[&("count", 200)], 6);
    let cost = &results[0]["cost"];
    let tokens = cost["rulesTokens"].as_f64().unwrap();
    // 12 tokens become 10. The stub's wrapper has 7, as that of the default model.
    let amortised = |messages: f64| {
        let percent = (12.0 - (10.0 + tokens / messages)) / 12.0 * 100.0;
        (percent * 10.0 + 0.5).floor() / 10.0
    };
    for (pointer, value) in [
        ("/wrapperTokens", 7.0),
        ("/gross/o", 12.0),
        ("/gross/e", 10.0),
        ("/gross/percent", 16.7),
        ("/net/o", 5.0),
        ("/net/e", 3.0),
        ("/net/percent", 40.0),
        ("/amortised/0/percent", amortised(1.0)),
        ("/amortised/1/percent", amortised(10.0)),
        ("/amortised/2/percent", amortised(100.0)),
        ("/amortised/3/percent", 16.7),
        ("/breakEvenMessages", (tokens / 2.0).ceil()),
    ] {
        let found = cost.pointer(pointer).and_then(Value::as_f64);
        assert_eq!(found, Some(value), "{pointer}: {cost}");
    }
    assert_eq!(cost["amortised"][3]["messages"], "inf");
    let total = &results[0]["metadata"]["totalTokensUsed"];
    let spent = total["input"].as_u64().unwrap() + total["output"].as_u64().unwrap();
    assert_eq!(cost["tokensSpent"], spent);
}

#[test]
fn without_a_measure_the_wrapper_of_the_default_model_alone_is_known() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let known = place.asking(&stub, &RUN).exits(0).results();
    assert_eq!(known[0]["cost"]["wrapperTokens"], 7);
    let other = [&RUN[..], &["--model", "another"]].concat();
    let unknown = place.asking(&stub, &other).exits(0).results();
    let cost = &unknown[0]["cost"];
    assert_eq!(cost["wrapperTokens"], Value::Null, "{cost}");
    assert_eq!(cost["net"], Value::Null, "{cost}");
    assert_eq!(cost["gross"]["percent"], json!(16.7));
}

#[test]
fn nothing_is_counted_or_said_unless_it_is_asked_for() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let results = place.asking(&stub, &RUN[..3]).exits(0).results();
    assert_eq!(results[0].get("cost"), None);
    assert_eq!(stub.stats().calls, 12);
}

#[test]
fn what_saves_nothing_never_breaks_even() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("same.jsonl", "{\"id\": \"a\", \"text\": \"a b c\"}\n");
    let arguments = ["run", "--dataset", "same.jsonl", "--cost"];
    let results = place.asking(&stub, &arguments).exits(0).results();
    assert_eq!(results[0]["cost"]["breakEvenMessages"], Value::Null);
}

#[test]
fn z12_costs_say_who_counted() {
    let sources = |mode, more: &[&str]| {
        let (place, stub) = (Place::new(), CompressionStub::start(mode));
        let results = place
            .asking(&stub, &[&RUN[..], more].concat())
            .exits(0)
            .results();
        let cost = &results[0]["cost"];
        (
            cost["rulesTokensSource"].clone(),
            cost["wrapperTokensSource"].clone(),
        )
    };
    assert_eq!(sources(StubMode::Ok, &[]), (json!("api"), json!("table")));
    assert_eq!(
        sources(StubMode::Ok, &["--measure-wrapper"]),
        (json!("api"), json!("measured"))
    );
    assert_eq!(
        sources(StubMode::Ok, &["--model", "another"]),
        (json!("api"), json!("none"))
    );
    assert_eq!(
        sources(StubMode::Count404, &[]),
        (json!("local"), json!("table"))
    );
    // A wrong key ends the run, it does not become an estimate.
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::E401));
    let results = place.asking(&stub, &RUN).exits(1).results();
    assert!(results.iter().all(|result| result.get("cost").is_none()));
    assert_eq!(stub.stats().calls, 1);
}
