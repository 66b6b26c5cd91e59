//! Which lines are delimiters. A line ends at LF and at nothing else.

use memchr::memchr;

use super::parsed::ParseMode;

/// The byte positions of a delimiter line in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delimiter {
    /// Its first dash.
    pub(super) start: usize,
    /// Where the next line begins, or the end of the text.
    pub(super) next: usize,
    /// Whether there is white space between its dashes and its LF.
    pub(super) padded: bool,
}

/// The delimiter lines of a text from `from` on, where a line begins.
pub(super) fn delimiters(
    text: &str,
    from: usize,
    mode: ParseMode,
) -> impl Iterator<Item = Delimiter> {
    let bytes = text.as_bytes();
    let mut at = from;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr(b'-', &bytes[at..])?;
            if let Some(line) = Delimiter::at(bytes, start, mode) {
                at = line.next;
                return Some(line);
            }
            at = start + row(&bytes[start..]);
        }
    })
}

/// How often the first byte stands there in a row.
pub(super) fn row(bytes: &[u8]) -> usize {
    let others = bytes.iter().position(|byte| *byte != bytes[0]);
    others.unwrap_or(bytes.len())
}

impl Delimiter {
    /// The delimiter line that begins at `start`, if one does.
    pub(super) fn at(text: &[u8], start: usize, mode: ParseMode) -> Option<Self> {
        if start > 0 && text[start - 1] != b'\n' {
            return None;
        }
        let behind = text[start..].strip_prefix(b"---")?;
        let padding = match mode {
            ParseMode::Lenient => (behind.iter())
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
                .count(),
            // Only a CR that stands before an LF belongs to the line's end.
            ParseMode::Strict => usize::from(behind.starts_with(b"\r\n")),
            // These rules know no lines.
            ParseMode::Legacy => return None,
        };
        let end = start + 3 + padding;
        let next = match text.get(end) {
            None => end,
            Some(b'\n') => end + 1,
            Some(_) => return None,
        };
        Some(Self {
            start,
            next,
            padded: padding > 0,
        })
    }
}

/// Whether a text has a line that is a delimiter by these rules.
pub(crate) fn holds_delimiter(text: &str, mode: ParseMode) -> bool {
    delimiters(text, 0, mode).next().is_some()
}
