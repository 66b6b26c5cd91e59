//! The scores that a reply states when it is more than the one object that was asked for.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use super::braces::{balanced, every_balanced};
use super::json::Json;
use super::prose;

/// A score that a reply states.
pub(super) struct Stated {
    pub(super) score: f64,
    /// The object with this number; `None` for a number in prose, which only contradicts others.
    pub(super) object: Option<Json>,
}

/// Every score of 0 to `max` that `text` states: those of its objects, in their order, and every number in the prose around
/// them; `None` if one of them cannot be read, or one object states two different ones.
///
/// An object that a judged text contains too is a quotation, and so is one directly between back-ticks; one inside of
/// `<thinking>` is a draft. None of them states a score. An object in the middle of a sentence is prose, and so is a piece that
/// looks like an object without being JSON.
pub(super) fn stated(text: &str, max: u8, judged: &[&str]) -> Option<Vec<Stated>> {
    let objects: Vec<_> = (balanced(text).into_iter())
        .filter_map(|span| Some((span.clone(), Json::parse(&text[span])?)))
        .collect();
    let drafts = thinking(text);
    let code = code(text, &objects, &drafts);
    let judged = Judged::new(judged);
    let mut found = Vec::new();
    let mut heard = drafts.clone();
    for (span, object) in objects {
        let Some(score) = object.get("score").filter(|_| !within(&drafts, span.start)) else {
            continue;
        };
        if is_ticked(text, &span) || within(&code, span.start) || judged.holds(&object) {
            heard.push(span);
            continue;
        }
        if object.contradicts("score") {
            return None;
        }
        if let Some(score) = score.finite().filter(|_| begins(&text[..span.start])) {
            heard.push(span);
            let object = Some(object);
            found.push(Stated { score, object });
        }
    }
    for score in prose::numbers(&without(text, heard), max) {
        let (score, object) = (score?, None);
        found.push(Stated { score, object });
    }
    Some(found)
}

/// Whether an object can begin after `before`: not in the middle of a sentence, as in `I do not give {"score": 40}`.
fn begins(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    !before.ends_with(|char: char| char.is_alphanumeric() || "(;=\"'".contains(char))
}

/// The text with an empty line in the place of each of these parts.
fn without(text: &str, mut parts: Vec<Range<usize>>) -> String {
    parts.sort_by_key(|part| part.start);
    let mut rest = String::new();
    let mut at = 0;
    for part in parts {
        if part.start >= at {
            rest.push_str(&text[at..part.start]);
            rest.push_str("\n\n");
            at = part.end;
        }
    }
    rest + &text[at..]
}

/// Whether an object is directly between runs of back-ticks of equal length, shorter than those of a fence.
fn is_ticked(text: &str, span: &Range<usize>) -> bool {
    let (before, behind) = (&text[..span.start], &text[span.end..]);
    let opens = before.len() - before.trim_end_matches('`').len();
    let closes = behind.len() - behind.trim_start_matches('`').len();
    opens == closes && (1..3).contains(&opens)
}

/// Whether a byte is in one of these parts, which are in order and apart.
fn within(parts: &[Range<usize>], at: usize) -> bool {
    let next = parts.partition_point(|part| part.end <= at);
    parts.get(next).is_some_and(|part| part.contains(&at))
}

/// The text between two runs of one or two back-ticks of equal length in one paragraph; back-ticks in objects and drafts are theirs.
fn code(
    text: &str,
    objects: &[(Range<usize>, Json)],
    drafts: &[Range<usize>],
) -> Vec<Range<usize>> {
    let objects = objects.iter().map(|(span, _)| (span.clone(), false));
    let drafts = drafts.iter().map(|draft| (draft.clone(), true));
    let mut skipped: Vec<_> = objects.chain(drafts).collect();
    skipped.sort_by_key(|(part, _)| part.start);
    let mut skipped = skipped.into_iter().peekable();
    let mut parts = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    while at < text.len() {
        if let Some((part, is_draft)) = skipped.next_if(|(part, _)| part.start <= at) {
            open = open.filter(|_| !is_draft || part.end <= at);
            at = at.max(part.end);
            continue;
        }
        let rest = &text.as_bytes()[at..];
        let ticks = rest.iter().take_while(|byte| **byte == b'`').count();
        if rest.starts_with(b"\n\n") {
            open = None;
        } else if (1..3).contains(&ticks) {
            open = match open {
                Some((start, length)) if length == ticks => {
                    parts.push(start..at);
                    None
                }
                None => Some((at, ticks)),
                open => open,
            };
        }
        at += ticks.max(1);
    }
    parts
}

/// The text inside of `<thinking>` or `<think>`, to the end if it is never closed.
fn thinking(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut open = None;
    for (at, _) in text.match_indices('<') {
        let is = |tag: &str| {
            let start = text.as_bytes().get(at..at + tag.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
        };
        match open {
            None if is("<thinking>") || is("<think>") => open = Some(at),
            Some(start) if is("</thinking>") || is("</think>") => {
                parts.push(start..at);
                open = None;
            }
            _ => {}
        }
    }
    parts.extend(open.map(|start| start..text.len()));
    parts
}

/// The entries of every object with a score in these texts, at any depth, also inside of a JSON string: each once, in the order of
/// the texts.
pub(crate) fn objects_with_score(texts: &[&str]) -> Vec<Vec<(String, Value)>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for text in texts {
        let unescaped = text.contains("\\\"").then(|| text.replace("\\\"", "\""));
        for text in [*text].into_iter().chain(unescaped.as_deref()) {
            let objects = every_balanced(text).into_iter();
            for object in objects.filter_map(|span| Json::parse(&text[span])) {
                if let Json::Object(entries) = object
                    && entries.iter().any(|(key, _)| key == "score")
                {
                    let entries = entries.into_iter();
                    let entries: Vec<_> = entries
                        .map(|(key, value)| (key, value.into_value()))
                        .collect();
                    if seen.insert(entries.clone()) {
                        found.push(entries);
                    }
                }
            }
        }
    }
    found
}

/// The objects with a score in the judged texts: for each of their entries the numbers of the objects that have it, in order.
struct Judged(HashMap<(String, Value), Vec<usize>>);

impl Judged {
    fn new(texts: &[&str]) -> Self {
        let mut objects_with: HashMap<_, Vec<usize>> = HashMap::new();
        for (number, entries) in objects_with_score(texts).into_iter().enumerate() {
            for entry in entries {
                objects_with.entry(entry).or_default().push(number);
            }
        }
        Self(objects_with)
    }

    /// Whether every entry of `object` is one of the same judged object.
    fn holds(&self, object: &Json) -> bool {
        let Json::Object(entries) = object else {
            return false;
        };
        let entries = entries.iter().cloned();
        let entries = entries.map(|(key, value)| self.0.get(&(key, value.into_value())));
        let Some(mut numbers) = entries.collect::<Option<Vec<_>>>() else {
            return false;
        };
        numbers.sort_by_key(|numbers| numbers.len());
        numbers.split_first().is_some_and(|(fewest, others)| {
            let in_all = |number| others.iter().all(|one| one.binary_search(number).is_ok());
            fewest.iter().any(in_all)
        })
    }
}
