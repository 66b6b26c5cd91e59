//! The blocks of a text between its delimiter lines.

use std::ops::Range;

use super::delimiters::delimiters;
use super::parsed::{End, ParseMode, is_blank};

/// The blocks of a text up to its end, as byte ranges.
pub(crate) struct Cut {
    pub(crate) thinking: Range<usize>,
    /// All blocks up to the end, including the one that ends the text; without an end, also the open one.
    pub(crate) blocks: Vec<Range<usize>>,
    pub(crate) end: End,
    /// The start of the text after the last delimiter line up to the end; `None` without a delimiter line.
    pub(crate) tail: Option<usize>,
    /// Whether white space follows the dashes of any delimiter line up to the end.
    pub(crate) padded: bool,
}

/// The text after the end.
pub(crate) struct AfterEnd {
    /// The text up to the next delimiter line, or to the end of the text.
    pub(crate) first: Range<usize>,
    /// The first text after that, which is not read.
    pub(crate) more: Option<Range<usize>>,
}

impl Cut {
    /// Splits a text by the rules of `mode`, lenient or strict.
    pub(crate) fn new(raw: &str, mode: ParseMode) -> Self {
        let mut cut = Self {
            thinking: 0..raw.len(),
            blocks: Vec::new(),
            end: End::None,
            tail: None,
            padded: false,
        };
        for line in delimiters(raw, 0, mode) {
            cut.padded |= line.padded;
            let Some(start) = cut.tail.replace(line.next) else {
                cut.thinking = without_line_end(raw, 0..line.start);
                continue;
            };
            if start == line.start {
                cut.end = End::Adjacent;
                return cut;
            }
            let block = without_line_end(raw, start..line.start);
            let blank = is_blank(&raw[block.clone()]);
            cut.blocks.push(block);
            if blank {
                cut.end = End::BlankBlock;
                return cut;
            }
        }
        if let Some(start) = cut.tail {
            if mode == ParseMode::Lenient && is_blank(&raw[start..]) {
                cut.end = End::Lenient;
            } else if start < raw.len() {
                cut.blocks.push(without_line_end(raw, start..raw.len()));
            }
        }
        cut
    }

    /// Returns the blocks that are messages; empty without an end.
    pub(crate) fn messages(&self) -> &[Range<usize>] {
        match self.end {
            End::None => &[],
            End::BlankBlock => &self.blocks[..self.blocks.len() - 1],
            End::Adjacent | End::Lenient => &self.blocks,
        }
    }

    /// Returns the text after the end; `None` without an end.
    pub(crate) fn rest(&self, raw: &str, mode: ParseMode) -> Option<AfterEnd> {
        let start = self.tail.filter(|_| self.end != End::None)?;
        let mut blocks = blocks(raw, start, mode);
        let first = blocks.next()?;
        let more = blocks.find(|block| !is_blank(&raw[block.clone()]));
        Some(AfterEnd { first, more })
    }
}

/// Returns the blocks from `start` on; the last one ends with the text.
pub(super) fn blocks(
    raw: &str,
    start: usize,
    mode: ParseMode,
) -> impl Iterator<Item = Range<usize>> {
    let mut from = start;
    delimiters(raw, start, mode)
        .map(|line| (line.start, line.next))
        .chain([(raw.len(), raw.len())])
        .map(move |(end, next)| without_line_end(raw, std::mem::replace(&mut from, next)..end))
}

/// Returns a range without the LF or CRLF at its end.
fn without_line_end(text: &str, range: Range<usize>) -> Range<usize> {
    let bytes = &text.as_bytes()[range.clone()];
    let bytes = bytes
        .strip_suffix(b"\n")
        .map_or(bytes, |bytes| bytes.strip_suffix(b"\r").unwrap_or(bytes));
    range.start..range.start + bytes.len()
}
