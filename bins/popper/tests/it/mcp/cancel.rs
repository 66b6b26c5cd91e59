//! A cancelled call ends soon, and has no answer.

use serde_json::{Value, json};

use super::wire;
use crate::process::law;

fn cancel(id: u32) -> Value {
    let params = json!({"requestId": id, "reason": "no longer of interest"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// A universe of 8 symbols in which each `a` stays, and no other cell becomes one.
fn slow() -> Value {
    let symbols: Vec<char> = "abcdefgh".chars().collect();
    let mut table = serde_json::Map::new();
    for (x, left) in symbols.iter().enumerate() {
        for (y, cell) in symbols.iter().enumerate() {
            for (z, right) in symbols.iter().enumerate() {
                let other = symbols[1 + (x * 5 + y * 3 + z * z * 11 + x * z) % 7];
                let next = if *cell == 'a' { 'a' } else { other };
                table.insert(format!("{left}{cell}{right}"), next.to_string().into());
            }
        }
    }
    json!({"id": "slow", "symbols": "abcdefgh", "radius": 1, "rule": {"table": table}})
}

/// A law that takes half a minute in that universe: it holds, and no method proves it.
fn endless(law_id: &str) -> Value {
    let mut endless = law(law_id);
    endless["quantifiers"] = json!({"T": 900});
    endless["observables"] = json!([{"name": "r", "expr": "max_gap('a')"}]);
    endless
}

#[test]
fn a_running_call_stops_and_the_next_one_is_answered() {
    let mut wire = wire();
    wire.open();
    let laws: Vec<_> = std::iter::once(law("quick"))
        .chain((0..9).map(|n| endless(&format!("endless_{n}"))))
        .collect();
    wire.call(
        2,
        "check",
        &json!({"laws": laws, "universe": slow(), "exhaustive_n": 14}),
    );
    // The first law is decided, so the second one runs.
    let progress = wire.message();
    assert_eq!(
        progress["params"]["progress"].as_f64(),
        Some(1.0),
        "{progress}"
    );
    assert_eq!(
        progress["params"]["total"].as_f64(),
        Some(10.0),
        "{progress}"
    );
    wire.call(3, "span", &json!({}));
    wire.send(&json!({"jsonrpc": "2.0", "id": 4, "method": "ping"}));
    // All but a call is answered while one runs, and a call that waits can be cancelled, too.
    wire.answer(4);
    wire.call(5, "check", &json!({"laws": laws, "exhaustive_n": 14}));
    wire.send(&cancel(5));
    wire.send(&cancel(2));
    let text = wire.answer(3)["result"]["content"][0]["text"].clone();
    assert!(text.as_str().unwrap().contains("count('X')"), "{text}");
    wire.call(6, "simulate", &json!({"start": ">.<"}));
    assert_eq!(wire.answer(6)["result"]["isError"], false);
    assert!(wire.notified.is_empty(), "{:?}", wire.notified);
    wire.close();
}

#[test]
fn the_end_of_the_client_ends_a_call() {
    let mut wire = wire();
    wire.open();
    let laws = [law("quick"), endless("endless")];
    wire.call(
        2,
        "check",
        &json!({"laws": laws, "universe": slow(), "exhaustive_n": 14}),
    );
    wire.message();
    wire.close();
}
