//! The kernel's own files, and the block store without keys.

mod file_store;
mod lines;
mod redacting;
mod versions;

pub(crate) use file_store::FileStore;
pub(crate) use lines::{LineError, read_lines};
pub(crate) use redacting::RedactingStore;
pub(crate) use versions::refuse_newer;
