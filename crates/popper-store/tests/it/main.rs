//! Integration tests, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod atomic;
mod conformance;
mod counts;
mod dump;
mod faults;
mod guide;
mod lock;
mod loss;
mod made;
mod migrate;
mod pages;
mod place;
mod review;
mod run;
mod schema;
mod server;
mod values;
