//! Files of another person, or damaged ones.

use llm_client::batch::Spool;

use super::{Kill, World};
use crate::faults::Wire;

const FIRST: &str = r#""spool":{"id":"0a1b2c3d"}"#;
const PLANNED: &str = r#""planned":{"key":"0a1b2c3d-1","request":{"model":"model-1"}}"#;

/// Opens a spool with these lines, and returns the error.
fn refusal(lines: &[&str]) -> Option<String> {
    let world = World::new(Wire::Anthropic);
    let line =
        |entry: &&str| format!(r#"{{"schema_version":1,"t":"2026-11-21T00:00:00Z",{entry}}}"#);
    let lines: Vec<_> = lines.iter().map(line).collect();
    std::fs::write(world.path(), lines.join("\n") + "\n").unwrap();
    let opened = Spool::open(&world.path(), world.options(&Kill::never()));
    opened.err().map(|error| error.message())
}

/// The id is in each key, which is sent in a body.
#[test]
fn an_id_is_eight_hex_digits() {
    assert_eq!(refusal(&[FIRST]), None);
    for id in [
        r#"a\",\"params\":{}},{\"custom_id\":\"b"#,
        "",
        "0A1B2C3D",
        "0a1b2c3",
        "0a1b2c3d4",
        "0a1b2c3g",
    ] {
        let error = refusal(&[&format!(r#""spool":{{"id":"{id}"}}"#)]).unwrap();
        assert!(error.contains("line 1: expected one id of 8"), "{error}");
    }
    let error = refusal(&[FIRST, FIRST]).unwrap();
    assert!(error.contains("line 2: expected one id of 8"), "{error}");
}

#[test]
fn batches_are_in_the_order_of_their_names() {
    let begun = |name: &str| {
        let most = r#"{"usd":1,"tokens":1,"certain":false}"#;
        format!(
            r#""submitting":{{"batch":"{name}","server":"s","keys":["0a1b2c3d-1"],"most":{most},"discount":500000000}}"#
        )
    };
    let (one, two) = (begun("0a1b2c3d-1"), begun("0a1b2c3d-2"));
    assert_eq!(refusal(&[FIRST, PLANNED, &one, &two]), None);
    for lines in [[&one, &one], [&two, &two]] {
        let error = refusal(&[FIRST, PLANNED, lines[0], lines[1]]).unwrap();
        assert!(error.contains(": expected the batch 0a1b2c3d-"), "{error}");
    }
}

#[test]
fn a_ledger_of_more_calls_than_there_are_is_read() {
    let world = World::new(Wire::Anthropic);
    let line =
        |id: u32, rest: &str| format!("{{\"schema_version\":1,\"id\":\"{id:016x}\",{rest}}}\n");
    let reserve = |calls: u64| {
        format!(r#""batch":"b{calls}","calls":{calls},"reserve":{{"nano_usd":1,"tokens":1}}"#)
    };
    let refund = r#""settle":{"nano_usd":0,"tokens":0,"how":"refund"}"#;
    let lines = [
        line(0, &reserve(u64::MAX)),
        line(1, &reserve(1)),
        line(0, refund),
        line(1, refund),
    ];
    std::fs::write(world.ledger().path(), lines.concat()).unwrap();
    assert_eq!(world.ledger().spent().unwrap().calls, 0);
}
