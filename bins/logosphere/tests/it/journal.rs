//! A journal as plain JSON lines.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::program::Place;

/// Returns the path of an experiment's journal.
pub fn path(experiment: &str) -> String {
    format!("{experiment}/logs/experiment.jsonl")
}

/// Returns the complete lines of an experiment's journal; empty without a file.
pub fn events(place: &Place, experiment: &str) -> Vec<Value> {
    whole_lines(place, &path(experiment))
}

/// Every whole reply in an experiment's spool.
pub fn spooled(place: &Place, experiment: &str) -> Vec<Value> {
    whole_lines(place, &format!("{experiment}/logs/calls.spool.jsonl"))
}

fn whole_lines(place: &Place, name: &str) -> Vec<Value> {
    let bytes = fs::read(place.path(name)).unwrap_or_default();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines
        .filter(|line| line.ends_with(b"\n"))
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// The events of one type.
pub fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect()
}

/// The calls that were committed.
pub fn calls(events: &[Value]) -> Vec<&Value> {
    of_type(events, "mind_invocation")
}

/// Returns the number of events of each type as `type count`, in the order of their first ones.
pub fn outline(events: &[Value]) -> Vec<(String, usize)> {
    let mut outline: Vec<(String, usize)> = Vec::new();
    for event in events {
        let kind = event["type"].as_str().unwrap();
        match outline.iter_mut().find(|(known, _)| known == kind) {
            Some((_, count)) => *count += 1,
            None => outline.push((kind.to_owned(), 1)),
        }
    }
    outline
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// A list of texts.
pub fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().unwrap().iter();
    items.map(|item| item.as_str().unwrap()).collect()
}

/// Returns the journal with `seq` and `chain` computed again, as a forger would do it.
pub fn rechained(events: &[Value], original: &str) -> String {
    let run_id = events[0]["run_id"].as_str().unwrap();
    let mut previous = run_id.to_owned();
    let mut journal = String::new();
    for line in original.lines() {
        let (body, _) = line.rsplit_once(",\"chain\":").unwrap();
        let chain = &sha256(format!("{previous}{body}").as_bytes())[..32];
        let _ = writeln!(journal, "{body},\"chain\":\"{chain}\"}}");
        chain.clone_into(&mut previous);
    }
    journal
}

#[test]
fn a_chain_is_made_as_the_specification_says() {
    let line =
        r#"{"type":"experiment_start","timestamp":"2026-01-02T00:00:00.000Z","seq":0,"run_id":"r""#;
    let event = serde_json::from_str(&format!("{line}}}")).unwrap();
    let chained = rechained(&[event], &format!("{line},\"chain\":\"0\"}}\n"));
    let chain = &sha256(format!("r{line}").as_bytes())[..32];
    assert_eq!(chained, format!("{line},\"chain\":\"{chain}\"}}\n"));
}
