//! Integration tests of the client, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed assumption must fail the test"
)]

mod props;
mod sse;
mod wire;
mod models;
mod tokens;
    reason = "a test stops at the first surprise, and the line says which"
)]

mod own_provider;
#[cfg(feature = "schema")]
mod structured;
mod tools;
