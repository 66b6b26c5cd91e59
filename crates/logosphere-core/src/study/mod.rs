//! Studies of many runs: sweeps over settings, and forks that ask what would have happened.

pub mod fork;
mod interval;
mod name;
pub mod sweep;

pub use name::is_study_name;
