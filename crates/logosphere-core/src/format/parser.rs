//! The parser of answers: thinking, messages, the end and the signature.

use std::ops::Range;

use super::parsed::{ParseMode, Parsed, lost};
use super::rules::Rules;
use super::signature::{find as find_signature, is_signature, may_be_signature};
use super::{answer, blocks};

/// Parses an answer. It never fails: text that is not a message is lost, with a reason.
pub fn parse(raw: &str, mode: ParseMode) -> Parsed {
    parse_signed(raw, mode, "~init")
}

/// Parses an answer of a run whose seed messages bear `init_signature`.
pub fn parse_signed(raw: &str, mode: ParseMode, init_signature: &str) -> Parsed {
    parse_by(raw, mode, init_signature, is_signature)
}

/// Parses an answer as [`parse_signed`] does, by the rules of a journal's version.
pub(crate) fn parse_in_run(
    raw: &str,
    mode: ParseMode,
    init_signature: &str,
    rules: Rules,
) -> Parsed {
    if !rules.refuses_hidden_signatures {
        return parse_by(raw, mode, init_signature, may_be_signature);
    }
    let mut parsed = parse_by(raw, mode, init_signature, is_signature);
    if rules.counts_text_after_end
        && let Some(rest) = &parsed.spans.rest
    {
        let (blocks, chars) = lost_after_end(raw, rest.start, mode);
        parsed.lost_blocks += blocks;
        parsed.lost_chars += chars;
    }
    parsed
}

fn parse_by(raw: &str, mode: ParseMode, init_signature: &str, signs: fn(&str) -> bool) -> Parsed {
    answer::read(raw, mode, init_signature, signs)
}

/// Counts the non-blank blocks from `start` on, which is after the end of the answer, and their characters. A signature
/// is not counted.
fn lost_after_end(raw: &str, start: usize, mode: ParseMode) -> (u64, u64) {
    let mut blocks: Vec<_> = blocks::blocks(raw, start, mode).collect();
    let signed = |block: &Range<usize>| find_signature(raw, block.clone(), is_signature).is_some();
    if blocks.first().is_some_and(signed) {
        blocks.remove(0);
    }
    lost(raw, Some(&blocks))
}
