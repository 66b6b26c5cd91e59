//! Integration tests of the binary, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod check;
mod config;
mod evidence;
mod expect;
mod guide;
mod hostile;
mod process;
mod schema;
mod simulate;
mod universes;
