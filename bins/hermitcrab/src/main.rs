//! `hermitcrab`: a model that lives in blocks, on the command line.

mod answer;
mod block;
mod cli;
mod clock;
mod data_dir;
mod error;
mod key;
mod mcp;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
