//! The lines that make a file an `init.md`.

use crate::format::{is_blank, trimmed};

/// Lines to write into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InitFix {
    /// The line after which they are inserted, from 1; 0 for the start of the file.
    pub after: usize,
    /// The number of lines after that line that they replace.
    pub replaces: usize,
    /// The lines, without line ends.
    pub lines: Vec<String>,
    /// Whether they are at the end of the file.
    pub at_end: bool,
    /// The last line of the file if it has no line feed, which must be written before the lines.
    pub unfinished: Option<Box<str>>,
}

impl std::fmt::Display for InitFix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = if self.lines.len() == 1 {
            "this line"
        } else {
            "these lines"
        };
        let after = self.after;
        if self.replaces > 0 {
            write!(f, "write {lines} in place of line {}:", after + 1)?;
        } else if let Some(last) = &self.unfinished {
            write!(
                f,
                "after a line feed, which the last line {last:?} lacks, add {lines}:"
            )?;
        } else if self.at_end {
            write!(f, "add {lines} at the end of the file:")?;
        } else {
            write!(f, "add {lines} after line {after}:")?;
        }
        self.lines.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

impl InitFix {
    /// Returns the text with the lines inserted.
    pub fn apply(&self, text: &str) -> String {
        let old: Vec<_> = text.split_inclusive('\n').collect();
        let (before, after) = old.split_at(self.after.min(old.len()));
        let mut fixed = before.concat();
        if !fixed.is_empty() && !fixed.ends_with('\n') {
            fixed.push('\n');
        }
        for line in &self.lines {
            fixed.push_str(line);
            fixed.push('\n');
        }
        fixed.extend(after.iter().skip(self.replaces).copied());
        fixed
    }

    fn insert(text: &str, at: usize, lines: &[&str]) -> Self {
        Self {
            after: line_at(text, at) - 1,
            replaces: 0,
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            at_end: false,
            unfinished: None,
        }
    }

    pub(super) fn append(text: &str, lines: &[&str]) -> Self {
        Self {
            after: text.split_inclusive('\n').count(),
            at_end: true,
            unfinished: (text.rsplit('\n').next())
                .filter(|last| !last.is_empty())
                .map(|last| last.chars().take(40).collect::<String>().into()),
            ..Self::insert(text, 0, lines)
        }
    }

    /// Returns the lines for a file without a delimiter line.
    pub(super) fn delimiter(text: &str, signature: &str) -> Self {
        let first = "This is the first message.";
        Self::append(text, &["---", first, "---", "", "---", signature])
    }

    /// Returns the lines for a file whose list of messages has no end; its last delimiter line ends at `tail`.
    pub(super) fn end(text: &str, tail: usize, signature: &str) -> Self {
        let open = &text[tail..];
        if is_blank(open) {
            return Self::append(text, &["---", signature]);
        }
        let last = trimmed(text, tail..text.len());
        let start = text[..last.end].rfind('\n').map_or(0, |feed| feed + 1);
        if text[start..last.end].trim() != signature {
            return Self::append(text, &["---", "", "---", signature]);
        }
        // It is signed, but as if the signature were a message or part of one.
        if is_blank(&text[tail..start]) {
            Self::insert(text, start, &["---"])
        } else {
            Self::insert(text, start, &["---", "", "---"])
        }
    }

    /// Returns the lines for a file with an end but no signature; the text after the end begins at `rest`.
    pub(super) fn signature(text: &str, rest: usize, chatter: bool, signature: &str) -> Self {
        if text[rest..].is_empty() {
            return Self::append(text, &[signature]);
        }
        // Other text there becomes unused text.
        let lines = [signature, "---"];
        Self::insert(text, rest, &lines[..if chatter { 2 } else { 1 }])
    }

    /// Returns the line for a file with another signature at `place`.
    pub(super) fn other_signature(text: &str, place: usize, signature: &str) -> Self {
        Self {
            replaces: 1,
            ..Self::insert(text, place, &[signature])
        }
    }
}

/// Returns the line of a byte position, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count()
}
