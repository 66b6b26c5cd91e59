//! Integration tests of the client, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed assumption must fail the test"
)]

mod bad_input;
mod budget;
mod cancel;
mod cassette;
mod classify;
mod dialects;
mod echo;
mod fallback;
mod faults;
mod memory;
mod models;
mod own_provider;
mod props;
mod purity;
mod retry;
mod secrets;
mod sse;
#[cfg(feature = "schema")]
mod structured;
mod tokens;
mod tools;
mod tracing;
mod wire;
