//! Decide a law.
mod eval;
mod hash;
pub mod law;
pub mod universe;
