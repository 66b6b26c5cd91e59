use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{
    BundleError, ImportProblem, ImportProblemReason, KIND, MAX_BUNDLE, SCHEMA_VERSION, check_size,
};
use crate::store::Clean as _;
use crate::{Block, BlockName, BlockStore, EditAuthor, MAX_FILE, Op, Stamp, StoreError};

/// Blocks that were read and can be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportBatch {
    blocks: Vec<ImportItem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ImportItem {
    name: BlockName,
    block: Block,
    /// The faulty parts that were left out, one line each.
    repairs: Vec<String>,
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
    /// Reads a bundle, or a bare block that gets the name `name`. With `repair` the faulty parts of blocks are left out;
    /// without, one fault refuses all.
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
        if outer.kind.as_deref() == Some(KIND) {
            return outer.read(repair);
        }
        check_size("block", MAX_FILE, text.len())?;
        let name = name.ok_or(BundleError::NameNeeded)?;
        let mut reader = Reader::new(repair);
        reader.block(name.as_str(), json, None);
        reader.end()
    }

    /// Reads a folder of bare blocks, each in a file `NAME.json`. Other files and symbolic links are passed over.
    ///
    /// # Errors
    /// As [`ImportBatch::read`], or a file cannot be read.
    pub fn read_folder(folder: &Path, repair: bool) -> Result<Self, BundleError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| BundleError::Io { path, source }
        };
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed(folder))? {
            let entry = entry.map_err(failed(folder))?;
            let path = entry.path();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && path.extension().is_some_and(|ending| ending == "json") {
                files.push(path);
            }
        }
        files.sort();
        let mut reader = Reader::new(repair);
        for path in files {
            let length = fs::metadata(&path).map_err(failed(&path))?.len();
            check_size(
                "block",
                MAX_FILE,
                usize::try_from(length).unwrap_or(usize::MAX),
            )?;
            let bytes = fs::read(&path).map_err(failed(&path))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            match std::str::from_utf8(&bytes) {
                Ok(text) => reader.block(&name, text, None),
                Err(error) => reader.fault(&name, ImportProblemReason::Entry(error.to_string())),
            }
        }
        reader.end()
    }

    /// The names of the blocks.
    pub fn names(&self) -> impl Iterator<Item = &BlockName> {
        self.blocks.iter().map(|item| &item.name)
    }

    /// Puts the blocks into `store`: all of them, or none. `source` says where they come from, for the log.
    ///
    /// # Errors
    /// The store says no. What was done was taken back by further revisions; if that failed, [`BundleError::Left`].
    pub fn import(
        &self,
        store: &dyn BlockStore,
        on_conflict: OnConflict,
        source: &str,
        at: Timestamp,
    ) -> Result<Vec<Imported>, BundleError> {
        let stamp = Stamp {
            at,
            by: EditAuthor::Import {
                source: source.to_owned(),
            },
            note: None,
        };
        let mut taken: BTreeSet<_> = store.names()?.into_iter().map(|row| row.name).collect();
        taken.extend(self.names().cloned());
        let mut done = Vec::new();
        for item in &self.blocks {
            match item.import(store, on_conflict, &stamp, &mut taken) {
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
        on_conflict: OnConflict,
        stamp: &Stamp,
        taken: &mut BTreeSet<BlockName>,
    ) -> Result<Imported, StoreError> {
        let (block, keys) = self.block.clean();
        let imported = |outcome, keys_removed| Imported {
            name: self.name.clone(),
            outcome,
            keys_removed,
            repairs: self.repairs.clone(),
        };
        let there = match store.load(&self.name) {
            Err(StoreError::NoBlock { .. }) => {
                store.create(&self.name, &block, stamp)?;
                return Ok(imported(ImportOutcome::Created, keys));
            }
            there => there?,
        };
        if *there.block == *block {
            return Ok(imported(ImportOutcome::Same, keys));
        }
        match on_conflict {
            OnConflict::Skip => Ok(imported(ImportOutcome::Skipped, 0)),
            OnConflict::Replace => {
                let block = block.into_owned();
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

/// Takes blocks in one by one and collects their faults.
struct Reader {
    repair: bool,
    blocks: Vec<ImportItem>,
    faults: Vec<ImportProblem>,
}

impl Reader {
    fn new(repair: bool) -> Self {
        Self {
            repair,
            blocks: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn fault(&mut self, name: &str, reason: ImportProblemReason) {
        let name = name.chars().take(80).collect();
        self.faults.push(ImportProblem { name, reason });
    }

    fn block(&mut self, name: &str, json: &str, hash: Option<&str>) {
        if let Err(reason) = self.take(name, json, hash) {
            self.fault(name, reason);
        }
    }

    fn take(
        &mut self,
        name: &str,
        json: &str,
        hash: Option<&str>,
    ) -> Result<(), ImportProblemReason> {
        let name = BlockName::new(name)?;
        if self.blocks.iter().any(|block| block.name == name) {
            return Err(ImportProblemReason::Twice);
        }
        let (block, mut repairs) = if self.repair {
            let (block, issues) = Block::parse_lenient(json)?;
            (block, issues.iter().map(ToString::to_string).collect())
        } else {
            (Block::parse(json)?, Vec::new())
        };
        if let Some(said) = hash.map(str::to_owned) {
            let found = hex::encode(block.hash());
            if found != said {
                let reason = ImportProblemReason::Hash { found, said };
                if !self.repair {
                    return Err(reason);
                }
                repairs.push(reason.to_string());
            }
        }
        self.blocks.push(ImportItem {
            name,
            block,
            repairs,
        });
        Ok(())
    }

    fn end(self) -> Result<ImportBatch, BundleError> {
        if self.faults.is_empty() {
            let blocks = self.blocks;
            return Ok(ImportBatch { blocks });
        }
        let faults = self.faults;
        Err(BundleError::Faulty { faults })
    }
}

/// A bundle, or anything else.
#[derive(Deserialize)]
struct Outer<'a> {
    #[serde(default, deserialize_with = "text_or_none")]
    kind: Option<String>,
    #[serde(default)]
    schema_version: Option<u64>,
    #[serde(default, borrow)]
    blocks: Option<Entries<'a>>,
}

/// A bare block may have any field of this name, which is its own parser's matter.
fn text_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(value.as_str().map(str::to_owned))
}

/// Names and their values, in the order of the text. A name that the text has twice is here twice.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of blocks")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

impl Outer<'_> {
    fn read(self, repair: bool) -> Result<ImportBatch, BundleError> {
        #[derive(Deserialize)]
        struct Entry<'a> {
            hash: Option<String>,
            #[serde(borrow)]
            block: &'a RawValue,
        }
        match self.schema_version {
            Some(1) => {}
            Some(found) => return Err(BundleError::Newer { found }),
            None => {
                let reason = format!("expected \"schema_version\": {SCHEMA_VERSION}");
                return Err(BundleError::Format { reason });
            }
        }
        let Some(Entries(entries)) = self.blocks else {
            let reason = "expected \"blocks\"".to_owned();
            return Err(BundleError::Format { reason });
        };
        let mut reader = Reader::new(repair);
        for (name, value) in entries {
            match serde_json::from_str(value.get()) {
                Ok(Entry { hash, block }) => reader.block(&name, block.get(), hash.as_deref()),
                Err(error) => reader.fault(&name, ImportProblemReason::Entry(error.to_string())),
            }
        }
        reader.end()
    }
}
