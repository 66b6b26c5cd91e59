//! API keys that are split over events, by a model that repeats one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;

use super::cassette::RecordedEvent;
use crate::Redactor;
use crate::redact::HIDDEN;

/// The texts of one field over all events, in their order.
#[derive(Default)]
struct Field {
    joined: String,
    pieces: Vec<FieldPart>,
}

/// The text that one event adds to a field.
#[derive(Clone, Copy)]
struct FieldPart {
    event: usize,
    /// The number of the text in its event.
    number: usize,
    /// The start in the joined text.
    start: usize,
}

/// A range of bytes to remove from a text, and whether `[redacted]` replaces it.
struct Cut {
    range: Range<usize>,
    marked: bool,
}

/// Hides each key in the joined texts of several events: its first part becomes `[redacted]`, the others are removed. Only
/// events with a part of a key change.
pub(super) fn hide_split(events: &mut [RecordedEvent], keys: &Redactor) {
    let mut fields: HashMap<String, Field> = HashMap::new();
    for (event, recorded) in events.iter().enumerate() {
        let mut number = 0;
        each_text(&recorded.data, |path, text| {
            if !fields.contains_key(path) {
                fields.insert(path.to_owned(), Field::default());
            }
            if let Some(field) = fields.get_mut(path) {
                let start = field.joined.len();
                field.joined.push_str(text);
                field.pieces.push(FieldPart {
                    event,
                    number,
                    start,
                });
            }
            number += 1;
        });
    }
    let mut cuts: BTreeMap<usize, BTreeMap<usize, Vec<Cut>>> = BTreeMap::new();
    for field in fields.values().filter(|field| field.pieces.len() > 1) {
        let mut found = keys.find(&field.joined);
        found.sort_by_key(|key| key.start);
        // Two headers may hold the same key, or one key a part of the other.
        found.dedup_by(|key, before| key.start < before.end);
        for key in found {
            for (piece, cut) in field.cuts(&key) {
                let of_event = cuts.entry(piece.event).or_default();
                of_event.entry(piece.number).or_default().push(cut);
            }
        }
    }
    for (event, mut of_event) in cuts {
        let mut number = 0;
        let changed = each_text(&events[event].data, |_, text| {
            // From the last one, so that the places of the others stay true.
            let mut cuts = of_event.remove(&number).unwrap_or_default();
            cuts.sort_by_key(|cut| std::cmp::Reverse(cut.range.start));
            for Cut { range, marked } in cuts {
                text.replace_range(range, if marked { HIDDEN } else { "" });
            }
            number += 1;
        });
        if let Some(changed) = changed {
            events[event].data = changed.to_string();
        }
    }
}

impl Field {
    /// The cuts that remove `key`, a range of the joined text, from the parts.
    fn cuts(&self, key: &Range<usize>) -> impl Iterator<Item = (FieldPart, Cut)> {
        let first = self
            .pieces
            .partition_point(|piece| piece.start <= key.start);
        let ends = self.pieces.iter().skip(1).map(|next| next.start);
        let ends = ends.chain([self.joined.len()]);
        self.pieces
            .iter()
            .zip(ends)
            .skip(first - 1)
            .take_while(|(piece, _)| piece.start < key.end)
            .map(|(piece, end)| {
                let from = key.start.max(piece.start) - piece.start;
                let to = key.end.min(end) - piece.start;
                let marked = piece.start <= key.start;
                let range = from..to;
                (*piece, Cut { range, marked })
            })
            .filter(|(_, cut)| !cut.range.is_empty())
    }
}

/// Visits every text of an event's JSON object with the path of its field; gives the object as it is afterwards, or
/// `None` if the data is something else.
fn each_text(data: &str, mut visit: impl FnMut(&str, &mut String)) -> Option<Value> {
    let mut object = serde_json::from_str(data).ok()?;
    each_text_of(&mut object, &mut String::new(), &mut visit);
    Some(object)
}

fn each_text_of(value: &mut Value, path: &mut String, visit: &mut impl FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => visit(path, text),
        Value::Array(list) => {
            for item in list {
                each_text_of(item, path, visit);
            }
        }
        Value::Object(fields) => {
            let outer = path.len();
            // Blocks, choices and tool calls are told apart by their number and not by their place in a list.
            if let Some(index) = fields.get("index").and_then(Value::as_u64) {
                let _ = write!(path, "/{index}");
            }
            let inner = path.len();
            for (name, value) in fields {
                path.push('/');
                // Deltas continue the text that their block starts with.
                path.push_str(match name.as_str() {
                    "content_block" => "delta",
                    name => name,
                });
                each_text_of(value, path, visit);
                path.truncate(inner);
            }
            path.truncate(outer);
        }
        _ => {}
    }
}
