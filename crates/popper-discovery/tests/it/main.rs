//! Integration tests, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

#[cfg(feature = "report")]
mod browser;
mod enumerative;
mod evaluator;
#[cfg(feature = "report")]
mod findings;
#[cfg(feature = "report")]
mod hostile;
mod known;
mod lab;
#[cfg(feature = "report")]
mod layout;
#[cfg(feature = "llm")]
mod llm;
#[cfg(feature = "report")]
mod order;
#[cfg(feature = "report")]
mod page;
#[cfg(feature = "report")]
mod page_long;
#[cfg(feature = "queue")]
mod queue;
mod recall;
mod resume;
mod review;
mod rows;
mod run;
mod runs;
mod scripted;
mod shelved;
mod summary;
