use std::path::PathBuf;

use super::SCHEMA_VERSION;
use crate::{BlockName, FormatErrors, NameError, StoreError};

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
        faults: Vec<ImportProblem>,
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
pub struct ImportProblem {
    /// Its name as it stands there.
    pub name: String,
    /// What is wrong.
    #[source]
    pub reason: ImportProblemReason,
}

/// What can be wrong with a block of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportProblemReason {
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

fn listed(faults: &[ImportProblem]) -> String {
    let faults: Vec<_> = faults.iter().map(ImportProblem::to_string).collect();
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
                Some(ImportProblemReason::Name(_)) => "bad_name",
                _ => "format",
            },
            Self::Io { .. } => "io",
            Self::Left { source, .. } => source.kind(),
        }
    }
}
