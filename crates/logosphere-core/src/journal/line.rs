use std::io::Write as _;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::event::{Event, Line};

/// The text before a line's chain.
const CHAIN_FIELD: &str = ",\"chain\":\"";
/// The number of hexadecimal digits of a chain.
const CHAIN_DIGITS: usize = 32;

/// Appends the line of an event and returns its chain. `previous` is the chain of the line before, or the run's id.
pub(crate) fn encode(
    out: &mut Vec<u8>,
    timestamp: &str,
    seq: u64,
    event: &Event,
    previous: &str,
) -> String {
    #[derive(Serialize)]
    struct ChainedLine<'a> {
        r#type: &'static str,
        timestamp: &'a str,
        seq: u64,
        #[serde(flatten)]
        event: &'a Event,
    }
    let begin = out.len();
    let whole = ChainedLine {
        r#type: event.kind(),
        timestamp,
        seq,
        event,
    };
    // A Vec takes everything, and every map of an event has texts as keys.
    let _ = serde_json::to_writer(&mut *out, &whole);
    out.pop();
    let chain = chain(previous, &out[begin..]);
    let _ = writeln!(out, "{CHAIN_FIELD}{chain}\"}}");
    chain
}

/// Returns the chain of `line`, which ends before its chain field: a hash of `previous` and the line.
pub(super) fn chain(previous: &str, line: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(previous);
    hash.update(line);
    hex::encode(&hash.finalize()[..CHAIN_DIGITS / 2])
}

/// Returns the part of a line that its chain is computed from; `None` if the line does not end with a chain.
pub(super) fn before_chain(line: &[u8]) -> Option<&[u8]> {
    let end = CHAIN_FIELD.len() + CHAIN_DIGITS + "\"}".len();
    let (before, rest) = line.split_at_checked(line.len().checked_sub(end)?)?;
    (rest.starts_with(CHAIN_FIELD.as_bytes()) && rest.ends_with(b"\"}")).then_some(before)
}

/// The fields of every line.
#[derive(Deserialize)]
pub(super) struct Head {
    pub r#type: String,
    pub timestamp: String,
    pub seq: u64,
    pub chain: String,
}

/// Returns the event of a line; `None` for a type that this version does not know.
pub(super) fn decode(head: Head, line: &[u8]) -> Result<Option<Line>, String> {
    fn body<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
        serde_json::from_slice(line).map_err(|_| {
            // Once more, slowly, to learn in which field.
            let mut json = serde_json::Deserializer::from_slice(line);
            let read: Result<T, _> = serde_path_to_error::deserialize(&mut json);
            read.err()
                .map_or_else(String::new, |error| error.to_string())
        })
    }
    let event = match head.r#type.as_str() {
        "experiment_start" => Event::ExperimentStart(body(line)?),
        "round_start" => Event::RoundStart(body(line)?),
        "mind_invocation" => Event::MindInvocation(body(line)?),
        "round_end" => Event::RoundEnd(body(line)?),
        "experiment_end" => Event::ExperimentEnd(body(line)?),
        "run_interrupted" => Event::RunInterrupted(body(line)?),
        "run_resumed" => Event::RunResumed(body(line)?),
        "error" => Event::Error(body(line)?),
        _ => return Ok(None),
    };
    Ok(Some(Line {
        timestamp: head.timestamp,
        seq: head.seq,
        event,
        chain: head.chain,
    }))
}

/// Returns the chain that is written after the first `before` bytes of a line.
pub(super) fn chain_of(line: &[u8], before: usize) -> String {
    let from = before + CHAIN_FIELD.len();
    String::from_utf8_lossy(&line[from..from + CHAIN_DIGITS]).into_owned()
}
