//! Studies of many runs: sweeps over settings, and forks that ask what would have happened.

pub mod fork;
mod interval;
pub mod sweep;
