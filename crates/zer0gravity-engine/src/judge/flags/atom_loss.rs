//! Commitments of the original that the decoded text lost, changed or invented.

use std::ops::Range;

use atoms::{Comparison, Finding};

/// The findings that a flag names.
const NAMED: usize = 3;

/// The most characters of a clause.
const MOST: usize = 60;

/// The first critical findings, such as `lost: not (open the valve); changed: before -> after (entry)`.
pub(super) fn atom_loss(comparison: &Comparison, original: &str, decoded: &str) -> Option<String> {
    let critical = comparison.critical();
    let words: Vec<_> = critical
        .clone()
        .take(NAMED)
        .map(|finding| words(finding, original, decoded))
        .collect();
    let more = match critical.count().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    (!words.is_empty()).then(|| words.join("; ") + &more)
}

/// A finding in words; an operator with the clause that it is in.
fn words(finding: &Finding, original: &str, decoded: &str) -> String {
    let places = [(&finding.original, original), (&finding.decoded, decoded)];
    let places = places
        .iter()
        .filter_map(|(atom, text)| Some((atom.as_ref()?, text)));
    let said: Vec<_> = places
        .clone()
        .map(|(atom, text)| short(text, &atom.span))
        .collect();
    let clause = places.map(|(atom, text)| short(text, &atom.scope)).next();
    let clause = clause.unwrap_or_default();
    let clause = clause.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    let clause = if said.iter().any(|said| said == clause) {
        String::new()
    } else {
        format!(" ({clause})")
    };
    format!("{}: {}{}", finding.change.name(), said.join(" -> "), clause)
}

/// A piece of a text in one line, at most [`MOST`] characters of it.
fn short(text: &str, span: &Range<usize>) -> String {
    let piece = text.get(span.clone()).unwrap_or_default();
    let start: String = piece.chars().take(4 * MOST).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > MOST {
        let kept: String = line.chars().take(MOST - 1).collect();
        format!("{}\u{2026}", kept.trim_end())
    } else {
        line
    }
}
