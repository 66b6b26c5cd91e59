//! Performs and concludes a run that is kept in a directory, for every command.

use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::report::Report;

use crate::args::Checks;
use crate::ask::ModelChoice;
use crate::run_dir::{self, RunDir};
use crate::summary::Summary;
use crate::{experiment, ranking};

/// The number of results of several encodings that are shown one by one without `--verbose`.
const BLOCKS: usize = 8;

/// Runs what is missing; the report is not written yet. Calls that changed after the last report was written are an error.
pub fn perform(
    directory: &RunDir,
    plan: &Plan,
    asked: &ModelChoice,
    session: &Session,
) -> Result<Report, Failure> {
    let known = directory.report()?;
    if let Some(known) = &known {
        run_dir::check_calls(directory.path(), known)?;
    }
    perform_after(known, directory, plan, asked, session)
}

/// As [`perform`], but builds the report of whatever calls there are, and says so in it.
pub fn rebuild(
    directory: &RunDir,
    plan: &Plan,
    asked: &ModelChoice,
    session: &Session,
) -> Result<Report, Failure> {
    let mut known = directory.report()?;
    if let Some(known) = &mut known
        && run_dir::check_calls(directory.path(), known).is_err()
        && let Some(calls) = &mut known.calls_file
    {
        calls.changed = true;
    }
    perform_after(known, directory, plan, asked, session)
}

fn perform_after(
    known: Option<Report>,
    directory: &RunDir,
    plan: &Plan,
    asked: &ModelChoice,
    session: &Session,
) -> Result<Report, Failure> {
    asked.keep_ledger(&directory.ledger())?;
    let store = directory.calls(session)?;
    let mut report = experiment::perform(plan, asked, store, session)?;
    directory.frozen_at().clone_into(&mut report.created_at);
    let mut calls = directory.calls_file()?;
    if let Some(known) = known {
        calls.changed = known.calls_file.is_some_and(|calls| calls.changed);
        // Judged again, a run remembers its earlier scores, however often it is resumed.
        for (new, old) in report.results.iter_mut().zip(known.results) {
            new.previous_scores = old.previous_scores;
        }
    }
    report.calls_file = Some(calls);
    Ok(report)
}

/// Prints the summary and gives the exit code; `command` continues the run: `resume`, or `rescore --resume`.
pub fn conclude(
    command: Continued,
    directory: &RunDir,
    report: &Report,
    checks: &Checks,
    quiet: bool,
    session: &Session,
) -> Exit {
    let several = directory.plan().encodings.len() > 1;
    if !quiet && (checks.verbose || !several || report.results.len() <= BLOCKS) {
        Summary::of(directory.plan(), checks.verbose).print(&report.results);
    }
    let place = bin_support::printable(&directory.path().display().to_string());
    let resume = match command {
        Continued::Run => format!("zer0gravity resume {place}"),
        Continued::Rescore => format!("zer0gravity rescore {place} --resume"),
    };
    if !quiet && several {
        session.say(&format!("\n{}", ranking::text(report).trim_end()));
        if let Some(usd) = report.cost.usd {
            session.say(&format!("cost: {usd}"));
        }
        session.say(&format!("report: zer0gravity report {place}"));
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
