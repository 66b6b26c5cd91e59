//! Runs on many machines: real processes on a real server give the rows of a run on one machine.

mod check;
mod conflict;
mod double;
mod faults;
mod flags;
mod handshake;
mod roles;
mod same_bytes;
mod scene;
mod secrets;
mod stop;
