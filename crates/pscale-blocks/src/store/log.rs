use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Block, Inverse, Op, Path};

/// The time and the author of an edit. A store has no clock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stamp {
    /// The time of the edit.
    pub at: Timestamp,
    /// The author of the edit.
    pub by: EditAuthor,
    /// The reason for the edit, for the log.
    pub note: Option<String>,
}

impl Stamp {
    /// An edit at this time by this author.
    pub fn new(at: Timestamp, by: EditAuthor) -> Self {
        Self { at, by, note: None }
    }

    /// Gives the reason for the edit.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// The author of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a program that shows a log names every author"
)]
pub enum EditAuthor {
    /// The person.
    Person,
    /// A model.
    Model {
        /// The id of the model.
        id: String,
        /// A page that it had read in the same turn, so that the edit may be the page's wish.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        web: Option<String>,
    },
    /// Text from the web.
    Web {
        /// The page.
        url: String,
    },
    /// Import from another store or an earlier generation.
    Import {
        /// The name of the source.
        source: String,
    },
    /// The program itself.
    Kernel,
}

/// One line of a block's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogEntry {
    /// The version of the format, 1.
    pub schema_version: u32,
    /// The revision that the edit made.
    pub rev: u64,
    /// The time of the edit.
    pub at: Timestamp,
    /// The author of the edit.
    pub by: EditAuthor,
    /// The operation.
    pub op: LoggedOp,
    /// The node that was written, or the head when the whole block changed; see [`crate::Change::path`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// The inverse of the edit. `None` where an undo stops.
    pub inverse: Option<Inverse>,
    /// SHA-256 of the block before, in hex. `None` for a new block, and in a store in memory, which has no hashes.
    pub before_hash: Option<String>,
    /// SHA-256 of the block afterwards, in hex. `None` for a deleted block, and in a store in memory.
    pub after_hash: Option<String>,
    /// The reason for the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The operation of a log entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a program that shows a log names every operation"
)]
pub enum LoggedOp {
    /// The block was made.
    Create {
        /// As it was.
        block: Block,
    },
    /// The block went to the trash.
    Delete,
    /// Edits were taken back.
    Undo {
        /// The revisions that the edits had made, the newest first.
        #[serde(default)]
        revs: Vec<u64>,
        /// The number of entries before this one. Only in the logs of older programs, which did not name revisions.
        /// Reading a log turns it into `revs`.
        #[doc(hidden)]
        #[serde(default, skip_serializing)]
        count: u64,
    },
    /// Edits that had been taken back were made again.
    Redo {
        /// The revisions that the edits had made, the oldest first.
        revs: Vec<u64>,
    },
    /// An edit.
    #[serde(untagged)]
    Edit(Op),
}
