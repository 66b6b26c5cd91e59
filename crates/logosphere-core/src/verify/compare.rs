//! The comparison of two journals.

use std::io::BufRead;

use serde_json::Value;

use crate::journal::{Line, ReadError, Reader};

/// Fields about time, place and effort, which are ignored.
const IGNORED_FIELDS: [&str; 8] = [
    "timestamp",
    "seq",
    "chain",
    "run_id",
    "latency_ms",
    "attempts",
    "software",
    "own",
];
/// Settings that do not affect the events. The hash is that of the file with all settings.
const IGNORED_SETTINGS: [&str; 10] = [
    "concurrency",
    "durability",
    "caps",
    "api_base_url",
    "call_timeout",
    "first_byte_timeout",
    "retries",
    "retry_wait",
    "software",
    "config_sha256",
];
/// Events of processes, which are ignored.
const IGNORED_EVENTS: [&str; 4] = ["run_interrupted", "run_resumed", "error", "forked"];

/// The result of comparing two journals.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two runs are equal or differ")]
pub enum Comparison {
    /// The journals are equal, with this number of events.
    Equal(u64),
    /// The journals differ; this is the first difference.
    Different(Difference),
}

/// The first difference of two journals.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The lines, from 1; `None` where a journal has ended.
    pub lines: [Option<u64>; 2],
    /// The field, such as `parse.reason`; `type` if the events are of different types.
    pub field: String,
    /// The value in each journal.
    pub values: [String; 2],
}

/// Compares the canonical forms of two journals: all events except those of processes.
///
/// Times, chain, attempts and settings that do not affect the events are left out.
///
/// # Errors
/// A journal cannot be read: its index (0 or 1) and the error.
pub fn compare(a: impl BufRead, b: impl BufRead) -> Result<Comparison, (usize, ReadError)> {
    let (mut a, mut b) = (Reader::new(a), Reader::new(b));
    let mut events = 0;
    loop {
        let ours = canonical(&mut a).map_err(|error| (0, error))?;
        let theirs = canonical(&mut b).map_err(|error| (1, error))?;
        let lines = [&ours, &theirs].map(|event| event.as_ref().map(|(number, _)| *number));
        let different = |field, values| {
            Ok(Comparison::Different(Difference {
                lines,
                field,
                values,
            }))
        };
        match (ours, theirs) {
            (None, None) => return Ok(Comparison::Equal(events)),
            (Some((_, ours)), Some((_, theirs))) => {
                if ours["type"] != theirs["type"] {
                    let values = [&ours, &theirs].map(|event| shown(&event["type"]));
                    return different("type".to_owned(), values);
                }
                if let Some((field, ours, theirs)) = first_difference(&ours, &theirs) {
                    return different(field, [ours, theirs]);
                }
            }
            (ours, theirs) => {
                let values = [ours, theirs].map(|event| match event {
                    Some((_, event)) => shown(&event["type"]),
                    None => "the end of the journal".to_owned(),
                });
                return different("type".to_owned(), values);
            }
        }
        events += 1;
    }
}

/// Returns the next event of the run with its line.
fn canonical(reader: &mut Reader<impl BufRead>) -> Result<Option<(u64, Value)>, ReadError> {
    while let Some(entry) = reader.next_entry()? {
        if let Some(Line { event, .. }) = &entry.line
            && IGNORED_EVENTS.contains(&event.kind())
        {
            continue;
        }
        // The reader has read it as JSON.
        let mut event: Value = serde_json::from_slice(&entry.bytes).unwrap_or(Value::Null);
        strip(&mut event, &IGNORED_FIELDS);
        strip(&mut event["effective"], &IGNORED_SETTINGS);
        // A replay of recorded answers needs no key, and so no header for one.
        let template = &mut event["request_template"];
        strip(template, &["header_names"]);
        if let Some(further) = template.get_mut("further").and_then(Value::as_array_mut) {
            for template in further {
                strip(template, &["header_names"]);
            }
        }
        return Ok(Some((entry.number, event)));
    }
    Ok(None)
}

fn strip(value: &mut Value, names: &[&str]) {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
}

/// Returns the path of the first difference of two values, and both values there.
pub(crate) fn first_difference(a: &Value, b: &Value) -> Option<(String, String, String)> {
    let below = |name: String, found: Option<(String, String, String)>| {
        found.map(|(path, a, b)| {
            let dot = if path.is_empty() || path.starts_with('[') {
                ""
            } else {
                "."
            };
            (format!("{name}{dot}{path}"), a, b)
        })
    };
    match (a, b) {
        _ if a == b => None,
        (Value::Object(ours), Value::Object(theirs)) => {
            let missing = theirs.keys().filter(|name| !ours.contains_key(*name));
            ours.keys().chain(missing).find_map(|name| {
                let side = |fields: &serde_json::Map<String, Value>| fields.get(name).cloned();
                match (side(ours), side(theirs)) {
                    (Some(a), Some(b)) => below(name.clone(), first_difference(&a, &b)),
                    (a, b) => {
                        let text = |value: Option<Value>| {
                            value.map_or("nothing".to_owned(), |value| shown(&value))
                        };
                        Some((name.clone(), text(a), text(b)))
                    }
                }
            })
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            let pairs = ours.iter().zip(theirs).enumerate();
            pairs
                .into_iter()
                .find_map(|(at, (a, b))| below(format!("[{at}]"), first_difference(a, b)))
        }
        _ => Some((String::new(), shown(a), shown(b))),
    }
}

/// Returns a value for a message: JSON, at most 200 characters.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
