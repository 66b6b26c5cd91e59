//! What is remarkable about an answer.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3};

use super::delimiters::{Delimiter, row};
use super::parsed::{ParseMode, is_blank_char};

/// Whether a line that is no delimiter looks like one: cut again at the ends of lines that Unicode knows, a piece of it is
/// only a row of dashes, stars or underscores.
pub(super) fn has_near_delimiter(text: &str) -> bool {
    let bytes = text.as_bytes();
    let marks = |at| memchr3(b'-', b'*', b'_', &bytes[at..]);
    let found = any_row(marks, |start| {
        let end = start + row(&bytes[start..]);
        let shortest = if bytes[start] == b'-' { 2 } else { 3 };
        let found = end - start >= shortest
            && Delimiter::at(bytes, start, ParseMode::Lenient).is_none()
            && is_alone(text, start..end);
        (end, found)
    });
    // All other dashes begin with this byte.
    let dashes = |at| memchr(0xE2, &bytes[at..]);
    found
        || any_row(dashes, |start| {
            let dashes = ['\u{2013}', '\u{2014}', '\u{2015}', '\u{2500}'];
            let end = text.len() - text[start..].trim_start_matches(dashes).len();
            (
                end.max(start + 1),
                end > start && is_alone(text, start..end),
            )
        })
}

/// Whether any row is what is looked for: `next` says how far behind a position the next one begins, `check` where it
/// ends and whether it is one.
fn any_row(next: impl Fn(usize) -> Option<usize>, check: impl Fn(usize) -> (usize, bool)) -> bool {
    let mut at = 0;
    while let Some(far) = next(at) {
        let (end, found) = check(at + far);
        if found {
            return true;
        }
        at = end;
    }
    false
}

/// Whether there is nothing but white space between a place and both ends of its piece.
fn is_alone(text: &str, place: Range<usize>) -> bool {
    let ends = |char| matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let stops = |char: &char| ends(*char) || !is_blank_char(*char) && *char != '\u{feff}';
    let before = text[..place.start].chars().rev().find(stops);
    let behind = || text[place.end..].chars().find(stops);
    before.is_none_or(ends) && behind().is_none_or(ends)
}

/// Whether nothing of a text can be seen.
pub(crate) fn is_invisible(text: &str) -> bool {
    text.chars().all(|char| {
        is_blank_char(char)
            || char.is_control()
            || matches!(
                char,
                '\u{ad}'
                    | '\u{180e}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{202a}'..='\u{202e}'
                    | '\u{2060}'..='\u{2064}'
                    | '\u{2066}'..='\u{2069}'
                    | '\u{feff}'
            )
    })
}

/// Whether a character shows nothing of itself: general category Cc, Cf, Zl or Zp.
pub(super) fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2064}'
                | '\u{2066}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0001}'
                | '\u{e0020}'..='\u{e007f}'
        )
}

/// Whether a text ends as a seed does.
pub(super) fn imitates_seed(text: &str, init_signature: &str) -> bool {
    let last = text.rsplit('\n').next();
    last.is_some_and(|line| line.trim_end_matches('\r') == init_signature)
}

/// Whether a text has the tags that some models put around what they think.
pub(super) fn has_reasoning_tag(text: &str) -> bool {
    memchr_iter(b'<', text.as_bytes()).any(|at| {
        let tag = &text[at..];
        tag.starts_with("<think>") || tag.starts_with("</think>")
    })
}
