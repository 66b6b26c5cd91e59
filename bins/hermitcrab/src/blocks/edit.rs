//! An edit of a block, and the answer to it.

use std::io::{self, Write as _};

use bin_support::Results;
use hermitcrab_kernel::prompt::Receipt;
use pscale_blocks::store::{Edited, KEY_REMOVED};
use pscale_blocks::{Applied, BlockName, BlockStore, Grown, Op, Path, StoreError};
use serde::Serialize;

use super::output::shown;
use crate::address::Address;
use crate::answer::Answer;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::flags::RevisionFlags;

/// The answer of every command that edits a block.
#[derive(Serialize)]
pub struct EditAnswer {
    pub name: BlockName,
    /// The revision of the block after the edit.
    pub rev: u64,
    #[serde(rename = "done")]
    pub action: EditAction,
    /// The node. It is left out for an edit of the whole block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// The path of a moved node before the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Path>,
    /// The nodes above it that had to be created and have no text yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<Path>,
    /// The change of paths, if the block grew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown: Option<Grown>,
    /// The number of keys that were removed from the text.
    pub keys_removed: u32,
    /// The usual form of the paths, if they were typed in another form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The command that restores a deleted block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore: Option<String>,
    /// The line about the summary that was written.
    #[serde(skip)]
    pub receipt: Option<String>,
}

/// The kind of an edit.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EditAction {
    Created,
    Written,
    Grown,
    Moved,
    Removed,
    Deleted,
}

impl EditAnswer {
    pub fn new(name: &BlockName, rev: u64, action: EditAction) -> Self {
        Self {
            name: name.clone(),
            rev,
            action,
            path: None,
            from: None,
            made: Vec::new(),
            grown: None,
            keys_removed: 0,
            note: None,
            restore: None,
            receipt: None,
        }
    }

    /// Returns the answer with the facts that the store reports of an edit.
    pub fn of_edit(name: &BlockName, action: EditAction, edited: &Edited) -> Self {
        let change = edited.applied.as_ref().and_then(Applied::change);
        Self {
            made: change.map_or_else(Vec::new, |change| change.created.clone()),
            grown: change.and_then(|change| change.grown.clone()),
            keys_removed: edited.keys_removed,
            ..Self::new(name, edited.rev, action)
        }
    }

    pub fn at(self, address: &Address) -> Self {
        Self {
            path: Some(address.path),
            note: address.note(),
            ..self
        }
    }
}

/// Returns the revision of a block.
///
/// # Errors
/// [`StoreError::Revision`] if another revision was expected.
pub fn ensure_revision(
    store: &dyn BlockStore,
    name: &BlockName,
    expect: RevisionFlags,
) -> Result<u64, Error> {
    let actual = store.load(name)?.rev;
    match expect.rev {
        Some(expected) if expected != actual => Err(Error::from(StoreError::Revision {
            name: name.clone(),
            expected,
            actual,
        })),
        _ => Ok(actual),
    }
}

pub fn edit(
    data: &DataDir,
    name: &BlockName,
    expect: RevisionFlags,
    op: &Op,
) -> Result<Edited, Error> {
    let store = data.for_writing()?;
    Ok(store.edit(name, expect.rev, op, &data.stamp_by_person())?)
}

impl Answer for EditAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        let (name, rev) = (&self.name, self.rev);
        let path = self.path.as_ref().map(shown).unwrap_or_default();
        match self.action {
            EditAction::Created => writeln!(out, "{name} is made, revision {rev}"),
            EditAction::Written => writeln!(out, "{name} {path} is written, revision {rev}"),
            EditAction::Grown => writeln!(out, "{name} has grown a level, revision {rev}"),
            EditAction::Moved => {
                let from = self.from.as_ref().map(shown).unwrap_or_default();
                writeln!(out, "{name} {from} is at {path} now, revision {rev}")
            }
            EditAction::Removed => writeln!(out, "{name} {path} is removed, revision {rev}"),
            EditAction::Deleted => writeln!(out, "{name} is in the folder trash"),
        }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices: Vec<_> = self.note.iter().cloned().collect();
        if !self.made.is_empty() {
            let made: Vec<_> = self.made.iter().map(shown).collect();
            notices.push(format!(
                "made on the way, and without a text yet: {}",
                made.join(", ")
            ));
        }
        let restore = self.restore.as_ref();
        notices.extend(restore.map(|command| format!("restore it with: {command}")));
        notices.extend(growth_notice(&self.name, self.grown.as_ref()));
        notices.extend(self.receipt.clone());
        notices.extend(key_notice(self.keys_removed));
        notices
    }
}

/// Returns a line about the paths that changed.
pub fn growth_notice(name: &BlockName, grown: Option<&Grown>) -> Option<String> {
    grown.map(|grown| format!("{name} grew: {grown}"))
}

/// Returns a line about the facts that a written summary keeps, and the places of those that it has lost. `None` also if the block
/// cannot be read again, or if over 64 KiB are below the summary: the edit is done.
pub fn receipt_notice(data: &DataDir, name: &BlockName, edited: &Edited) -> Option<String> {
    let change = edited.applied.as_ref().and_then(Applied::change);
    let path = change.and_then(|change| change.summary)?;
    let block = data.for_reading().ok()?.load(name).ok()?.block;
    let receipt = Receipt::quick(&block, &path)?;
    Some(format!("summary {path}: {receipt}"))
}

/// Returns a line about keys that were found in a text and removed.
pub fn key_notice(keys: u32) -> Option<String> {
    (keys > 0).then(|| {
        format!("the text held {keys} of what looks like a key; the block has {KEY_REMOVED} there")
    })
}
