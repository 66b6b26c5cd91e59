//! Decide a law.
mod eval;
mod hash;
pub mod lanes;
pub mod law;
pub mod proof;
pub mod span;
pub mod universe;
