//! Blocks on their way between stores: a bundle is one JSON file of several blocks.

mod import;

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

pub use import::{Imported, OnConflict, Outcome, Parcel};

use crate::store::hex;
use crate::{Block, BlockName, BlockStore, FormatErrors, LogEntry, NameError, StoreError};

/// The longest bundle in bytes.
pub const MAX_BUNDLE: usize = 64 << 20;

const KIND: &str = "pscale-bundle";
const SCHEMA_VERSION: u32 = 1;

/// What stands in a bundle beside the blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export<'a> {
    /// When it is made.
    pub at: Timestamp,
    /// Which texts the blocks were begun with.
    pub keystone_version: Option<&'a str>,
    /// The logs as well. An import does not read them.
    pub with_log: bool,
}

#[derive(Serialize)]
struct Bundle<'a> {
    schema_version: u32,
    kind: &'static str,
    exported_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    keystone_version: Option<&'a str>,
    blocks: BTreeMap<BlockName, Bundled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<BTreeMap<BlockName, Vec<LogEntry>>>,
}

#[derive(Serialize)]
struct Bundled {
    rev: u64,
    hash: String,
    block: Block,
}

/// The bundle of these blocks, or of all. A single block without its name is [`Block::to_file`].
///
/// ```
/// use pscale_blocks::{
///     Block, BlockName, BlockStore, Export, MemStore, OnConflict, Parcel, Provenance, Stamp, export,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let at = "2026-01-01T00:00:00Z".parse()?;
/// let stamp = Stamp { at, by: Provenance::Person, note: None };
/// let notes = BlockName::new("notes")?;
/// let (from, to) = (MemStore::new(), MemStore::new());
/// from.create(&notes, &Block::new("what I noted"), &stamp)?;
///
/// let bundle = export(&from, None, &Export { at, keystone_version: None, with_log: false })?;
/// Parcel::read(&bundle, None, false)?.import(&to, OnConflict::Skip, "a bundle", at)?;
/// assert_eq!(to.load(&notes)?.block, Block::new("what I noted"));
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
    let mut blocks = BTreeMap::new();
    let mut log = how.with_log.then(BTreeMap::new);
    for name in names {
        let found = store.load(&name)?;
        if let Some(log) = &mut log {
            log.insert(name.clone(), store.log(Some(&name), 0)?);
        }
        let bundled = Bundled {
            rev: found.rev,
            hash: hex(&found.hash),
            block: found.block,
        };
        blocks.insert(name, bundled);
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

fn check_size(what: &'static str, limit: usize, size: usize) -> Result<(), BundleError> {
    if size > limit {
        return Err(BundleError::TooLarge { what, limit, size });
    }
    Ok(())
}

/// Why blocks were not exported or imported. The store is as it was, but for [`BundleError::Left`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// More than can be a block, or a bundle.
    #[error("the {what} has {size} bytes, more than {limit}")]
    TooLarge {
        /// A block or a bundle.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
        /// What it has.
        size: usize,
    },
    /// The text is neither a block nor a bundle.
    #[error("neither a block nor a bundle: {reason}")]
    Format {
        /// What is wrong with it.
        reason: String,
    },
    /// A later program made the bundle.
    #[error("a bundle of schema version {found}, this program knows {SCHEMA_VERSION}")]
    Newer {
        /// The bundle's version.
        found: u64,
    },
    /// A bare block says nothing of its name.
    #[error("a single block needs a name to import it under")]
    NameNeeded,
    /// What is in the bundle or the folder is faulty.
    #[error("{}", listed(faults))]
    Faulty {
        /// All faults.
        faults: Vec<Fault>,
    },
    /// A file cannot be read.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// An import broke off, and so did taking it back.
    #[error("the import broke off, and of what it did {} is left", names(left))]
    Left {
        /// Blocks that are not as they were before.
        left: Vec<BlockName>,
        /// Why it broke off.
        #[source]
        source: Box<BundleError>,
    },
}

/// What is wrong with one block of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("block {name:?}: {reason}")]
pub struct Fault {
    /// Its name as it stands there.
    pub name: String,
    /// What is wrong.
    #[source]
    pub reason: FaultReason,
}

/// What can be wrong with a block of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultReason {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The block is none.
    #[error(transparent)]
    Format(#[from] FormatErrors),
    /// The name stands twice.
    #[error("the name stands twice")]
    Twice,
    /// The block is not the one that was exported.
    #[error(
        "the hash is {found}, the bundle says {said}: it was changed or damaged after the export"
    )]
    Hash {
        /// What it is.
        found: String,
        /// What the bundle says.
        said: String,
    },
    /// The entry has another form.
    #[error("{0}")]
    Entry(String),
}

fn listed(faults: &[Fault]) -> String {
    let faults: Vec<_> = faults.iter().map(Fault::to_string).collect();
    faults.join("; ")
}

fn names(names: &[BlockName]) -> String {
    let names: Vec<_> = names.iter().map(BlockName::as_str).collect();
    names.join(", ")
}

impl BundleError {
    /// The name of the kind of error, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Store(error) => error.kind(),
            Self::TooLarge { .. } => "too_large",
            Self::Format { .. } | Self::Newer { .. } => "format",
            Self::NameNeeded => "bad_name",
            Self::Faulty { faults } => match faults.first().map(|fault| &fault.reason) {
                Some(FaultReason::Name(_)) => "bad_name",
                _ => "format",
            },
            Self::Io { .. } => "io",
            Self::Left { source, .. } => source.kind(),
        }
    }
}
