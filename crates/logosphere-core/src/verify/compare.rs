//! Whether two journals tell of the same run.

use std::io::BufRead;

use serde_json::Value;

use crate::journal::{Line, ReadError, Reader};

/// Fields that say when, where and how hard, and not what.
const IGNORED_FIELDS: [&str; 7] = [
    "timestamp",
    "seq",
    "chain",
    "run_id",
    "latency_ms",
    "attempts",
    "software",
];
/// Settings that change nothing of what happens. The hash is of the file that holds them.
const IGNORED_SETTINGS: [&str; 6] = [
    "concurrency",
    "durability",
    "caps",
    "api_base_url",
    "software",
    "config_sha256",
];
/// Events of processes, not of the run.
const IGNORED_EVENTS: [&str; 3] = ["run_interrupted", "run_resumed", "error"];

/// What a comparison of two journals found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// They tell the same, in so many events.
    Equal(u64),
    /// They do not.
    Different(Difference),
}

/// The first thing that two journals tell differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The lines, from 1; none where a journal has ended.
    pub lines: [Option<u64>; 2],
    /// The field, such as `parse.reason`; `type` where the events are of different types.
    pub field: String,
    /// What each says.
    pub values: [String; 2],
}

/// Compares the canonical forms of two journals: all events but those of processes, without times, chain, tries and
/// settings that change nothing.
///
/// # Errors
/// One of them cannot be read: which (0 or 1), and why.
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

/// The next event that belongs to the run, with its line.
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
        strip(&mut event["request_template"], &["header_names"]);
        return Ok(Some((entry.number, event)));
    }
    Ok(None)
}

fn strip(value: &mut Value, names: &[&str]) {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
}

/// Where two values differ first, and what they are there.
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

/// A value as a message shows it: JSON, 200 characters at most.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
