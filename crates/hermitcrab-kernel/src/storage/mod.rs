//! The kernel's own files, and the two gates that no key passes.

mod file_store;
mod gates;
mod lines;
mod versions;

pub(crate) use file_store::FileStore;
pub(crate) use gates::KeyGates;
pub(crate) use lines::{LineError, read_lines};
pub(crate) use versions::refuse_newer;
