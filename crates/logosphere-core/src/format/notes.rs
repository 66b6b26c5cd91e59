//! The detection of deviations from the format.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3};
use visible_text::{is_format, is_ignorable, is_line_separator};

use super::delimiters::{Delimiter, row};
use super::parsed::{ParseMode, is_blank_char};

/// Returns whether a line that is not a delimiter resembles one.
///
/// Such a line, split again at the line ends of Unicode, has a piece that is only a row of dashes, stars or
/// underscores.
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

/// Returns whether any row passes `check`, which returns the end of a row and the result. `next` returns the distance
/// from a position to the next row.
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

/// Returns whether there is only white space between a range and both ends of its piece.
fn is_alone(text: &str, place: Range<usize>) -> bool {
    let ends = |char| matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let stops = |char: &char| ends(*char) || !is_blank_char(*char) && *char != '\u{feff}';
    let before = text[..place.start].chars().rev().find(stops);
    let after = || text[place.end..].chars().find(stops);
    before.is_none_or(ends) && after().is_none_or(ends)
}

/// Returns whether a text has no visible character.
///
/// Journals hold the answer, so these characters stay as they were when the first journal was written: those that are ignorable
/// and only format, without a few rare ones.
pub(crate) fn is_invisible(text: &str) -> bool {
    let is_rare = |char| matches!(char, '\u{61c}' | '\u{206a}'..='\u{206f}' | '\u{10000}'..);
    let is_unseen = |char| is_ignorable(char) && is_format(char) && !is_rare(char);
    text.chars()
        .all(|char| is_blank_char(char) || char.is_control() || is_unseen(char))
}

/// Returns whether a character is invisible: general category Cc, Cf, Zl or Zp.
pub(super) fn is_hidden(char: char) -> bool {
    char.is_control() || is_format(char) || is_line_separator(char)
}

/// Returns whether a text ends with the signature of the seed messages.
pub(super) fn imitates_seed(text: &str, init_signature: &str) -> bool {
    let last = text.rsplit('\n').next();
    last.is_some_and(|line| line.trim_end_matches('\r') == init_signature)
}

/// Returns whether a text has the tags that some models put around their thinking.
pub(super) fn has_reasoning_tag(text: &str) -> bool {
    memchr_iter(b'<', text.as_bytes()).any(|at| {
        let tag = &text[at..];
        tag.starts_with("<think>") || tag.starts_with("</think>")
    })
}

#[cfg(test)]
mod tests {
    use super::is_invisible;

    #[test]
    fn the_characters_of_an_invisible_message_are_those_of_the_first_journals() {
        let chosen = ('\u{80}'..=char::MAX).filter(|char| {
            !char.is_control() && !char.is_whitespace() && is_invisible(&char.to_string())
        });
        let expected = ['\u{ad}', '\u{180e}']
            .into_iter()
            .chain('\u{200b}'..='\u{200f}')
            .chain('\u{202a}'..='\u{202e}')
            .chain('\u{2060}'..='\u{2064}')
            .chain('\u{2066}'..='\u{2069}')
            .chain(['\u{feff}']);
        assert!(chosen.eq(expected));
    }
}
