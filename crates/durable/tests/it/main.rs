//! Crashes at every step, files that were replaced, pipes and links in a file's place, folders that cannot be read.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod append;
mod archive;
mod faults;
mod lines;
mod lock;
mod replace;
mod tail;
#[cfg(unix)]
mod unix;
