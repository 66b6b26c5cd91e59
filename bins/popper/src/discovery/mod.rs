//! The commands that work with a database of runs.

mod clock;
mod cost;
mod csv;
mod database;
mod export;
mod progress;
mod proposer;
mod report;
mod resume_command;
mod retest;
mod run;
mod run_status;
mod settings;
mod status;
mod verdicts;

use std::path::Path;

use bin_support::{Exit, Failure, Place, Session, block_on};

use crate::cli;

/// Returns what the commands of this module write unless a flag names another place.
pub fn places() -> Vec<Place> {
    let db = Path::new(cli::DEFAULT_DATABASE);
    let mut places = vec![
        Place::new("database", db),
        Place::new("cost ledger", database::ledger_path(db)),
    ];
    places.extend(report::pages().map(|page| Place::new("report", page)));
    places
}

pub fn run(args: &cli::RunArgs, session: &mut Session) -> Result<Exit, Failure> {
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

pub fn report(args: &cli::ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    block_on(report::report(args, session))?
}
