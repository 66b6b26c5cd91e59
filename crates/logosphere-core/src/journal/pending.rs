use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::event::AttemptFacts;
use super::reply::MindReply;
use crate::pool::{MindId, Round};

/// An answer that is paid for and may not be in the journal yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingReply {
    /// In which round.
    pub round: Round,
    /// Of which mind.
    pub mind_id: MindId,
    /// SHA-256 of the request's body: an answer to another question is of no use.
    pub request_sha256: String,
    /// From the question to the answer.
    pub latency_ms: u64,
    /// The answer.
    pub reply: MindReply,
    /// Every try.
    pub attempts: Vec<AttemptFacts>,
}

impl PendingReply {
    /// The answer with its tries.
    pub fn into_reply(self) -> MindReply {
        MindReply {
            attempts: self.attempts,
            ..self.reply
        }
    }
}

/// The answers of a spool. A last line that was not written to its end holds none, and so does a file that is not there.
///
/// # Errors
/// The file cannot be read.
pub fn read_spool(path: &Path) -> io::Result<Vec<PendingReply>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let whole = bytes.split_inclusive(|byte| *byte == b'\n');
    let whole = whole.filter(|line| line.ends_with(b"\n"));
    // What cannot be read is asked again: a spool only saves money.
    Ok(whole
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}
