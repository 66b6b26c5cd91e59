//! Lines, and which of them are delimiters.

use memchr::{Memchr, memchr_iter};

use super::ParseMode;

/// A line of a text, as byte positions. It ends at LF and at nothing else.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) start: usize,
    /// Where its LF stands, or the end of the text.
    pub(super) end: usize,
    /// Where the next line begins.
    pub(super) next: usize,
}

/// The lines of a text in order. There is none behind a last LF.
pub(super) struct Lines<'a> {
    feeds: Memchr<'a>,
    /// Where the part of the text begins whose lines these are.
    origin: usize,
    start: usize,
    len: usize,
}

impl<'a> Lines<'a> {
    /// The lines of `text` from position `origin` on, which begins a line.
    pub(super) fn behind(text: &'a str, origin: usize) -> Self {
        Self {
            feeds: memchr_iter(b'\n', &text.as_bytes()[origin..]),
            origin,
            start: origin,
            len: text.len(),
        }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let start = self.start;
        let (end, next) = match self.feeds.next() {
            Some(feed) => (self.origin + feed, self.origin + feed + 1),
            None if start < self.len => (self.len, self.len),
            None => return None,
        };
        self.start = next;
        Some(Line { start, end, next })
    }
}

impl Line {
    /// Whether the line is a delimiter, and then the white space behind its dashes.
    pub(super) fn padding(self, text: &str, mode: ParseMode) -> Option<&[u8]> {
        let line = &text.as_bytes()[self.start..self.end];
        let padding = line.strip_prefix(b"---")?;
        let delimits = match mode {
            ParseMode::Lenient => (padding.iter()).all(|byte| matches!(byte, b' ' | b'\t' | b'\r')),
            // Only a CR that stands before an LF belongs to the line's end.
            ParseMode::Strict => padding.is_empty() || padding == b"\r" && self.next > self.end,
            // These rules know no lines.
            ParseMode::Legacy => false,
        };
        delimits.then_some(padding)
    }
}

/// Whether a text has a line that is a delimiter by these rules.
pub(crate) fn holds_delimiter(text: &str, mode: ParseMode) -> bool {
    Lines::behind(text, 0).any(|line| line.padding(text, mode).is_some())
}
