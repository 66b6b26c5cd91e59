//! JSON that people and models write, read so that nothing in it is lost without a word, and JSON that is hashed.

pub(crate) mod hash;
mod nearest;
mod read;

pub(crate) use nearest::{hint, nearest};
pub(crate) use read::kind;
pub use read::{JsonError, MAX_DEPTH, parse};
