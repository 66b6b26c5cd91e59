//! `hermitcrab`: a model that lives in blocks, on the command line.

mod answer;
mod block;
mod bundle;
mod chat;
mod cli;
mod clock;
mod data_dir;
mod doctor;
mod error;
mod key;
mod look;
mod mcp;
mod migrate;
mod opened;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
