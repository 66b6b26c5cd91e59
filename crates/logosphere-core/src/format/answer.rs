//! The lenient and the strict parser of answers.

use super::blocks::{AfterEnd, Cut};
use super::notes::{has_near_delimiter, has_reasoning_tag, imitates_seed, is_invisible};
use super::parsed::{End, Note, ParseMode, Parsed, Reason, Spans, is_blank, lost};
use super::signature::{self, with_signature};

/// Parses an answer by the rules of `mode`, lenient or strict. `signs` returns whether a line is a signature.
pub(super) fn read(
    raw: &str,
    mode: ParseMode,
    init_signature: &str,
    signs: fn(&str) -> bool,
) -> Parsed {
    let cut = Cut::new(raw, mode);
    let lenient = mode == ParseMode::Lenient;
    let rest = cut.rest(raw, mode).filter(|_| lenient);
    let signed = (rest.as_ref()).and_then(|rest| signature::find(raw, rest.first.clone(), signs));
    let sent = signed.clone().map_or("", |place| &raw[place]);
    let messages = (cut.messages().iter())
        .map(|block| with_signature(&raw[block.clone()], sent))
        .collect::<Vec<_>>();

    let completed = cut.end != End::None;
    let reason = if completed {
        if messages.is_empty() {
            Reason::Silence
        } else {
            Reason::Ok
        }
    } else if is_blank(raw) {
        Reason::EmptyOutput
    } else if cut.tail.is_none() {
        Reason::NoDelimiter
    } else {
        Reason::Unterminated
    };
    let (lost_blocks, lost_chars) = if completed {
        (0, 0)
    } else {
        lost(raw, cut.tail.map(|_| &cut.blocks[..]))
    };

    let mut notes = Vec::new();
    if lenient {
        let ended = cut.tail.filter(|_| completed).unwrap_or(raw.len());
        let unsigned = || cut.messages().iter().map(|block| &raw[block.clone()]);
        let after = |rest: &AfterEnd| {
            rest.more.is_some() || signed.is_none() && !is_blank(&raw[rest.first.clone()])
        };
        let found = [
            (
                Note::ImitatesSeedStamp,
                signed.is_none() && unsigned().any(|text| imitates_seed(text, init_signature)),
            ),
            (
                Note::ImpersonatesInit,
                signed.is_some() && sent == init_signature,
            ),
            (Note::InvisibleMessage, unsigned().any(is_invisible)),
            (Note::LenientEnd, cut.end == End::Lenient),
            (Note::NearDelimiter, has_near_delimiter(&raw[..ended])),
            (Note::ReasoningTag, unsigned().any(has_reasoning_tag)),
            (Note::TextAfterEnd, rest.as_ref().is_some_and(after)),
            (Note::ToleratedDelimiter, cut.padded),
        ];
        notes = (found.into_iter())
            .filter_map(|(note, found)| found.then_some(note))
            .collect();
    }
    Parsed {
        thinking: raw[cut.thinking.clone()].to_owned(),
        messages,
        signature: sent.to_owned(),
        completed,
        end: cut.end,
        reason,
        notes,
        lost_blocks,
        lost_chars,
        spans: Spans {
            thinking: cut.thinking,
            rest: cut.tail.filter(|_| completed).map(|start| start..raw.len()),
            blocks: cut.blocks,
            signature: signed,
        },
    }
}
