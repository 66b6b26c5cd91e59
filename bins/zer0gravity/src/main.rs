//! `zer0gravity`: semantic compression, measured, on the command line.
//!
//! ```sh
//! zer0gravity run --level 1           # encode, decode and score one text, offline without a key
//! zer0gravity lint rules.txt          # check rules before a model is asked
//! ```
//!
//! `zer0gravity --help` lists the commands. The guide is `docs/zer0gravity.md` in the repository.

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
