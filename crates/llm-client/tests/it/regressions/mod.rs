//! Findings of reviews: each test failed before its fix.

mod calls;
mod cassette;
mod errors;
mod forms;
mod hostile;
mod ids;
#[cfg(feature = "tls")]
mod reqwest;
mod settings;
