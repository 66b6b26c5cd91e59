//! The scores that a reply states when it is more than the one object that was asked for.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use super::braces::{balanced, every_balanced};
use super::json::Json;
use super::reply::plain_decimal;
use crate::text::is_js_space;

/// A score that a reply states.
pub(super) struct Stated {
    pub(super) score: f64,
    /// The object with this number; `None` for a number that only contradicts others: one in quotation marks, or one in an
    /// object that is never closed.
    pub(super) object: Option<Json>,
}

/// Every score that `text` states, in its order; `None` if one object states two different ones.
///
/// An object that a judged text contains too is a quotation, and so is one between back-ticks; one inside of
/// `<thinking>` is a draft. None of them states a score.
pub(super) fn stated(text: &str, judged: &[&str]) -> Option<Vec<Stated>> {
    let spans = balanced(text);
    let objects: Vec<(Range<usize>, Json)> = (spans.iter())
        .filter_map(|span| Some((span.clone(), Json::parse(&text[span.clone()])?)))
        .collect();
    let asides = asides(text, &objects);
    let aside = |at: usize| {
        let next = asides.partition_point(|aside| aside.end <= at);
        asides.get(next).is_some_and(|aside| aside.start <= at)
    };
    let quoted = objects_with_score(judged);
    let mut found: Vec<(usize, Stated)> = Vec::new();
    for (span, object) in objects {
        if object.get("score").is_none()
            || aside(span.start)
            || quoted.iter().any(|judged| stands_in(&object, judged))
        {
            continue;
        }
        if object.contradicts("score") {
            return None;
        }
        let stated = match object.get("score") {
            Some(Json::Text(score)) => plain_decimal(score).map(|score| (score, None)),
            Some(score) => score.finite().map(|score| (score, Some(object))),
            None => None,
        };
        found.extend(stated.map(|(score, object)| (span.start, Stated { score, object })));
    }
    let mut at = 0;
    let end = text.len();
    let between = spans.iter().map(|span| (span.start, span.end));
    for (start, next) in between.chain([(end, end)]) {
        for (place, score) in unclosed(&text[at..start]) {
            if !aside(at + place) {
                found.push((
                    at + place,
                    Stated {
                        score,
                        object: None,
                    },
                ));
            }
        }
        at = next;
    }
    found.sort_by_key(|(at, _)| *at);
    Some(found.into_iter().map(|(_, stated)| stated).collect())
}

/// The objects of `text` that begin with their score and are never closed: place and number.
fn unclosed(text: &str) -> impl Iterator<Item = (usize, f64)> + '_ {
    text.match_indices('{').filter_map(|(at, brace)| {
        let rest = text[at + brace.len()..].trim_start_matches(is_js_space);
        let rest = rest
            .strip_prefix("\"score\"")?
            .trim_start_matches(is_js_space);
        let rest = rest.strip_prefix(':')?.trim_start_matches(is_js_space);
        let end = rest.find(|char: char| !(char.is_ascii_digit() || "+-.eE".contains(char)));
        let number: f64 = rest[..end.unwrap_or(rest.len())].parse().ok()?;
        number.is_finite().then_some((at, number))
    })
}

/// What is inside of `<thinking>` or between back-ticks. Three back-ticks are a fence and quote nothing; what an object
/// holds is its own.
fn asides(text: &str, objects: &[(Range<usize>, Json)]) -> Vec<Range<usize>> {
    let mut asides = Vec::new();
    let (mut thinking, mut tick): (Option<usize>, Option<usize>) = (None, None);
    let (mut at, mut next) = (0, objects.iter().map(|(span, _)| span).peekable());
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        if let Some(object) = next.next_if(|object| object.start <= at) {
            at = at.max(object.end);
            continue;
        }
        let tag = |tags: [&str; 2]| {
            tags.into_iter().any(|tag| {
                here.get(..tag.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(tag.as_bytes()))
            })
        };
        let mut step = 1;
        if let Some(start) = thinking {
            if tag(["</thinking>", "</think>"]) {
                asides.push(start..at);
                thinking = None;
            }
        } else if tag(["<thinking>", "<think>"]) {
            (thinking, tick) = (Some(at), None);
        } else if here[0] == b'`' {
            step = here.iter().take_while(|byte| **byte == b'`').count();
            if step < 3 {
                match tick.take() {
                    Some(start) => asides.push(start..at),
                    None => tick = Some(at),
                }
            }
        }
        at += step;
    }
    asides.extend(thinking.map(|start| start..text.len()));
    asides
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
