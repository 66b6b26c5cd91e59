use std::io;

use pscale_blocks::StoreError;

use crate::{BrainError, Fault};

/// Why the kernel did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The blocks cannot be read or written.
    #[error("the blocks: {0}")]
    Store(#[from] StoreError),
    /// One of the kernel's own files cannot be read or written.
    #[error("{file}: {source}")]
    File {
        /// Its name in the data directory.
        file: &'static str,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A setting cannot be used.
    #[error("{0}")]
    Setting(Fault),
    /// Nobody answered. What was said in complete rounds before is kept.
    #[error("{}", .0.plain())]
    Brain(#[from] BrainError),
    /// The person's message is longer than allowed.
    #[error(
        "the message has {size} characters, more than {limit}: send a shorter one, or write it to a block"
    )]
    TooLong {
        /// Characters.
        size: usize,
        /// The most.
        limit: usize,
    },
    /// The person's message has no words.
    #[error("the message is empty")]
    Empty,
}

impl KernelError {
    pub(crate) fn file(file: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { file, source }
    }
}
