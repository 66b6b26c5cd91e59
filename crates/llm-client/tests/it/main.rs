//! Integration tests of the client, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod own_provider;
#[cfg(feature = "schema")]
mod structured;
mod tools;
