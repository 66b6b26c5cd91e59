use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::outer::Outer;
use super::reader::Reader;
use super::{BundleError, ImportProblem, MAX_BUNDLE, check_size};
use crate::store::{Clean as _, Origin, Origins};
use crate::{
    Block, BlockName, BlockStore, EditAuthor, MAX_FILE, Op, Path as NodePath, Stamp, StoreError,
};

/// Blocks that were read and can be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportBatch {
    pub(super) blocks: Vec<ImportItem>,
    /// The files of a folder that are not among them.
    pub(super) problems: Vec<ImportProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ImportItem {
    pub name: BlockName,
    pub block: Block,
    /// The labels that the bundle has for the block.
    pub labels: BTreeMap<NodePath, Origins>,
    /// The faulty parts that were left out, one line each.
    pub repairs: Vec<String>,
    /// The ways in which the block is not as it was in the file, one sentence each.
    pub notices: Vec<String>,
    /// The note of the log.
    pub note: Option<String>,
}

/// The way in which blocks are imported.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ImportRules<'a> {
    /// The treatment of a block whose name is taken.
    pub on_conflict: OnConflict,
    /// Takes the labels of the bundle, as for the person's backup. Otherwise every text comes from the import.
    pub trust: bool,
    /// Blocks that are not replaced without trust.
    pub kept: &'a [BlockName],
}

impl<'a> ImportRules<'a> {
    /// The rules with this treatment of a block whose name is taken.
    pub fn new(on_conflict: OnConflict) -> Self {
        Self {
            on_conflict,
            ..Self::default()
        }
    }

    /// Takes the labels of the bundle, or not.
    #[must_use]
    pub fn trust(self, trust: bool) -> Self {
        Self { trust, ..self }
    }

    /// Names blocks that are not replaced without trust.
    #[must_use]
    pub fn keeping(self, kept: &'a [BlockName]) -> Self {
        Self { kept, ..self }
    }

    /// Whether the rules forbid to replace a block.
    fn keeps(&self, name: &BlockName) -> bool {
        !self.trust && self.on_conflict == OnConflict::Replace && self.kept.contains(name)
    }
}

/// The treatment of a block whose name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnConflict {
    /// The block is not imported.
    #[default]
    Skip,
    /// The block replaces the other one. An undo reverts that.
    Replace,
    /// The block gets another name: `memory-2`.
    Rename,
}

/// The result of the import of one block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Imported {
    /// The name in the bundle.
    pub name: BlockName,
    /// The action that was taken.
    #[serde(flatten)]
    pub outcome: ImportOutcome,
    /// The number of keys that were removed from its texts.
    pub keys_removed: u32,
    /// The faulty parts that were left out, one line each.
    pub repairs: Vec<String>,
    /// The ways in which the block is not as it was in the file, one sentence each.
    pub notices: Vec<String>,
}

/// The action that an import took for one block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a program that imports reports every outcome"
)]
pub enum ImportOutcome {
    /// The block is in the store.
    Created,
    /// The block replaced another one.
    Replaced,
    /// The block is in the store under another name.
    Renamed {
        /// The other name.
        to: BlockName,
    },
    /// The name is taken, nothing was done.
    Skipped,
    /// The store has this very block under this name.
    Same,
}

impl ImportBatch {
    /// Reads a bundle, upstream's set of blocks, or a bare block that gets the name `name`. With `repair` the faulty parts
    /// of blocks are left out; without, one fault refuses all.
    ///
    /// A block without `decimal` is read as one of the newer upstream format: its root is the head.
    ///
    /// # Errors
    /// Every fault, or what is not a bundle at all.
    pub fn read(text: &str, name: Option<&BlockName>, repair: bool) -> Result<Self, BundleError> {
        check_size("bundle", MAX_BUNDLE, text.len())?;
        let json = text.strip_prefix('\u{feff}').unwrap_or(text);
        let failed = |reason| BundleError::Format { reason };
        if !json.trim_start().starts_with('{') {
            return Err(failed("expected an object".to_owned()));
        }
        let outer: Outer<'_> =
            serde_json::from_str(json).map_err(|error| failed(error.to_string()))?;
        let mut reader = Reader::new(repair);
        if !outer.read(&mut reader)? {
            check_size("block", MAX_FILE, text.len())?;
            let name = name.ok_or(BundleError::NameNeeded)?;
            reader.block(name.as_str(), json, None);
        }
        reader.all_blocks()
    }

    /// Reads a folder of bare blocks, each in a file `NAME.json`. Other files and symbolic links are passed over. A file
    /// that cannot be read as a block is one of the [`ImportBatch::problems`].
    ///
    /// # Errors
    /// The folder cannot be read, its blocks have more bytes than a bundle may have, or every file has a problem.
    pub fn read_folder(folder: &Path, repair: bool) -> Result<Self, BundleError> {
        let mut reader = Reader::new(repair);
        reader.folder(folder)?;
        reader.good_blocks()
    }

