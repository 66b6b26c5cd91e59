//! `popper`: the falsification harness on the command line.

mod check;
mod cli;
mod error;
mod evidence;
mod expect;
mod input;
mod laws;
mod printable;
mod simulate;
mod span;
mod table;
mod universe;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
