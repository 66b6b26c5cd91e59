//! Integration tests, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod enumerative;
mod resume;
mod rows;
mod runs;
mod scripted;
