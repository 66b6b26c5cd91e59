//! The edits that wait for the person: those of the blocks that say who the model is, if a place outside may have asked for them.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use llm_client::Redactor;
use pscale_blocks::store::{Edited, LogEntry, LogRange, LoggedOp, Origin, Origins, Steps};
use pscale_blocks::{
    Appended, Applied, Block, BlockName, BlockStore, EditAuthor, NodeDiff, Op, Stamp, StoreError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::blocks::store_fault;
use crate::prompt::CoreBlock;
use crate::storage::{FileStore, KeyGates};
use crate::{ErrorKind, ToolError};

const FOLDER: &str = "review";
const VERSION: u32 = 1;
/// The most edits that wait.
const MOST: usize = 50;
/// The most of them that come first of all from the same place outside: one of them alone fills no queue.
const MOST_OF_ONE: usize = 10;
/// The characters of an id. It is a hash of the edit, so an edit that is asked for again waits only once.
const ID: usize = 10;

/// The edits that wait for the person, each in a file `review/ID.json` of the data directory.
#[derive(Debug)]
pub struct ReviewQueue {
    files: Arc<FileStore>,
    /// Held from reading the files until one is written or removed.
    turn: Mutex<()>,
}

/// An edit that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueuedEdit {
    /// The version of the format, 1.
    pub schema_version: u32,
    /// The id.
    pub id: String,
    /// The block.
    pub block: BlockName,
    /// The edit.
    pub op: ReviewOp,
    /// The revision of the block when the edit was asked for; 0 if there never was one.
    pub base_rev: u64,
    /// SHA-256, in hex, of the texts that the edit replaces and of the new ones without their places; for an undo or a redo of
    /// the revision and the whole block.
    pub base_hash_of_path: String,
    /// The places outside that the edit may come from.
    pub from: Origins,
    /// The author.
    pub by: EditAuthor,
    /// The time at which it was asked for.
    pub at: Timestamp,
    /// The number of the message that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
}

/// An edit as tools and the queue have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReviewOp {
    /// Creates the block.
    Create {
        /// The text of its head.
        text: String,
    },
    /// Reverts the last edits of the block.
    Undo {
        /// The number of edits.
        count: u32,
    },
    /// Makes reverted edits again.
    Redo {
        /// The number of edits.
        count: u32,
    },
    /// Edits the block.
    #[serde(untagged)]
    Edit(Op),
}

/// The edits that wait, as they are listed.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct WaitingEdits {
    /// The edits, the oldest first.
    pub edits: Vec<QueuedEdit>,
    /// Files that cannot be read, each with the reason.
    pub unread: Vec<String>,
}

/// The way of an edit.
pub(crate) enum ReviewGate {
    /// The edit is not held. With `rev`, because it can be done and would change nothing in this revision.
    Open { rev: Option<u64> },
    /// The edit waits; this is the answer.
    Waits(Value),
}

/// An edit that was made.
pub(super) struct RanEdit {
    pub rev: u64,
    /// `None` for a created block.
    pub edited: Option<Edited>,
}

/// The effect that an edit would have.
enum EditEffect {
    /// The edit can be done, and changes nothing.
    Nothing { rev: u64 },
    Change {
        rev: u64,
        base_hash: String,
        changes: Vec<NodeDiff>,
    },
}

impl ReviewOp {
    /// Makes the edit; with `rev`, only if that is the block's revision.
    pub(super) fn run(
        &self,
        name: &BlockName,
        rev: Option<u64>,
        store: &dyn BlockStore,
        stamp: &Stamp,
    ) -> Result<RanEdit, StoreError> {
        let edited = match self {
            Self::Create { text } => {
                let rev = store.create(name, &created(text)?, stamp)?;
                return Ok(RanEdit { rev, edited: None });
            }
            Self::Undo { count } => store.undo(name, *count, stamp)?,
            Self::Redo { count } => store.redo(name, *count, stamp)?,
            Self::Edit(op) => store.edit(name, rev, op, stamp)?,
        };
        let rev = edited.rev;
        let edited = Some(edited);
        Ok(RanEdit { rev, edited })
    }

    /// The edit as a store keeps it: without keys. So what is judged, shown and approved is what is written.
    fn clean(&self, gates: &KeyGates) -> Self {
        let mut op = self.clone();
        let clean = |text: &mut String| *text = gates.written(text);
        match &mut op {
            Self::Create { text } => clean(text),
            Self::Edit(op) => op.change_texts(clean),
            Self::Undo { .. } | Self::Redo { .. } => {}
        }
        op
    }

