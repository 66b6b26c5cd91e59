//! The rules by which the Python program of 2026-01-02 parsed an answer, for its journals.

use std::ops::Range;

use memchr::memmem;

use crate::format::{
    End, LONGEST_SIGNATURE, Parsed, Reason, SEPARATOR, Spans, is_blank, lost, trimmed,
    with_signature,
};

/// Parses an answer as that program did. Fields that it did not record follow from its rules.
pub fn parse_reference(raw: &str) -> Parsed {
    let mut padded = raw.to_owned();
    if !padded.ends_with('\n') {
        padded.push('\n');
    }
    let shift = usize::from(padded.starts_with("---\n"));
    if shift > 0 {
        padded.insert(0, '\n');
    }
    let blocks = split(&padded);
    let text = |block: &Range<usize>| &padded[block.clone()];
    // Converts a position of the padded text to one of the answer.
    let place = |at: usize| at.saturating_sub(shift).min(raw.len());
    let span = |block: &Range<usize>| place(block.start)..place(block.end);

    let feeds = text(&blocks[0]).len() - text(&blocks[0]).trim_start_matches('\n').len();
    let thinking = blocks[0].start + feeds..blocks[0].end;
    let blank = (1..blocks.len()).find(|block| is_blank(text(&blocks[*block])));
    let mut spans = Spans {
        thinking: span(&thinking),
        blocks: blocks[1..].iter().map(span).collect(),
        ..Spans::default()
    };
    let mut parsed = Parsed {
        thinking: text(&thinking).to_owned(),
        messages: Vec::new(),
        signature: String::new(),
        completed: blank.is_some(),
        end: End::None,
        reason: Reason::Unterminated,
        notes: Vec::new(),
        lost_blocks: 0,
        lost_chars: 0,
        spans: Spans::default(),
    };
    if let Some(blank) = blank {
        parsed.end = End::Lenient;
        if let Some(next) = blocks.get(blank + 1) {
            parsed.end = End::BlankBlock;
            let found = signature(&padded, next.clone());
            text(&found).clone_into(&mut parsed.signature);
            spans.signature = (!found.is_empty()).then(|| span(&found));
        }
        let messages = blocks[1..blank].iter();
        parsed.messages = messages
            .map(|block| with_signature(text(block), &parsed.signature))
            .collect();
        parsed.reason = if parsed.messages.is_empty() {
            Reason::Silence
        } else {
            Reason::Ok
        };
        // The blank block that ends the answer is a block only if a separator closes it.
        let closed = blank - usize::from(parsed.end == End::Lenient);
        spans.blocks.truncate(closed);
        let rest = blocks.get(blank + 1).unwrap_or(&blocks[blank]);
        spans.rest = Some(place(rest.start)..raw.len());
    } else {
        if is_blank(raw) {
            parsed.reason = Reason::EmptyOutput;
        } else if blocks.len() == 1 {
            parsed.reason = Reason::NoDelimiter;
        }
        let delimited = (blocks.len() > 1).then_some(&spans.blocks[..]);
        (parsed.lost_blocks, parsed.lost_chars) = lost(raw, delimited);
    }
    parsed.spans = spans;
    parsed
}

/// Returns the blocks between the separators, at least one.
fn split(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    for found in memmem::find_iter(text.as_bytes(), SEPARATOR) {
        blocks.push(start..found);
        start = found + SEPARATOR.len();
    }
    blocks.push(start..text.len());
    blocks
}

/// Returns the range of the signature in the block after the end; empty if there is none.
fn signature(text: &str, block: Range<usize>) -> Range<usize> {
    let found = trimmed(text, block);
    let end = text[found.clone()].char_indices().nth(LONGEST_SIGNATURE);
    let found = found.start..end.map_or(found.end, |(end, _)| found.start + end);
    if &text[found.clone()] == "---" {
        return found.start..found.start;
    }
    found
}
