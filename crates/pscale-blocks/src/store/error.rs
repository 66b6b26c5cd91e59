use std::io;
use std::path::{Path, PathBuf};

use crate::{BlockError, BlockName, FormatErrors, NameError};

/// The reason why a store refused a call. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operation on the block failed.
    #[error(transparent)]
    Block(Box<BlockError>),
    /// The text is not a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no such block.
    #[error(
        "there is no block {name}{}",
        near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default()
    )]
    NoBlock {
        /// The name that was asked for.
        name: BlockName,
        /// The name most like it.
        near: Option<BlockName>,
    },
    /// There is a block of this name.
    #[error("there is a block {name} already")]
    Exists {
        /// The name.
        name: BlockName,
    },
    /// The block was edited by another caller first.
    #[error("block {name} has revision {actual}, not {expected}: read it again")]
    Revision {
        /// The block.
        name: BlockName,
        /// The revision that the caller knows.
        expected: u64,
        /// The revision of the block.
        actual: u64,
    },
    /// The directory is locked by another process, which writes to it.
    #[error("{} is locked by {}", dir.display(), pid.map_or("another process".to_owned(), |pid| format!("pid {pid}")))]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// The process, if it says so.
        pid: Option<u32>,
    },
    /// The store was opened for reading.
    #[error("the store is open for reading only")]
    ReadOnly,
    /// A later program wrote the file.
    #[error(
        "{} was written by a newer program (schema {found}, this one knows {known}): update the program",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the format in the file.
        found: u64,
        /// The latest version that this program reads.
        known: u32,
    },
    /// A file is not a block or a log.
    #[error("{}: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The problem with the file.
        reason: String,
    },
    /// The result of an undo is not what the log says.
    #[error("the log of block {name} does not fit the block, nothing was taken back")]
    LogMismatch {
        /// The block.
        name: BlockName,
    },
    /// No edit is left to take back, or none that was taken back is left to make again.
    #[error("{name}: nothing to {step}")]
    NothingLeft {
        /// The block.
        name: BlockName,
        /// `undo` or `redo`.
        step: &'static str,
    },
    /// The text is not a block.
    #[error(transparent)]
    Format(#[from] FormatErrors),
    /// The disk is full.
    #[error("{}: the disk is full", path.display())]
    Full {
        /// The file that was written.
        path: PathBuf,
    },
    /// The system says no.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

impl From<BlockError> for StoreError {
    fn from(error: BlockError) -> Self {
        Self::Block(Box::new(error))
    }
}

impl StoreError {
    /// The error of the system about a file.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Io { path, source },
        }
    }

    /// The name of the kind of error, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Block(error) => error.kind(),
            Self::Name(error) => error.kind(),
            Self::Format(error) => error.kind(),
            Self::NoBlock { .. } => "no_block",
            Self::Exists { .. } => "exists",
            Self::Revision { .. } => "revision",
            Self::Locked { .. } => "locked",
            Self::ReadOnly => "read_only",
            Self::Newer { .. } => "newer",
            Self::Corrupt { .. } | Self::LogMismatch { .. } => "corrupt",
            Self::NothingLeft { step: "redo", .. } => "nothing_to_redo",
            Self::NothingLeft { .. } => "nothing_to_undo",
            Self::Full { .. } => "full",
            Self::Io { .. } => "io",
        }
    }
}
