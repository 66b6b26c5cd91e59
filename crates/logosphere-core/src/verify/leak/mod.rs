//! The search for leaks: whether minds received anything but messages.
//!
//! Every prompt and request of a journal is rebuilt from the system prompt, the messages and the constant part of
//! requests. It is compared with the hashes in the journal and with captured requests. The constant part and every
//! message are searched for metadata.

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
