//! Integration tests, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at the first surprise, and the line says which; worker processes get their settings by the environment"
)]

mod address;
mod audit;
mod bridges;
mod child;
mod clocks;
mod faults;
mod finish;
mod full;
mod log;
mod model;
mod poison;
mod primes;
mod protocol;
mod proxy;
mod scene;
mod scripted;
mod stops;
mod tls;
