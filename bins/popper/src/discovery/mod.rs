//! The commands that work with a database of runs.

mod clock;
mod cost;
mod database;
mod export;
mod hint;
mod proposer;
mod report;
mod retest;
mod run;
mod settings;
mod sheet;
mod standing;
mod status;
mod verdicts;
mod watch;

use bin_support::{Exit, Failure, Session, block_on};

use crate::cli;

pub fn run(args: &cli::Run, session: &mut Session) -> Result<Exit, Failure> {
    block_on(run::run(args, session))?
}

pub fn resume(args: &cli::Resume, session: &mut Session) -> Result<Exit, Failure> {
    let work = run::resume(&args.database.db, args.run_id, &args.work, session);
    block_on(work)?
}

pub fn status(args: &cli::Status, session: &mut Session) -> Result<Exit, Failure> {
    block_on(status::status(args, session))?
}

pub fn retest(args: &cli::Retest, session: &mut Session) -> Result<Exit, Failure> {
    block_on(retest::retest(args, session))?
}

pub fn export(args: &cli::Export, session: &mut Session) -> Result<Exit, Failure> {
    block_on(export::export(args, session))?
}

pub fn report(args: &cli::Report, session: &mut Session) -> Result<Exit, Failure> {
    block_on(report::report(args, session))?
}
