//! The scores that a reply states when it is more than the one object that was asked for.

use std::collections::HashSet;
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

/// Every score of 0 to `max` that `text` states: those of its objects, in their order, and those of the prose around them;
/// `None` if one of them cannot be read, or one object states two different ones.
///
/// An object that a judged text contains too is a quotation, and so is one directly between back-ticks; one inside of
/// `<thinking>` is a draft. None of them states a score. What looks like an object and is no JSON is prose.
pub(super) fn stated(text: &str, max: u8, judged: &[&str]) -> Option<Vec<Stated>> {
    let objects: Vec<_> = (balanced(text).into_iter())
        .filter_map(|span| Some((span.clone(), Json::parse(&text[span])?)))
        .collect();
    let drafts = thinking(text);
    let code = code(text, &objects, &drafts);
    let within = |parts: &[Range<usize>], at| parts.iter().any(|part| part.contains(&at));
    let quoted = objects_with_score(judged);
    let mut found = Vec::new();
    let mut heard = drafts.clone();
    for (span, object) in objects {
        let Some(score) = object.get("score").filter(|_| !within(&drafts, span.start)) else {
            continue;
        };
        if is_ticked(text, &span)
            || within(&code, span.start)
            || quoted.iter().any(|judged| stands_in(&object, judged))
        {
            heard.push(span);
            continue;
        }
        if object.contradicts("score") {
            return None;
        }
        if let Some(score) = score.finite() {
            heard.push(span);
            let object = Some(object);
            found.push(Stated { score, object });
        }
    }
    for score in prose::scores(&without(text, heard), max) {
        let (score, object) = (score?, None);
        found.push(Stated { score, object });
    }
    Some(found)
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

/// What is between two runs of one or two back-ticks of equal length in one paragraph; back-ticks in objects and drafts are theirs.
fn code(
    text: &str,
    objects: &[(Range<usize>, Json)],
    drafts: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let (mut at, mut next) = (0, objects.iter().map(|(span, _)| span).peekable());
    while at < text.len() {
        if let Some(draft) = drafts.iter().find(|draft| draft.contains(&at)) {
            (at, open) = (draft.end, None);
            continue;
        }
        if let Some(object) = next.next_if(|object| object.start <= at) {
            at = at.max(object.end);
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

/// What is inside of `<thinking>` or `<think>`, to the end if it is never closed.
fn thinking(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(start) = first(&lower[at..], ["<thinking>", "<think>"]) {
        let start = at + start;
        let end = first(&lower[start..], ["</thinking>", "</think>"]);
        let end = end.map_or(text.len(), |end| start + end);
        parts.push(start..end);
        at = end;
    }
    parts
}

/// The place of the first of these words.
fn first(text: &str, words: [&str; 2]) -> Option<usize> {
    words.into_iter().filter_map(|word| text.find(word)).min()
}

/// The entries of every object with a score in these texts, at any depth, also inside of a JSON string.
pub(crate) fn objects_with_score(texts: &[&str]) -> Vec<Vec<(String, Value)>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for text in texts {
        let unescaped = text.contains("\\\"").then(|| text.replace("\\\"", "\""));
        for text in [*text].into_iter().chain(unescaped.as_deref()) {
            let spans = every_balanced(text).into_iter();
            for span in spans.filter(|span| seen.insert(text[span.clone()].to_owned())) {
                if let Some(Json::Object(entries)) = Json::parse(&text[span])
                    && entries.iter().any(|(key, _)| key == "score")
                {
                    let entries = entries.into_iter();
                    found.push(
                        entries
                            .map(|(key, value)| (key, value.into_value()))
                            .collect(),
                    );
                }
            }
        }
    }
    found
}

/// Whether every entry of `object` is one of a judged text's object.
fn stands_in(object: &Json, judged: &[(String, Value)]) -> bool {
    let Json::Object(entries) = object else {
        return false;
    };
    entries.iter().all(|(key, value)| {
        let value = value.clone().into_value();
        judged
            .iter()
            .any(|(name, other)| name == key && *other == value)
    })
}
