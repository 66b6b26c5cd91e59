//! `zer0gravity`: semantic compression, measured, on the command line.

mod ask;
mod cli;
mod clock;
mod error;
mod estimate;
mod experiment;
mod inspect;
mod matrix;
mod output;
mod run;
mod run_dir;
mod score;
mod selection;
mod summary;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
