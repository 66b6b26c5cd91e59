//! `hermitcrab`: a model that lives in blocks, on the command line.
//!
//! ```sh
//! hermitcrab chat                     # a conversation in the terminal
//! hermitcrab serve                    # the face in a browser
//! ```
//!
//! `hermitcrab --help` lists the commands. The guide is `docs/hermitcrab.md` in the repository.

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
mod plain_file;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    bin_support::run(cli::execute)
}
