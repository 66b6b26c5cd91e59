//! `zer0gravity`: semantic compression, measured, on the command line.
//!
//! ```sh
//! zer0gravity run --level 1           # encode, decode and score one text, offline without a key
//! zer0gravity lint rules.txt          # check rules before a model is asked
//! ```
//!
//! `zer0gravity --help` lists the commands. The guide is `docs/zer0gravity.md` in the repository.

mod args;
mod ask;
mod clock;
mod columns;
mod compare;
mod error;
mod estimate;
mod experiment;
mod inspect;
mod kept;
mod matrix;
mod output;
mod ranking;
mod rescore;
mod run;
mod score;
mod selection;
mod setup;
mod source;
mod summary;

use std::process::ExitCode;

use args::{Cli, Command};
use bin_support::{Exit, Failure, Session};

fn main() -> ExitCode {
    bin_support::run(execute)
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    let quiet = session.is_quiet();
    match &cli.command {
        Command::Run(args) => run::run(args, quiet, session),
        Command::Matrix(args) => matrix::matrix(args, quiet, session),
        Command::Resume(args) => matrix::resume(args, quiet, session),
        Command::Rescore(args) => rescore::rescore(args, quiet, session),
        Command::Score(args) => score::score(args, quiet, session),
        Command::Lint(args) => inspect::lint(args, session),
        Command::Levels(args) => inspect::levels(args, session),
        Command::Report(args) => inspect::report(args, session),
        Command::Export(args) => inspect::export(args, session),
        Command::Compare(args) => compare::compare(args, session),
        Command::Estimate(args) => estimate::estimate(args, session),
    }
}
