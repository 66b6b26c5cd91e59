//! Exports of every form: what becomes of them, and that nothing of them is lost.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod migrate;
mod rules;