    /// The names of the blocks.
    pub fn names(&self) -> impl Iterator<Item = &BlockName> {
        self.blocks.iter().map(|item| &item.name)
    }

    /// The files of a folder that are not imported.
    pub fn problems(&self) -> &[ImportProblem] {
        &self.problems
    }

    /// Puts the blocks into `store`: all of them, or none. `source` says where they come from, for the log and as the label of
    /// their nodes.
    ///
    /// # Errors
    /// The store says no. What was done was taken back by further revisions; if that failed, [`BundleError::Left`].
    pub fn import(
        &self,
        store: &dyn BlockStore,
        rules: ImportRules<'_>,
        source: &str,
        at: Timestamp,
    ) -> Result<Vec<Imported>, BundleError> {
        let source = source.to_owned();
        let of_import = Origin::Import {
            source: source.clone(),
        };
        let from = if rules.trust {
            Origins::default()
        } else {
            of_import.into()
        };
        let stamp = Stamp::new(at, EditAuthor::Import { source }).with_from(from);
        let mut taken: BTreeSet<_> = store.names()?.into_iter().map(|row| row.name).collect();
        taken.extend(self.names().cloned());
        let mut done = Vec::new();
        for item in &self.blocks {
            match item.import(store, rules, &stamp, &mut taken) {
                Ok(imported) => done.push(imported),
                Err(error) => return Err(revert(store, &done, &stamp, error.into())),
            }
        }
        Ok(done)
    }
}

impl ImportItem {
    fn import(
        &self,
        store: &dyn BlockStore,
        rules: ImportRules<'_>,
        stamp: &Stamp,
        taken: &mut BTreeSet<BlockName>,
    ) -> Result<Imported, StoreError> {
        let (block, keys) = self.block.clean(&[]);
        let labels = if rules.trust {
            self.labels.clone()
        } else {
            BTreeMap::new()
        };
        let stamp = &Stamp {
            note: self.note.clone(),
            labels,
            ..stamp.clone()
        };
        let imported = |outcome, keys_removed| Imported {
            name: self.name.clone(),
            outcome,
            keys_removed,
            repairs: self.repairs.clone(),
            notices: self.notices.clone(),
        };
        let there = match store.load(&self.name) {
            Err(StoreError::NoBlock { .. }) => {
                store.create(&self.name, &block, stamp)?;
                return Ok(imported(ImportOutcome::Created, keys));
            }
            there => there?,
        };
        if *there.block == block {
            return Ok(imported(ImportOutcome::Same, keys));
        }
        if rules.keeps(&self.name) {
            let mut skipped = imported(ImportOutcome::Skipped, 0);
            let notice = format!(
                "{} says who the model is, and is only replaced with trust",
                self.name
            );
            skipped.notices.push(notice);
            return Ok(skipped);
        }
        match rules.on_conflict {
            OnConflict::Skip => Ok(imported(ImportOutcome::Skipped, 0)),
            OnConflict::Replace => {
                store.edit(&self.name, Some(there.rev), &Op::Replace { block }, stamp)?;
                Ok(imported(ImportOutcome::Replaced, keys))
            }
            OnConflict::Rename => {
                let to = another_name(&self.name, taken)?;
                store.create(&to, &block, stamp)?;
                taken.insert(to.clone());
                Ok(imported(ImportOutcome::Renamed { to }, keys))
            }
        }
    }
}

/// The name with the first free number appended.
fn another_name(name: &BlockName, taken: &BTreeSet<BlockName>) -> Result<BlockName, StoreError> {
    let mut number = 2_u64;
    loop {
        let ending = format!("-{number}");
        // Names are ASCII and at most 64 long.
        let kept = &name.as_str()[..name.as_str().len().min(64 - ending.len())];
        let other = BlockName::new(&format!("{kept}{ending}"))?;
        if !taken.contains(&other) {
            return Ok(other);
        }
        number += 1;
    }
}

/// Reverts what an import did before an error, last first.
fn revert(
    store: &dyn BlockStore,
    done: &[Imported],
    stamp: &Stamp,
    error: BundleError,
) -> BundleError {
    let stamp = Stamp {
        note: Some("the import was interrupted".to_owned()),
        ..stamp.clone()
    };
    let mut left = Vec::new();
    for imported in done.iter().rev() {
        let (name, result) = match &imported.outcome {
            ImportOutcome::Created => (&imported.name, store.delete(&imported.name, &stamp)),
            ImportOutcome::Renamed { to } => (to, store.delete(to, &stamp)),
            ImportOutcome::Replaced => {
                let undone = store.undo(&imported.name, 1, &stamp);
                (&imported.name, undone.map(|_| ()))
            }
            ImportOutcome::Skipped | ImportOutcome::Same => continue,
        };
        if result.is_err() {
            left.push(name.clone());
        }
    }
    if left.is_empty() {
        return error;
    }
    let source = Box::new(error);
    BundleError::Left { left, source }
}
