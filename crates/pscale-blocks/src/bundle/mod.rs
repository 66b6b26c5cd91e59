//! Blocks on their way between stores: a bundle is one JSON file of several blocks.

mod error;
mod export;
mod import;
mod outer;
mod reader;

pub use error::{BundleError, ImportProblem, ImportProblemReason};
pub use export::{Export, export};
pub use import::{ImportBatch, ImportOutcome, ImportRules, Imported, OnConflict};

/// The longest bundle in bytes.
pub const MAX_BUNDLE: usize = 64 << 20;

const KIND: &str = "pscale-bundle";
const SCHEMA_VERSION: u32 = 1;

fn check_size(what: &'static str, limit: usize, size: usize) -> Result<(), BundleError> {
    if size > limit {
        return Err(BundleError::TooLarge { what, limit, size });
    }
    Ok(())
}
