//! JSON: strict reading of text by people and models, and the hashes of values.

pub(crate) mod hash;
mod nearest;
mod read;

pub(crate) use nearest::{hint, nearest};
pub(crate) use read::kind;
pub use read::{JsonError, MAX_DEPTH, parse};
