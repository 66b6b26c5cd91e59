//! The delimiter lines of a text. A line ends at LF only.

use memchr::memchr;

use super::parsed::ParseMode;

/// The byte positions of a delimiter line in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delimiter {
    /// The position of the first dash.
    pub(super) start: usize,
    /// The start of the next line, or the end of the text.
    pub(super) next: usize,
    /// Whether there is white space between the dashes and the LF.
    pub(super) padded: bool,
}

/// Returns the delimiter lines of a text from `from` on, which is the start of a line.
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

/// Returns the number of times the first byte is repeated at the start.
pub(super) fn row(bytes: &[u8]) -> usize {
    let others = bytes.iter().position(|byte| *byte != bytes[0]);
    others.unwrap_or(bytes.len())
}

impl Delimiter {
    /// Returns the delimiter line that begins at `start`; `None` if there is none.
    pub(super) fn at(text: &[u8], start: usize, mode: ParseMode) -> Option<Self> {
        if start > 0 && text[start - 1] != b'\n' {
            return None;
        }
        let after = text[start..].strip_prefix(b"---")?;
        let padding = match mode {
            ParseMode::Lenient => (after.iter())
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
                .count(),
            // Only a CR that stands before an LF belongs to the line's end.
            ParseMode::Strict => usize::from(after.starts_with(b"\r\n")),
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

/// Returns whether a text has a line that is a delimiter by these rules.
pub(crate) fn holds_delimiter(text: &str, mode: ParseMode) -> bool {
    delimiters(text, 0, mode).next().is_some()
}
