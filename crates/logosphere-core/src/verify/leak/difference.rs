//! The differences of a request from the expected one.

use serde_json::Value;

use super::finding::LeakKind;
use super::request::{shown, shown_json};
use crate::format::SEPARATOR;

/// A difference.
#[derive(Debug, PartialEq)]
pub(super) struct BodyDifference {
    pub kind: LeakKind,
    /// The field, without positions in lists.
    pub about: String,
    pub detail: String,
}

/// Returns the differences of a captured body from the expected one; the two are not equal.
pub(super) fn differences(expected: &[u8], captured: &[u8]) -> Vec<BodyDifference> {
    let body = |about: &str, detail: String| BodyDifference {
        kind: LeakKind::Body,
        about: about.to_owned(),
        detail,
    };
    let [Ok(expected), Ok(found)] = [expected, captured].map(serde_json::from_slice::<Value>)
    else {
        let text = shown(&String::from_utf8_lossy(captured));
        return vec![body("form", format!("it is not JSON: {text}"))];
    };
    let mut differences = Vec::new();
    differ("", &expected, &found, &mut differences);
    if differences.is_empty() {
        let detail = "it has the same content in other bytes, which can carry information";
        differences.push(body("spelling", detail.to_owned()));
    }
    differences
}

fn differ(place: &str, expected: &Value, found: &Value, differences: &mut Vec<BodyDifference>) {
    if expected == found {
        return;
    }
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let more = found.keys().filter(|name| !expected.contains_key(*name));
            for name in expected.keys().chain(more) {
                let place = match place {
                    "" => name.clone(),
                    _ => format!("{place}.{name}"),
                };
                match (expected.get(name), found.get(name)) {
                    (Some(expected), Some(found)) => differ(&place, expected, found, differences),
                    (_, Some(found)) => {
                        let detail = format!(
                            "`{place}` with {found} should not be there",
                            found = shown_json(found)
                        );
                        differences.push(difference(&place, detail));
                    }
                    _ => differences.push(difference(&place, format!("`{place}` is missing"))),
                }
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                differ(&format!("{place}[{at}]"), expected, found, differences);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            let odd = found.iter().find(|entry| !expected.contains(entry));
            let odd = odd.map_or(String::new(), |entry| format!(": {}", shown_json(entry)));
            let [expected, found] = [expected.len(), found.len()];
            let detail = format!("`{place}` has {found} entries, expected {expected}{odd}");
            differences.push(difference(place, detail));
        }
        (Value::String(expected), Value::String(found))
            if place.ends_with("content") || place.ends_with("text") =>
        {
            differences.push(BodyDifference {
                kind: LeakKind::Prompt,
                about: place.to_owned(),
                detail: of_prompts(expected, found),
            });
        }
        (expected, found) => {
            let [expected, found] = [expected, found].map(shown_json);
            let detail = format!("`{place}` is {found}, expected {expected}");
            differences.push(difference(place, detail));
        }
    }
}

fn difference(place: &str, detail: String) -> BodyDifference {
    let about = place.split('[').next().unwrap_or_default();
    BodyDifference {
        kind: if ["messages", "system"].contains(&about) {
            LeakKind::Turn
        } else {
            LeakKind::Field
        },
        about: about.to_owned(),
        detail,
    }
}

/// Returns the difference of a prompt from the expected one.
pub(super) fn of_prompts(expected: &str, found: &str) -> String {
    if let Some(more) = found.strip_prefix(expected) {
        return format!("the prompt is followed by {}", shown(more));
    }
    let pieces = |text: &str| {
        let mut pieces: Vec<String> = text.split(SEPARATOR).map(str::to_owned).collect();
        pieces.sort_unstable();
        pieces
    };
    if pieces(expected) == pieces(found) {
        return "its messages are in another order than they were drawn in".to_owned();
    }
    let (mut expected_rest, mut found_rest) = (expected.chars(), found.chars());
    let mut at = 0;
    loop {
        let rests = [expected_rest.as_str(), found_rest.as_str()];
        match (expected_rest.next(), found_rest.next()) {
            (Some(expected), Some(found)) if expected == found => at += expected.len_utf8(),
            _ => {
                let [expected, found] = rests.map(shown);
                return format!("from byte {at} on it is {found}, expected {expected}");
            }
        }
    }
}

/// Returns the longest text in a body, which is the prompt as it was sent. A body that is not JSON is one text.
pub(super) fn longest_text(body: &[u8]) -> String {
    fn collect(value: Value, longest: &mut String) {
        match value {
            Value::String(text) if text.len() > longest.len() => *longest = text,
            Value::Array(values) => values.into_iter().for_each(|value| collect(value, longest)),
            Value::Object(fields) => fields
                .into_iter()
                .for_each(|(_, value)| collect(value, longest)),
            _ => {}
        }
    }
    let mut longest = String::new();
    match serde_json::from_slice(body) {
        Ok(value) => collect(value, &mut longest),
        Err(_) => longest = String::from_utf8_lossy(body).into_owned(),
    }
    longest
}

/// Returns the similarity of two prompts.
///
/// It is whether they are equal, then the bytes of whole messages that both contain less those that one lacks, then the
/// bytes of the common start and end.
pub(super) fn likeness(expected: &str, found: &str) -> (bool, isize, usize) {
    let pieces: Vec<_> = found.split(SEPARATOR).collect();
    let shared = (expected.split(SEPARATOR)).map(|piece| {
        let len = piece.len() as isize;
        if pieces.contains(&piece) { len } else { -len }
    });
    let begin = expected.bytes().zip(found.bytes());
    let end = expected.bytes().rev().zip(found.bytes().rev());
    let common = begin.take_while(|(one, other)| one == other).count()
        + end.take_while(|(one, other)| one == other).count();
    (expected == found, shared.sum(), common)
}
