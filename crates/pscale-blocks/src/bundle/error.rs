use std::path::PathBuf;

use super::SCHEMA_VERSION;
use crate::{BlockName, FormatErrors, NameError, StoreError};

/// The reason why blocks were not exported or imported. The store is as it was, but for [`BundleError::Left`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// More than can be a block, a bundle or a folder of blocks.
    #[error("the {what} has {size} bytes, more than {limit}")]
    TooLarge {
        /// A block, a bundle or a folder.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
        /// The size in bytes.
        size: usize,
    },
    /// The text is neither a block nor a bundle.
    #[error("neither a block nor a bundle: {reason}")]
    Format {
        /// The rule that the text breaks.
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
    /// Blocks in the bundle are faulty, and one of them refuses all.
    #[error("{}", listed(faults))]
    Faulty {
        /// One problem or more.
        faults: Vec<ImportProblem>,
    },
    /// All files of a folder are faulty.
    #[error("{}", listed(faults))]
    FaultyFolder {
        /// One problem or more.
        faults: Vec<ImportProblem>,
    },
    /// A file cannot be read.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// An import was interrupted, and so was its reversal.
    #[error(
        "the import was interrupted, and of what it did {} is left",
        names(left)
    )]
    Left {
        /// Blocks that are not as they were before.
        left: Vec<BlockName>,
        /// The error that interrupted the import.
        #[source]
        source: Box<BundleError>,
    },
}

/// A problem with one block of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("block {name:?}: {reason}")]
#[non_exhaustive]
pub struct ImportProblem {
    /// The name in the bundle.
    pub name: String,
    /// The kind of problem.
    #[source]
    pub reason: ImportProblemReason,
    /// The verb phrase of a repair that would import the block, such as `leaves faulty parts out`. `None` if no repair
    /// helps.
    pub repair: Option<&'static str>,
}

impl ImportProblem {
    pub(super) fn new(
        name: &str,
        reason: ImportProblemReason,
        repair: Option<&'static str>,
    ) -> Self {
        Self {
            name: name.chars().take(80).collect(),
            reason,
            repair,
        }
    }

    /// The name of the kind of problem, for programs.
    pub fn kind(&self) -> &'static str {
        match self.reason {
            ImportProblemReason::Name(_) => "bad_name",
            _ => "format",
        }
    }
}

/// The kinds of problems with a block of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportProblemReason {
    /// The name is not valid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The block is not valid.
    #[error(transparent)]
    Format(#[from] FormatErrors),
    /// The name is there twice.
    #[error("the name is there twice")]
    Twice,
    /// The block is not the one that was exported.
    #[error(
        "the hash is {found}, the bundle says {said}: it was changed or damaged after the export"
    )]
    Hash {
        /// The hash of the block.
        found: String,
        /// The hash in the bundle.
        said: String,
    },
    /// The entry has another form.
    #[error("{0}")]
    Entry(String),
}

fn listed(faults: &[ImportProblem]) -> String {
    const SHOWN: usize = 20;
    let shown = faults.iter().take(SHOWN).map(ImportProblem::to_string);
    let mut shown: Vec<_> = shown.collect();
    if faults.len() > SHOWN {
        shown.push(format!("and {} more", faults.len() - SHOWN));
    }
    shown.join("; ")
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
            Self::Faulty { faults } | Self::FaultyFolder { faults } => {
                faults.first().map_or("format", ImportProblem::kind)
            }
            Self::Io { .. } => "io",
            Self::Left { source, .. } => source.kind(),
        }
    }
}
