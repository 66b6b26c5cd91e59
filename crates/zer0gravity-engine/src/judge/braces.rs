//! The balanced `{...}` of a text that is not JSON as a whole.

use std::ops::Range;

/// The state of a reader outside of strings.
const OUTSIDE: usize = 0;
const INSIDE: usize = 1;
/// The state in a string, after a backslash.
const ESCAPED: usize = 2;

/// Every balanced `{...}`, left to right; the search continues after one that is closed, and after the brace of one that is
/// not.
/// Braces in strings do not count; a string can only begin inside of braces, since prose has quotation marks too.
pub(super) fn balanced(text: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for span in every_balanced(text) {
        if spans.last().is_none_or(|last| last.end <= span.start) {
            spans.push(span);
        }
    }
    spans
}

/// Every balanced `{...}` with those inside of others, by their beginning: one for each brace that is closed.
///
/// Whether a brace is closed depends on where the strings are, and so on the brace the reading began at: trying every brace takes
/// quadratic time on a text of open braces. But a reader is in one of three states, and its future depends on that state alone. So
/// the text is read once from its end, and each state carries the brace at which a reader in it would meet an end too many.
pub(super) fn every_balanced(text: &str) -> Vec<Range<usize>> {
    // For every brace from the last to the first: its place, and where one that opens is closed.
    let mut opens: Vec<(usize, Option<usize>)> = Vec::new();
    // The places of closing braces, and what a reader outside of strings meets behind each.
    let mut closes: Vec<(usize, Option<usize>)> = Vec::new();
    // The next closing brace too many for each state, as an index into `closes`.
    let mut excess: [Option<usize>; 3] = [None; 3];
    for (at, byte) in text.bytes().enumerate().rev() {
        let behind = excess;
        match byte {
            b'{' => {
                let close = behind[OUTSIDE];
                opens.push((at, close.map(|close| closes[close].0)));
                excess[OUTSIDE] = close.and_then(|close| closes[close].1);
            }
            b'}' => {
                closes.push((at, behind[OUTSIDE]));
                excess[OUTSIDE] = Some(closes.len() - 1);
            }
            b'"' => {
                excess[OUTSIDE] = behind[INSIDE];
                excess[INSIDE] = behind[OUTSIDE];
            }
            b'\\' => excess[INSIDE] = behind[ESCAPED],
            _ => {}
        }
        excess[ESCAPED] = behind[INSIDE];
    }
    let closed = opens.into_iter().rev();
    closed
        .filter_map(|(start, close)| Some(start..close? + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every balanced `{...}` by the definition, in quadratic time.
    fn by_definition(text: &str) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        let (mut spans, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            if bytes[at] == b'{' {
                let (mut depth, mut string, mut escaped) = (0, false, false);
                let end = (at..bytes.len()).find(|&here| {
                    match bytes[here] {
                        _ if escaped => escaped = false,
                        b'\\' if string => escaped = true,
                        b'"' => string = !string,
                        b'{' if !string => depth += 1,
                        b'}' if !string => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                });
                if let Some(end) = end {
                    spans.push(at..end + 1);
                    at = end;
                }
            }
            at += 1;
        }
        spans
    }

    #[test]
    fn braces_and_strings() {
        for (text, expected) in [
            ("", vec![]),
            ("a {b} {c{d}} e", vec!["{b}", "{c{d}}"]),
            (r#"5" {"a": "}"}"#, vec![r#"{"a": "}"}"#]),
            (r#"{ {"a": 1}"#, vec![r#"{"a": 1}"#]),
            (r#"{ 5" {"a": 1}"#, vec![r#"{"a": 1}"#]),
            (r#"{"a": "\"}"} }"#, vec![r#"{"a": "\"}"}"#]),
            ("}{", vec![]),
        ] {
            let found: Vec<_> = balanced(text).into_iter().map(|span| &text[span]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn reading_from_the_end_finds_what_the_definition_says() {
        use proptest::prelude::*;
        proptest!(ProptestConfig::with_cases(2000), |(text in r#"[{}"\\aé]{0,24}"#)| {
            prop_assert_eq!(balanced(&text), by_definition(&text), "{}", text);
        });
    }
}
