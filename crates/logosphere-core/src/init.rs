//! `init.md`: the seeds of a pool.

use crate::parser::ParseMode;

/// The seeds of a run, read from `init.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Init {
    /// What stands before the first delimiter line; never sent.
    pub notes: String,
    /// The seeds in order, without a stamp.
    pub seeds: Vec<String>,
    /// The signature.
    pub signature: String,
    /// What is accepted but may not be meant.
    pub warnings: Vec<InitWarning>,
}

/// What is accepted but may not be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitWarning {}

/// Why a file is no `init.md`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {}

/// Reads `init.md`.
///
/// # Errors
/// See [`InitError`].
pub fn parse_init(bytes: &[u8], mode: ParseMode, signature: &str) -> Result<Init, InitError> {
    let _ = (bytes, mode, signature);
    unimplemented!()
}
