//! Whether minds were told anything but messages.
//!
//! Every prompt and every request of a journal is made again from the system prompt, the messages and the request's
//! constant part, and held against the hashes that the journal has and against requests that were captured on their
//! way. What is constant is searched for metadata, and so is every message.

mod canary;
mod check;
mod difference;
mod finding;
mod headers;
mod metadata;
mod request;

pub use canary::CanaryMind;
pub use check::{Captured, LeakCheck, check_start};
pub use finding::{Finding, LeakKind, LeakReport, Severity};
