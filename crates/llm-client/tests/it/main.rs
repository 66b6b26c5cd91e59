//! Integration tests of the client, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed assumption must fail the test"
)]

mod aimock;
mod bad_input;
mod batch;
mod bill;
mod budget;
mod cancel;
mod cassette;
mod classify;
mod dialects;
mod echo;
mod embed;
mod errors;
mod faults;
mod foreign;
mod headers;
mod katan;
mod layers;
mod ledger;
mod local;
mod memory;
mod models;
mod offline;
mod own_provider;
mod peer;
mod props;
mod regressions;
mod retry;
mod routes;
mod secrets;
mod structured;
mod tokens;
mod tracing;
mod wire;
