use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::call::AttemptFacts;
use super::open::open_journal;
use super::reply::MindReply;
use crate::pool::{MindId, Round};

/// An answer that is paid for and may not be in the journal yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a spool keeps every field")]
pub struct PendingReply {
    /// The round, from 1.
    pub round: Round,
    /// The mind, from 0.
    pub mind_id: MindId,
    /// SHA-256 of the request's body; the answer to another request is not used.
    pub request_sha256: String,
    /// Milliseconds from the start of the call to its end.
    pub latency_ms: u64,
    /// The reply without its attempts.
    pub reply: MindReply,
    /// All attempts of the call.
    pub attempts: Vec<AttemptFacts>,
}

impl PendingReply {
    /// Returns the reply with its attempts.
    pub fn into_reply(self) -> MindReply {
        MindReply {
            attempts: self.attempts,
            ..self.reply
        }
    }
}

/// Reads the answers of a spool. An incomplete last line is skipped, and a missing file has no answers.
///
/// # Errors
/// The file exists and cannot be read.
pub fn read_spool(path: &Path) -> io::Result<Vec<PendingReply>> {
    let mut bytes = Vec::new();
    let file = open_journal(path);
    match file.and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    }
    let whole = bytes.split_inclusive(|byte| *byte == b'\n');
    let whole = whole.filter(|line| line.ends_with(b"\n"));
    // What cannot be read is asked again: a spool only saves money.
    Ok(whole
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}
