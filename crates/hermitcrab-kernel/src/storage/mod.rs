//! The kernel's own files, and the block store without keys.

mod file_store;
mod redacting;

pub(crate) use file_store::FileStore;
pub(crate) use redacting::RedactingStore;
