//! Results for a CI server: a JUnit file, and annotations and a summary for GitHub.

mod gate;
mod github;
mod junit;

pub use gate::{CiFlags, Gate};
