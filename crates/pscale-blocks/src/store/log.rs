use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Origin, Origins};
use crate::{Block, BlockName, BlockStore, Inverse, Op, Path, StoreError};

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
    /// The places outside that the edit may come from.
    pub from: Origins,
    /// The number of the message in which the edit was asked for.
    pub n: Option<u64>,
    /// The labels of single nodes of a whole block that is created or put in the place of another.
    pub labels: BTreeMap<Path, Origins>,
}

impl Stamp {
    /// An edit at this time by this author.
    pub fn new(at: Timestamp, by: EditAuthor) -> Self {
        Self {
            at,
            by,
            note: None,
            from: Origins::default(),
            n: None,
            labels: BTreeMap::new(),
        }
    }

    /// Names the places outside that the edit may come from.
    #[must_use]
    pub fn with_from(self, from: Origins) -> Self {
        Self { from, ..self }
    }

    /// Names the message in which the edit was asked for.
    #[must_use]
    pub fn with_message(self, n: u64) -> Self {
        Self { n: Some(n), ..self }
    }

    /// Gives nodes of a whole block their labels: see [`Stamp::labels`].
    #[must_use]
    pub fn with_labels(self, labels: BTreeMap<Path, Origins>) -> Self {
        Self { labels, ..self }
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
    /// The places outside that the edit may come from.
    #[serde(default, skip_serializing_if = "Origins::is_empty")]
    pub from: Origins,
    /// The number of the message in which the edit was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The labels of single nodes of a whole block: see [`Stamp::labels`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Path, Origins>,
}

impl LogEntry {
    /// The places outside that the edit may come from, those of an author included: older programs only noted a page.
    pub fn origins(&self) -> Origins {
        let page = match &self.by {
            EditAuthor::Model { web: Some(url), .. } | EditAuthor::Web { url } => {
                Some(Origin::Web { url: url.clone() })
            }
            _ => None,
        };
        Origins::union([&self.from, &page.into_iter().collect()])
    }
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

/// The entries of a log that are asked for, counted from the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogRange {
    /// Only entries of earlier revisions. `None` for all.
    pub before: Option<u64>,
    /// The most entries.
    pub limit: usize,
}

impl LogRange {
    /// The whole log.
    pub const ALL: Self = Self::newest(usize::MAX);

    /// The newest `limit` entries.
    pub const fn newest(limit: usize) -> Self {
        let before = None;
        Self { before, limit }
    }

    /// The newest of the entries before revision `rev`.
    #[must_use]
    pub const fn before(self, rev: u64) -> Self {
        let before = Some(rev);
        Self { before, ..self }
    }
}

/// The newest `limit` edits of all blocks, the newest first. Of each block a few are read at a time.
///
/// # Errors
/// The store cannot be read.
pub fn newest_edits(
    store: &dyn BlockStore,
    limit: usize,
) -> Result<Vec<(BlockName, LogEntry)>, StoreError> {
    const STEP: usize = 16;
    let read = |name: &BlockName, range| -> Result<VecDeque<_>, StoreError> {
        Ok(store.log(name, range)?.into())
    };
    let mut logs = Vec::new();
    for row in store.names()? {
        let log = read(&row.name, LogRange::newest(STEP))?;
        logs.push((row.name, log));
    }
    let mut newest = Vec::new();
    while newest.len() < limit {
        let next = logs
            .iter_mut()
            .filter(|(_, log)| !log.is_empty())
            .max_by_key(|(_, log)| log.front().map(|entry| entry.at));
        let Some((name, log)) = next else {
            break;
        };
        if let Some(entry) = log.pop_front() {
            if log.is_empty() {
                *log = read(name, LogRange::newest(STEP).before(entry.rev))?;
            }
            newest.push((name.clone(), entry));
        }
    }
    Ok(newest)
}
