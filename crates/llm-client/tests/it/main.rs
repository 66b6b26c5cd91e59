//! Integration tests of the client, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed assumption must fail the test"
)]

mod aimock;
mod bad_input;
mod budget;
mod cancel;
mod cassette;
mod classify;
mod dialects;
mod echo;
mod fallback;
mod faults;
#[cfg(feature = "schema")]
mod katan;
#[cfg(feature = "schema")]
mod local;
mod memory;
mod models;
mod offline;
mod own_provider;
mod peer;
mod props;
mod purity;
mod regressions;
mod retry;
mod secrets;
mod sse;
#[cfg(feature = "schema")]
mod structured;
mod tokens;
mod tracing;
mod wire;