    /// The effect that the edit would have.
    ///
    /// # Errors
    /// It cannot be done, or the store cannot be read: then it must not run either.
    fn effect(&self, name: &BlockName, store: &dyn BlockStore) -> Result<EditEffect, StoreError> {
        if let Self::Create { text } = self {
            return match store.load(name) {
                Ok(_) => Err(StoreError::Exists { name: name.clone() }),
                Err(StoreError::NoBlock { .. }) => {
                    created(text)?;
                    let last = store.log(name, LogRange::newest(1))?;
                    Ok(EditEffect::Change {
                        rev: last.first().map_or(0, |entry| entry.rev),
                        base_hash: String::new(),
                        changes: Vec::new(),
                    })
                }
                Err(error) => Err(error),
            };
        }
        let found = store.load(name)?;
        let rev = found.rev;
        let mut after = Block::clone(&found.block);
        let Self::Edit(op) = self else {
            let mut log = store.log(name, LogRange::ALL)?;
            log.reverse();
            self.step(name, &mut after, &log)?;
            return Ok(EditEffect::Change {
                rev,
                base_hash: hash(&json!([rev, hex::encode(found.hash)])),
                changes: found.block.diff(&after),
            });
        };
        let applied = after.apply(op).map_err(|error| error.in_block(name))?;
        let asks = matches!(
            applied,
            Applied::Appended(Appended::NeedsSummary { change: None, .. })
        );
        if asks || after == *found.block {
            return Ok(EditEffect::Nothing { rev });
        }
        let changes = found.block.diff(&after);
        Ok(EditEffect::Change {
            rev,
            base_hash: hash_changes(&changes),
            changes,
        })
    }

    /// Takes the edits back that an undo concerns, or makes those of a redo again. `log` has the oldest entry first.
    fn step(
        &self,
        name: &BlockName,
        block: &mut Block,
        log: &[LogEntry],
    ) -> Result<(), StoreError> {
        let name = || name.clone();
        let steps = Steps::of(log);
        let (revs, step, count) = match self {
            Self::Redo { count } => (steps.redo, "redo", *count),
            Self::Undo { count } => (steps.undo, "undo", *count),
            Self::Create { .. } | Self::Edit(_) => return Ok(()),
        };
        if revs.is_empty() {
            return Err(StoreError::NothingLeft { name: name(), step });
        }
        for rev in revs.iter().take(count as usize) {
            let at = log.binary_search_by_key(rev, |entry| entry.rev);
            let entry = at.ok().and_then(|at| log.get(at));
            match entry.map(|entry| (&entry.op, &entry.inverse)) {
                Some((LoggedOp::Edit(op), _)) if step == "redo" => {
                    block.apply(op)?;
                }
                Some((_, Some(inverse))) if step == "undo" => {
                    block.revert(inverse);
                }
                _ => return Err(StoreError::LogMismatch { name: name() }),
            }
        }
        Ok(())
    }
}

/// A block with this head.
fn created(text: &str) -> Result<Block, StoreError> {
    let mut block = Block::new("-");
    block.write(&block.head(), text)?;
    Ok(block)
}

/// The hash of the texts that are replaced or removed, and of the new ones without their places: an entry is appended wherever
/// there is room, and a text that was not shown is another edit.
fn hash_changes(changes: &[NodeDiff]) -> String {
    let (replaced, new): (Vec<_>, Vec<_>) =
        (changes.iter()).partition(|change| change.before.is_some());
    let replaced: Vec<_> = (replaced.iter())
        .map(|change| (change.path, &change.before))
        .collect();
    let mut new: Vec<_> = new.iter().map(|change| &change.after).collect();
    new.sort_unstable();
    hash(&json!([replaced, new]))
}

fn hash(value: &Value) -> String {
    hex::encode(Sha256::digest(value.to_string()))
}

/// The reason why an edit waits, by the first of its origins: `after reading https://example.org`.
fn reason(from: &Origins) -> String {
    let first = match from.listed().first() {
        Some(Origin::Web { url }) => format!("after reading {url}"),
        Some(Origin::File { root, path }) => format!("after reading the file {root}/{path}"),
        Some(Origin::Store { key }) => format!("after reading the stored value {key}"),
        Some(Origin::Client { name }) => format!("asked for by the program {name}"),
        Some(Origin::Import { source }) => format!("after reading what was imported from {source}"),
        Some(Origin::Face { rev }) => format!("asked for by face {rev}, or after its words"),
        Some(other) => format!("after an answer of {other}"),
        None => "after reading a text from outside".to_owned(),
    };
    match (from.listed().len().saturating_sub(1)) as u64 + from.more() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The reason and who decides.
impl fmt::Display for QueuedEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; the person decides", reason(&self.from))
    }
}

impl QueuedEdit {
    /// The texts that the edit would change now. Empty for a block that is to be created, and if the block can no longer take the
    /// edit.
    pub fn changes(&self, store: &dyn BlockStore) -> Vec<NodeDiff> {
        match self.op.effect(&self.block, store) {
            Ok(EditEffect::Change { changes, .. }) => changes,
            _ => Vec::new(),
        }
    }
}

