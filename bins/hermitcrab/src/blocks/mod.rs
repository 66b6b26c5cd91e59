//! Work on blocks that several commands share: what a block holds, its edits, and their results.

pub mod edit;
pub mod list;
pub mod log;
pub mod output;
pub mod read;
pub mod step;
pub mod text;
