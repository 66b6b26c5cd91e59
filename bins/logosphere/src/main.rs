//! `logosphere`: a population of minds and what they say to each other, on the command line.
//!
//! ```sh
//! logosphere demo                     # twelve minds that are programs: a run, its proof, null models, a page
//! logosphere new my-experiment        # an experiment to change
//! ```
//!
//! `logosphere --help` lists the commands. The guide is `docs/logosphere.md` in the repository.

mod analyze;
mod args;
mod clock;
mod demo;
mod error;
mod export;
mod forecast;
mod init_check;
mod journal;
mod leak;
mod lineage;
mod minds;
mod new;
mod null;
mod parse;
mod population;
mod recorded;
mod report;
mod resume;
mod run;
mod running;
mod setup;
mod subject;

use std::path::PathBuf;
use std::process::ExitCode;

use args::{Cli, Command};
use bin_support::{Exit, Failure, Session};
use error::Error;

fn main() -> ExitCode {
    bin_support::run(execute)
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    if cli.command.is_some() && cli.run.any() {
        return Err(Failure::usage(Error::BeforeCommand));
    }
    match &cli.command {
        None => run::execute(cli.run.output_dir.as_deref(), &cli.run, session),
        Some(Command::New(args)) => new::execute(args, session),
        Some(Command::InitCheck(args)) => init_check::execute(args, session),
        Some(Command::Run(args)) => {
            run::execute(args.directory().map(PathBuf::as_path), &args.flags, session)
        }
        Some(Command::Resume(args)) => resume::execute(args, session),
        Some(Command::Replay(args)) => journal::replay(args, session),
        Some(Command::Verify(args)) => journal::verify(args, session),
        Some(Command::Leak(args)) => leak::execute(args, session),
        Some(Command::Diff(args)) => journal::diff(args, session),
        Some(Command::Analyze(args)) => analyze::execute(args, session),
        Some(Command::Export(args)) => export::execute(args, session),
        Some(Command::Lineage(args)) => lineage::execute(args, session),
        Some(Command::Null(args)) => null::execute(args, session),
        Some(Command::Forecast(args)) => forecast::execute(args, session),
        Some(Command::Parse(args)) => parse::execute(args, session),
        Some(Command::Report(args)) => report::execute(args, session),
        Some(Command::Minds) => minds::execute(session),
        Some(Command::Demo(args)) => demo::execute(args, session),
    }
}
