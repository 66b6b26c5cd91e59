//! The lines of `conversation.jsonl`.

use jiff::Timestamp;
use llm_client::Message;
use pscale_blocks::store::Origins;
use serde::{Deserialize, Serialize};

use super::author::Author;
use crate::storage::LineError;

/// The version of the lines that are written.
pub(super) const VERSION: u32 = 4;
/// The version before it, whose messages have numbers and no origins.
const WITHOUT_ORIGINS: u32 = 3;

/// More than any message has as its number; JSON has all smaller ones exactly.
const NUMBERS: u64 = 1 << 53;

/// A line of the current version. Messages have numbers from 1 on, and none is given twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The first line of a file whose oldest messages are in archives.
    Begin {
        schema_version: u32,
        /// The number of the first message that is not in an archive.
        n: u64,
        /// The number of the last message that has moved to the block `history`.
        moved: u64,
        /// The last turn that moved, as the block `history` has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_moved: Option<String>,
        /// The places outside that this turn may come from.
        #[serde(default, skip_serializing_if = "Origins::is_empty")]
        last_moved_from: Origins,
    },
    /// A message.
    Message {
        schema_version: u32,
        n: u64,
        at: Timestamp,
        by: Author,
        #[serde(default, skip_serializing_if = "Origins::is_empty")]
        from: Origins,
        message: Message,
    },
    /// The messages up to number `n` have moved to the block `history`.
    Moved {
        schema_version: u32,
        n: u64,
        /// Whether the person began a new window: then no word of these messages is shown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        new_window: bool,
    },
    /// Of the messages that had not moved, those that stay: the others could not be sent.
    Repaired {
        schema_version: u32,
        kept: Vec<KeptMessage>,
    },
}

/// A message that stays after a repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptMessage {
    pub n: u64,
    /// The message as it is from now on; `None` if it is unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
}

/// A line of version 1, without authors, or of version 2. Its messages have no numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OldLine {
    Message {
        schema_version: u32,
        at: Timestamp,
        #[serde(default)]
        by: Option<Author>,
        message: Message,
    },
    /// This number of messages have moved, the oldest ones.
    Moved {
        schema_version: u32,
        messages: usize,
    },
    /// The repaired messages, in place of those that had not moved.
    Repaired {
        schema_version: u32,
        messages: Vec<Message>,
    },
}

/// A line of a version that this program reads.
#[derive(Debug)]
pub(super) enum ParsedLine {
    /// A line in the current version, and whether it was written in the one before.
    Current { line: Line, is_old: bool },
    /// A line whose messages have no numbers.
    Old(OldLine),
}

impl ParsedLine {
    /// Reads a line, with or without its end.
    pub fn parse(bytes: &[u8]) -> Result<Self, LineError> {
        if let Ok(mut line) = serde_json::from_slice::<Line>(bytes)
            && (WITHOUT_ORIGINS..=VERSION).contains(line.version())
            && line.number() < NUMBERS
        {
            let is_old = std::mem::replace(line.version(), VERSION) != VERSION;
            return Ok(Self::Current { line, is_old });
        }
        match serde_json::from_slice::<OldLine>(bytes) {
            Ok(line) if (1..WITHOUT_ORIGINS).contains(&line.version()) => Ok(Self::Old(line)),
            _ => Err(LineError::of(bytes, VERSION)),
        }
    }
}

impl Line {
    fn version(&mut self) -> &mut u32 {
        match self {
            Self::Begin { schema_version, .. }
            | Self::Message { schema_version, .. }
            | Self::Moved { schema_version, .. }
            | Self::Repaired { schema_version, .. } => schema_version,
        }
    }

    fn number(&self) -> u64 {
        match self {
            Self::Begin { n, moved, .. } => *n.max(moved),
            Self::Message { n, .. } | Self::Moved { n, .. } => *n,
            Self::Repaired { .. } => 0,
        }
    }

    /// Writes the line with its end.
    pub fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.push(b'\n');
        Ok(())
    }
}

impl OldLine {
    fn version(&self) -> u32 {
        match self {
            Self::Message { schema_version, .. }
            | Self::Moved { schema_version, .. }
            | Self::Repaired { schema_version, .. } => *schema_version,
        }
    }
}
