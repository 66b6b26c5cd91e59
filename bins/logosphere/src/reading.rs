//! A parsed answer as JSON.

use std::ops::Range;

use logosphere_core::format::{End, Note, ParseMode, Parsed, Reason};
use serde::Serialize;

/// A parsed answer, as JSON shows it.
#[derive(Serialize)]
pub struct Reading<'a> {
    schema_version: u32,
    mode: ParseMode,
    completed: bool,
    end: End,
    reason: Reason,
    notes: &'a [Note],
    thinking: &'a str,
    messages: &'a [String],
    signature: &'a str,
    lost_blocks: u64,
    lost_chars: u64,
    spans: Spans<'a>,
}

impl<'a> Reading<'a> {
    /// Returns the parts of an answer that was parsed in this mode.
    pub fn of(mode: ParseMode, parsed: &'a Parsed) -> Self {
        Self {
            schema_version: 1,
            mode,
            completed: parsed.completed,
            end: parsed.end,
            reason: parsed.reason,
            notes: &parsed.notes,
            thinking: &parsed.thinking,
            messages: &parsed.messages,
            signature: &parsed.signature,
            lost_blocks: parsed.lost_blocks,
            lost_chars: parsed.lost_chars,
            spans: Spans {
                thinking: &parsed.spans.thinking,
                blocks: &parsed.spans.blocks,
                signature: &parsed.spans.signature,
                rest: &parsed.spans.rest,
            },
        }
    }
}

/// The byte ranges of the parts, with an exclusive end.
#[derive(Serialize)]
struct Spans<'a> {
    thinking: &'a Range<usize>,
    blocks: &'a [Range<usize>],
    signature: &'a Option<Range<usize>>,
    rest: &'a Option<Range<usize>>,
}
