//! What is remarkable about an answer.

use memchr::memchr3;
use memchr::memmem;

use super::lines::Lines;
use super::{ParseMode, is_blank_char};

/// Whether a line that is no delimiter looks like one.
pub(super) fn has_near_delimiter(text: &str) -> bool {
    Lines::behind(text, 0).any(|line| {
        is_near(&text[line.start..line.end]) && line.padding(text, ParseMode::Lenient).is_none()
    })
}

fn is_near(line: &str) -> bool {
    // The characters that cut a line once more begin with these bytes; most lines have none of them.
    if memchr3(b'\r', 0xC2, 0xE2, line.as_bytes()).is_none() {
        return is_rule(line);
    }
    line.split(['\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .any(is_rule)
}

/// Whether a piece of a line is nothing but a row of dashes, stars or underscores.
fn is_rule(piece: &str) -> bool {
    let piece = piece.trim_matches(|char| is_blank_char(char) || char == '\u{feff}');
    let row = |shortest| {
        let bytes = piece.as_bytes();
        bytes.len() >= shortest && bytes.iter().all(|byte| *byte == bytes[0])
    };
    match piece.chars().next() {
        Some('-') => row(2),
        Some('*' | '_') => row(3),
        Some(_) => piece
            .chars()
            .all(|char| matches!(char, '\u{2013}'..='\u{2015}' | '\u{2500}')),
        None => false,
    }
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

/// Whether a text ends as a seed does.
pub(super) fn imitates_stamp(text: &str, init_signature: &str) -> bool {
    let last = text.rsplit('\n').next();
    last.is_some_and(|line| line.trim_end_matches('\r') == init_signature)
}

/// Whether a text has the tags that some models put around what they think.
pub(super) fn has_reasoning_tag(text: &str) -> bool {
    ["<think>", "</think>"]
        .iter()
        .any(|tag| memmem::find(text.as_bytes(), tag.as_bytes()).is_some())
}
