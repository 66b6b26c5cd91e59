use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{BundleError, KIND, MAX_BUNDLE, SCHEMA_VERSION, check_size};
use crate::store::{LogEntry, LogRange, Origins};
use crate::{Block, BlockName, BlockStore, Path};

/// The contents of a bundle in addition to the blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Export<'a> {
    /// The time of the export.
    pub at: Timestamp,
    /// The version of the texts that the blocks were begun with.
    pub keystone_version: Option<&'a str>,
    /// The logs as well. An import does not read them.
    pub with_log: bool,
}

impl<'a> Export<'a> {
    /// The blocks alone, at this time.
    pub fn new(at: Timestamp) -> Self {
        Self {
            at,
            keystone_version: None,
            with_log: false,
        }
    }

    /// Names the version of the texts that the blocks were begun with.
    #[must_use]
    pub fn keystone_version(mut self, version: Option<&'a str>) -> Self {
        self.keystone_version = version;
        self
    }

    /// Adds the logs.
    #[must_use]
    pub fn with_log(mut self, with_log: bool) -> Self {
        self.with_log = with_log;
        self
    }
}

#[derive(Serialize)]
struct Bundle<'a> {
    schema_version: u32,
    kind: &'static str,
    exported_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    keystone_version: Option<&'a str>,
    blocks: BTreeMap<BlockName, Bundled<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<BTreeMap<BlockName, Vec<LogEntry>>>,
}

#[derive(Serialize)]
struct Bundled<'a> {
    rev: u64,
    hash: String,
    block: &'a Block,
    /// The labels of its nodes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<Path, Origins>,
}

/// The bundle of these blocks, or of all. A single block without its name is [`Block::to_file`].
///
/// ```
/// use pscale_blocks::bundle::{Export, ImportBatch, ImportRules, export};
/// use pscale_blocks::{Block, BlockName, BlockStore, EditAuthor, MemStore, Stamp};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let at = "2026-01-01T00:00:00Z".parse()?;
/// let stamp = Stamp::new(at, EditAuthor::Person);
/// let notes = BlockName::new("notes")?;
/// let (from, to) = (MemStore::new(), MemStore::new());
/// from.create(&notes, &Block::new("what I noted"), &stamp)?;
///
/// let bundle = export(&from, None, &Export::new(at))?;
/// let rules = ImportRules::default().trust(true);
/// ImportBatch::read(&bundle, None, false)?.import(&to, rules, "a bundle", at)?;
/// assert_eq!(*to.load(&notes)?.block, Block::new("what I noted"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A name that the store does not have, or the store cannot be read. [`BundleError::TooLarge`] if no import would take it.
pub fn export(
    store: &dyn BlockStore,
    names: Option<&[BlockName]>,
    how: &Export<'_>,
) -> Result<String, BundleError> {
    let names = match names {
        Some(names) => names.to_vec(),
        None => store.names()?.into_iter().map(|row| row.name).collect(),
    };
    let mut loaded = BTreeMap::new();
    let mut log = how.with_log.then(BTreeMap::new);
    for name in names {
        let found = store.load(&name)?;
        if let Some(log) = &mut log {
            let mut entries = store.log(&name, LogRange::ALL)?;
            entries.reverse();
            log.insert(name.clone(), entries);
        }
        loaded.insert(name, found);
    }
    let mut blocks = BTreeMap::new();
    for (name, found) in &loaded {
        let bundled = Bundled {
            rev: found.rev,
            hash: hex::encode(found.hash),
            block: &found.block,
            labels: store.labels(name)?.nodes().clone(),
        };
        blocks.insert(name.clone(), bundled);
    }
    let bundle = Bundle {
        schema_version: SCHEMA_VERSION,
        kind: KIND,
        exported_at: how.at,
        keystone_version: how.keystone_version,
        blocks,
        log,
    };
    // A bundle has nothing that JSON cannot say.
    let mut text = serde_json::to_string_pretty(&bundle).unwrap_or_default();
    text.push('\n');
    check_size("bundle", MAX_BUNDLE, text.len())?;
    Ok(text)
}
