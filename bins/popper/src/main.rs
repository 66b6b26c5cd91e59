//! `popper`: laws about a universe, proposed and put to the test, on the command line.

mod check;
mod cli;
mod config;
mod discovery;
mod error;
mod expect;
mod input;
mod laws;
mod new;
mod simulate;
mod span;
mod table;
mod universe;
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
