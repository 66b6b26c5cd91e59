//! Studies of many runs: sweeps over settings, and forks that ask what would have happened.

pub mod fork;
mod interval;
mod name;
pub mod sweep;
mod unreadable;

pub use name::is_study_name;
pub use unreadable::UnreadableRun;
