//! Decide a law.
pub mod counterexample;
pub mod decide;
mod eval;
mod hash;
mod lanes;
pub mod law;
pub mod proof;
pub mod universe;
