//! The work on blocks that several commands share: reading, editing, and the answers of both.

pub mod edit;
pub mod list;
pub mod log;
pub mod output;
pub mod read;
pub mod review;
pub mod step;
pub mod text;
