use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Block, Inverse, Op, Path};

/// When an edit is made and by whom. A store has no clock of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: EditAuthor,
    /// Why, for the log.
    pub note: Option<String>,
}

/// Who makes an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditAuthor {
    /// The person.
    Person,
    /// A model.
    Model {
        /// Its id.
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
    /// Another store, or an earlier generation.
    Import {
        /// Which.
        source: String,
    },
    /// The program itself.
    Kernel,
}

/// One line of a block's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// 1.
    pub schema_version: u32,
    /// The revision that the edit made.
    pub rev: u64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: EditAuthor,
    /// What was done.
    pub op: LoggedOp,
    /// The node that was written, or the head when the whole block changed; see [`crate::Change::path`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// What takes it back; none where an undo stops.
    pub inverse: Option<Inverse>,
    /// SHA-256 of the block before, in hex; none when it was made. A store in memory has no hashes.
    pub before_hash: Option<String>,
    /// SHA-256 of the block afterwards, in hex; none when it was deleted. A store in memory has no hashes.
    pub after_hash: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a log says was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum LoggedOp {
    /// The block was made.
    Create {
        /// As it was.
        block: Block,
    },
    /// It went to the trash.
    Delete,
    /// Edits were taken back.
    Undo {
        /// The revisions that the edits had made, the newest first.
        #[serde(default)]
        revs: Vec<u64>,
        /// Read from the logs of older programs only, which did not name revisions: so many entries before this one.
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