impl ReviewQueue {
    /// The queue in a data directory. A program that writes to the blocks is the only one that writes here, too.
    pub fn open(data: &Path) -> Self {
        let files = FileStore::new(Some(data), true, &Redactor::default());
        Self::new(Arc::new(files))
    }

    pub(super) fn new(files: Arc<FileStore>) -> Self {
        let turn = Mutex::default();
        Self { files, turn }
    }

    /// Holds an edit back if it concerns one of the blocks that say who the model is, and may come from a place outside. One that
    /// cannot be done fails here.
    pub(crate) fn check(
        &self,
        name: &BlockName,
        op: &ReviewOp,
        store: &dyn BlockStore,
        stamp: &Stamp,
    ) -> Result<ReviewGate, ToolError> {
        let is_own = |core: &CoreBlock| core.name() == name;
        if stamp.from.is_empty() || !CoreBlock::REVIEWED.iter().any(is_own) {
            return Ok(ReviewGate::Open { rev: None });
        }
        let op = op.clean(self.files.gates());
        let (base_rev, base_hash_of_path) = match op.effect(name, store).map_err(store_fault)? {
            EditEffect::Nothing { rev } => return Ok(ReviewGate::Open { rev: Some(rev) }),
            EditEffect::Change { rev, base_hash, .. } => (rev, base_hash),
        };
        let mut id = hash(&json!([name, op, base_hash_of_path]));
        id.truncate(ID);
        let mut edit = QueuedEdit {
            schema_version: VERSION,
            id,
            block: name.clone(),
            op,
            base_rev,
            base_hash_of_path,
            from: stamp.from.clone(),
            by: stamp.by.clone(),
            at: stamp.at,
            n: stamp.n,
        };
        let mut waited = false;
        let _turn = self.turn();
        match self.find(&edit.id) {
            Ok(waiting) if (&waiting.block, &waiting.op) == (&edit.block, &edit.op) => {
                // It keeps its place in the list: the person may be about to decide.
                let from = Origins::union([&waiting.from, &edit.from]);
                if from == waiting.from {
                    return Ok(ReviewGate::Waits(waiting.answer(true)));
                }
                edit = QueuedEdit { from, ..waiting };
                waited = true;
            }
            Err(fault) if fault.kind == ErrorKind::NotFound => self.make_room(&edit)?,
            Ok(_) | Err(_) => {
                let detail = format!("another edit waits as {}, or it cannot be read", edit.id);
                return Err(ToolError::new(ErrorKind::Exists, detail));
            }
        }
        let bytes = serde_json::to_vec_pretty(&edit).unwrap_or_default();
        let kept = self.files.replace(&file(&edit.id), &bytes);
        kept.map_err(ToolError::from_io)?;
        Ok(ReviewGate::Waits(edit.answer(waited)))
    }

    /// Fails if no further edit like this one may wait.
    fn make_room(&self, edit: &QueuedEdit) -> Result<(), ToolError> {
        let full = |detail: String| {
            let fault = ToolError::new(ErrorKind::Full, format!("{detail}; nothing was changed"));
            Err(fault.hint("ask the person to approve or drop some of them"))
        };
        let waiting = self.list()?;
        if waiting.edits.len() + waiting.unread.len() >= MOST {
            return full(format!("{MOST} edits wait for the person"));
        }
        let first = |edit: &QueuedEdit| edit.from.listed().first().cloned();
        let source = first(edit);
        let same = waiting.edits.iter().filter(|other| first(other) == source);
        if same.count() >= MOST_OF_ONE {
            return full(format!("{MOST_OF_ONE} edits {} wait", reason(&edit.from)));
        }
        // The effect of each is read from the log whenever the person looks at the list.
        let is_step =
            |edit: &QueuedEdit| matches!(edit.op, ReviewOp::Undo { .. } | ReviewOp::Redo { .. });
        let is_same = |other: &&QueuedEdit| is_step(other) && other.block == edit.block;
        if is_step(edit)
            && let Some(other) = waiting.edits.iter().find(is_same)
        {
            return full(format!(
                "an undo or redo of {} waits as {}",
                edit.block, other.id
            ));
        }
        Ok(())
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ids of the files.
    fn ids(&self) -> Result<Vec<String>, ToolError> {
        let names = self.files.list(FOLDER).map_err(ToolError::from_io)?;
        let mut ids: Vec<_> = names
            .iter()
            .filter_map(|name| name.strip_suffix(".json"))
            .filter(|id| matches!(self.files.read(&file(id)), Ok(Some(_)) | Err(_)))
            .map(str::to_owned)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// The edits that wait.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<WaitingEdits, ToolError> {
        let mut waiting = WaitingEdits::default();
        for id in self.ids()? {
            match self.find(&id) {
                Ok(edit) => waiting.edits.push(edit),
                Err(fault) => waiting.unread.push(fault.detail),
            }
        }
        waiting
            .edits
            .sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        Ok(waiting)
    }

    fn find(&self, id: &str) -> Result<QueuedEdit, ToolError> {
        let none = || {
            let detail = format!("no edit waits as {id:?}");
            ToolError::new(ErrorKind::NotFound, detail).hint("`block review` lists those that wait")
        };
        // An id is a part of a file's name.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(none());
        }
        let name = file(id);
        let bytes = self.files.read(&name).map_err(ToolError::from_io)?;
        let bytes = bytes.ok_or_else(none)?;
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let version = value["schema_version"].as_u64().unwrap_or_default();
        if version > u64::from(VERSION) {
            let detail = format!(
                "{name} was written by a newer program (schema {version}, this one knows {VERSION})"
            );
            return Err(ToolError::new(ErrorKind::Newer, detail).hint("update the program"));
        }
        match serde_json::from_value::<QueuedEdit>(value) {
            Ok(edit) if edit.id == id => Ok(edit),
            _ => {
                let detail = format!("{name} is damaged");
                Err(ToolError::new(ErrorKind::Corrupt, detail)
                    .hint(format!("`block review drop {id}` removes it")))
            }
        }
    }

