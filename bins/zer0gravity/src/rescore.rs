//! `zer0gravity rescore`: judges a run again; only judges are asked.
//!
//! The new report is whole in `rescore.json` before it takes the place of the old one, so a rescore that fails, or is
//! killed at any moment, leaves the old report or the new one.

use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::report::Report;
use zer0gravity_engine::result::PreviousScores;
use zer0gravity_engine::{ExperimentResult, StageName, StageStatus};

use crate::args::Rescore;
use crate::error::Error;
use crate::kept::{self, Continued};
use crate::run_dir::{Rescored, RunDir};
use crate::{ask, setup};

pub fn rescore(args: &Rescore, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let mut directory = RunDir::open(&args.dir)?;
    let old = decoded_report(&directory)?;
    if args.only_failed && !old.results.iter().any(unscored) {
        session.notice("every judge that was asked gave a score, so none is asked again");
        return Ok(conclude(args, &directory, &old, quiet, session));
    }
    let plan = planned(&directory, args)?;
    let only_failed = plan.config.judge_retries > directory.plan().config.judge_retries;
    let prices = args.prices.as_deref();
    let asked = setup::reopened(&mut directory, &plan, &args.model, prices, session)?;
    let mut report = kept::perform(&directory, &plan, &asked.judges_only(), session)?;
    for (new, old) in report.results.iter_mut().zip(&old.results) {
        // What failed before it was judged would be encoded again: it stays as it is.
        if old.decoded_text.is_some() && (unscored(old) || !only_failed) {
            new.previous_scores = earlier(old, new);
        } else {
            *new = old.clone();
        }
    }
    let missing = report.results.iter().filter(|result| unjudged(result));
    let missing = missing.count();
    let rescored = Rescored::new(plan, report.clone(), missing == 0);
    directory.keep_rescored(&rescored)?;
    if missing == 0 {
        directory.adopt_rescored()?;
    } else {
        tell_unfinished(&report, missing, &directory, session);
    }
    Ok(conclude(args, &directory, &report, quiet, session))
}

fn conclude(
    args: &Rescore,
    directory: &RunDir,
    report: &Report,
    quiet: bool,
    session: &Session,
) -> Exit {
    let checks = &args.checks;
    kept::conclude(
        Continued::Rescore,
        directory,
        report,
        checks,
        quiet,
        session,
    )
}

/// The run's report, if every text of it was decoded or failed before: what was not run needs more than judges.
fn decoded_report(directory: &RunDir) -> Result<Report, Failure> {
    let unrun = |result: &ExperimentResult| not_run(result) && result.decoded_text.is_none();
    match directory.report()? {
        Some(report) if !report.results.iter().any(unrun) => Ok(report),
        _ => Err(Failure::usage(Error::Unfinished {
            path: directory.path().to_owned(),
        })),
    }
}

/// A judge was asked and gave no score.
fn unscored(result: &ExperimentResult) -> bool {
    let judging = [StageName::JudgeSemantic, StageName::JudgeImplementability];
    let stage = result.outcome.stage;
    stage.is_some_and(|stage| judging.contains(&stage))
}

/// No judge replied to what was to be judged.
fn unjudged(result: &ExperimentResult) -> bool {
    not_run(result) || result.outcome.status == StageStatus::ApiError && unscored(result)
}

fn not_run(result: &ExperimentResult) -> bool {
    result.outcome.status == StageStatus::NotRun
}

/// The run's plan with the judges of the flags, or that of the rescore that is continued.
fn planned(directory: &RunDir, args: &Rescore) -> Result<Plan, Failure> {
    if args.resume {
        let unfinished = directory.rescored()?;
        let nothing = || {
            Failure::usage(Error::NoRescore {
                path: directory.path().to_owned(),
            })
        };
        return Ok(unfinished.ok_or_else(nothing)?.plan);
    }
    let judges = &args.judging.judge_model;
    ask::panel(judges)?;
    let mut plan = directory.plan().clone();
    let config = &mut plan.config;
    if !judges.is_empty() {
        config.models.judges.clone_from(judges);
        config.judge_retries = 0;
    }
    if args.only_failed {
        config.judge_retries += 1;
    }
    config.judge_profile = args.prompt_profile.or(config.judge_profile);
    Ok(plan)
}

/// The scores before those of `new`: the old ones, or those before them if the old ones are of a judge that failed, or of the same
/// judges with the same prompts.
fn earlier(old: &ExperimentResult, new: &ExperimentResult) -> Option<PreviousScores> {
    let judged = |result: &ExperimentResult| {
        (
            result.metadata.models.judges.clone(),
            result.metadata.prompt_sha256.clone(),
        )
    };
    let (last, first) = (PreviousScores::of(old), old.previous_scores.clone());
    if judged(old) == judged(new) {
        first.or(last)
    } else {
        last.or(first)
    }
}

fn tell_unfinished(report: &Report, missing: usize, directory: &RunDir, session: &Session) {
    let place = bin_support::printable(&directory.path().display().to_string());
    let why = (report.results.iter())
        .find(|result| !result.outcome.is_ok())
        .and_then(|result| result.outcome.sentence());
    session.notice(&format!(
        "{place}: {missing} of {} results were not judged{}; report.json is the old one. Continue with \
         `zer0gravity rescore {place} --resume`, or name another judge with `--judge-model`",
        report.results.len(),
        why.map(|why| format!(" ({})", bin_support::printable(&why)))
            .unwrap_or_default(),
    ));
}
