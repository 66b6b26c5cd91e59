//! `popper`: laws about a universe, proposed and put to the test, on the command line.
//!
//! ```sh
//! popper new law -o law.json          # a valid example to change
//! popper check law.json               # PASS, FAIL with a counterexample, or UNKNOWN
//! popper run --iterations 5           # propose and test laws, with a model or without
//! ```
//!
//! `popper --help` lists the commands. The guide is `docs/popper.md` in the repository.

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