    /// Makes an edit in the name of the person, and returns the revision of its block. Its text is then the person's, and the log
    /// names its origins.
    ///
    /// # Errors
    /// `conflict`: the texts that it replaces are others now, and nothing is done. `not_found`, `newer`, `corrupt`; or the store
    /// refuses it.
    pub fn approve(
        &self,
        id: &str,
        store: &dyn BlockStore,
        at: Timestamp,
    ) -> Result<(QueuedEdit, u64), ToolError> {
        let _turn = self.turn();
        let edit = self.find(id)?;
        let note = format!("approved {id}");
        // A process may have ended before it removed the file.
        let log = store.log(&edit.block, LogRange::newest(MOST));
        let log = log.unwrap_or_default();
        let done = log.iter().find(|entry| {
            entry.note.as_deref() == Some(note.as_str())
                && entry.by == EditAuthor::Person
                && entry.rev > edit.base_rev
        });
        let rev = match done {
            Some(entry) => entry.rev,
            None => edit.apply(store, at, note)?,
        };
        self.remove(id)?;
        Ok((edit, rev))
    }

    /// Removes an edit that waits. One of which the file is damaged has no content.
    ///
    /// # Errors
    /// `not_found`, `newer`; or the file cannot be removed.
    pub fn drop(&self, id: &str) -> Result<Option<QueuedEdit>, ToolError> {
        let _turn = self.turn();
        let edit = match self.find(id) {
            Ok(edit) => Some(edit),
            Err(fault) if fault.kind == ErrorKind::Corrupt => None,
            Err(fault) => return Err(fault),
        };
        self.remove(id)?;
        Ok(edit)
    }

    fn remove(&self, id: &str) -> Result<(), ToolError> {
        self.files.remove(&file(id)).map_err(ToolError::from_io)
    }
}

impl QueuedEdit {
    /// The answer to who asked; `waited` for an edit that waits already.
    fn answer(&self, waited: bool) -> Value {
        let mut answer = json!({"queued": self.id, "why": self.to_string()});
        if waited {
            answer["waited"] = true.into();
        }
        answer
    }

    fn apply(&self, store: &dyn BlockStore, at: Timestamp, note: String) -> Result<u64, ToolError> {
        let conflict = || {
            let detail = format!("{} has changed since; nothing was done", self.block);
            let hint = format!("`block review drop {}` removes the edit", self.id);
            ToolError::new(ErrorKind::Conflict, detail).hint(hint)
        };
        let rev = match self.op.effect(&self.block, store) {
            Ok(EditEffect::Change { rev, base_hash, .. })
                if base_hash == self.base_hash_of_path =>
            {
                rev
            }
            Ok(_)
            | Err(
                StoreError::NoBlock { .. }
                | StoreError::Exists { .. }
                | StoreError::NothingLeft { .. }
                | StoreError::Block(_),
            ) => return Err(conflict()),
            Err(error) => return Err(error.into()),
        };
        let stamp = Stamp::new(at, EditAuthor::Person)
            .with_note(note)
            .with_from(self.from.clone());
        let stamp = match self.n {
            Some(n) => stamp.with_message(n),
            None => stamp,
        };
        let ran = self.op.run(&self.block, Some(rev), store, &stamp)?;
        Ok(ran.rev)
    }
}

fn file(id: &str) -> String {
    format!("{FOLDER}/{id}.json")
}
