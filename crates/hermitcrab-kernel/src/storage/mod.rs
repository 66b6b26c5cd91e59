//! Where the kernel keeps what is no block, and the store as everybody gets it.

mod file_store;
mod redacting;

pub(crate) use file_store::FileStore;
pub(crate) use redacting::RedactingStore;
