//! `zer0gravity`: semantic compression, measured, on the command line.

mod ask;
mod cli;
mod clock;
mod error;
mod experiment;
mod matrix;
mod run;
mod run_dir;
mod selection;
mod summary;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
