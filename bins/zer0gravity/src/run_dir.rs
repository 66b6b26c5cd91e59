//! Performs and concludes a run that is kept in a directory, for every command.

use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::report::RunReport;
use zer0gravity_engine::run::{ChangedCalls, RunDirectory};
use zer0gravity_engine::{RunEvent, Runner};

use crate::flags::Checks;
use crate::model::ModelChoice;
use crate::summary::Summary;
use crate::{error, experiment, ranking};

/// The number of results of several encodings that are shown one by one without `--verbose`.
const BLOCKS: usize = 8;

/// Runs what is missing, or everything, and writes the report.
pub fn resume(
    directory: &RunDirectory,
    asked: &ModelChoice,
    changed: ChangedCalls,
    session: &Session,
) -> Result<RunReport, Failure> {
    asked.keep_ledger(directory)?;
    let total = directory.plan().items().count();
    let work = async |runner: Runner<'_>, show: &mut dyn FnMut(RunEvent<'_>)| {
        let report = directory.resume(runner, changed, show).await;
        report.map_err(error::directory)
    };
    experiment::watched(asked, total, session, work)
}

/// Prints the summary and gives the exit code; `command` continues the run: `resume`, or `rescore --resume`.
pub fn conclude(
    command: Continued,
    directory: &RunDirectory,
    report: &RunReport,
    checks: &Checks,
    quiet: bool,
    session: &Session,
) -> Exit {
    let several = directory.plan().encodings.len() > 1;
    if !quiet && (checks.verbose || !several || report.results.len() <= BLOCKS) {
        Summary::of(directory.plan(), checks.verbose).print(&report.results);
    }
    let place = bin_support::escape(&directory.path().display().to_string());
    let resume = match command {
        Continued::Run => format!("zer0gravity resume {place}"),
        Continued::Rescore => format!("zer0gravity rescore {place} --resume"),
    };
    if !quiet && several {
        session.status(&format!("\n{}", ranking::text(report).trim_end()));
        if let Some(usd) = report.cost.usd {
            session.status(&format!("cost: {usd}"));
        }
        session.status(&format!("report: zer0gravity report {place}"));
    }
    let left_out = directory.left_out();
    experiment::conclude(&report.results, left_out, checks, Some(&resume), session)
}

/// The command that continues an interrupted run.
#[derive(Debug, Clone, Copy)]
pub enum Continued {
    Run,
    Rescore,
}
