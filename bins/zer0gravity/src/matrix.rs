//! `zer0gravity matrix`, `resume` and `rescore`: runs that are kept in a directory.

use std::path::Path;

use bin_support::{Exit, Failure, ModelFlags, ProviderName, Session};
use clap::ValueEnum as _;
use zer0gravity_engine::plan::{Costs, Plan};
use zer0gravity_engine::report::Report;
use zer0gravity_engine::{ExperimentResult, PreviousScores, StageStatus};

use crate::ask::{self, Asked};
use crate::cli::{Checks, Matrix, Rescore, Resume};
use crate::error::Error;
use crate::run_dir::{self, RunDir};
use crate::selection::{self, Selected};
use crate::summary::Summary;
use crate::{experiment, run};

pub fn matrix(args: &Matrix, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let encodings = selection::encodings(&args.encoding).map_err(Failure::usage)?;
    let asking = &args.asking;
    let Selected { cases, left_out } =
        selection::texts(&args.texts, asking.skip_bad, asking.allow_long, session)?;
    let read = args.encoding.iter().chain(&args.texts.dataset);
    let read = read.chain(&asking.prices).cloned();
    ask::spare(&asking.model, read.chain(run_dir::files(&args.run_dir)))?;
    let asked = run::open(asking, session)?;
    let mut config = run::config(asking, &args.repeats, asked.port.label(), &asked.model);
    if config.cost == Costs::None {
        // What is compared here is what encodings are worth.
        config.cost = Costs::Estimated;
    }
    let plan = Plan {
        encodings,
        cases,
        config,
    };
    let directory = RunDir::begin(&args.run_dir, &plan, left_out, &asking.model)?;
    let report = perform(&directory, &plan, &asked, session)?;
    directory.write_report(&report)?;
    Ok(conclude(&directory, &report, &args.checks, quiet, session))
}

pub fn resume(args: &Resume, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let directory = RunDir::open(&args.dir)?;
    let asked = open(&directory, &args.model, args.prices.as_deref(), session)?;
    let report = perform(&directory, directory.plan(), &asked, session)?;
    directory.write_report(&report)?;
    Ok(conclude(&directory, &report, &args.checks, quiet, session))
}

pub fn rescore(args: &Rescore, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let mut directory = RunDir::open(&args.dir)?;
    let unfinished = || {
        Failure::usage(Error::Unfinished {
            path: args.dir.clone(),
        })
    };
    let old = directory.report()?.ok_or_else(unfinished)?;
    let unrun = |result: &ExperimentResult| result.outcome.status == StageStatus::NotRun;
    if old.results.iter().any(unrun) {
        return Err(unfinished());
    }
    ask::panel(&args.judging.judge_model)?;
    let mut plan = directory.plan().clone();
    if !args.judging.judge_model.is_empty() {
        plan.config
            .models
            .judges
            .clone_from(&args.judging.judge_model);
    }
    plan.config.judge_profile = args
        .prompt_profile
        .map(Into::into)
        .or(plan.config.judge_profile);
    let asked = open(&directory, &args.model, args.prices.as_deref(), session)?;
    // What failed before it was judged would be encoded again: it stays as it is.
    let judged = |result: &ExperimentResult| result.decoded_text.is_some();
    let mut report = perform(&directory, &plan, &asked.judges_only(), session)?;
    for (new, old) in report.results.iter_mut().zip(&old.results) {
        if judged(old) {
            // A judge that failed has no scores to leave behind: those before it stay.
            new.previous_scores = previous(old).or_else(|| old.previous_scores.clone());
        } else {
            *new = old.clone();
        }
    }
    directory.write_report(&report)?;
    directory.replace_plan(plan)?;
    Ok(conclude(&directory, &report, &args.checks, quiet, session))
}

/// The scores that a result had.
fn previous(old: &ExperimentResult) -> Option<PreviousScores> {
    Some(PreviousScores {
        scores: old.scores?,
        total: old.total?,
        judges: old.metadata.models.judges.clone(),
        prompt_profile: old.metadata.prompt_profile,
    })
}

/// Whom the run asks, at the address it was begun with unless a flag says another.
fn open(
    directory: &RunDir,
    flags: &ModelFlags,
    prices: Option<&Path>,
    session: &Session,
) -> Result<Asked, Failure> {
    let config = &directory.plan().config;
    let provider = ProviderName::from_str(&config.port.provider, false).ok();
    ask::spare(flags, run_dir::files(directory.path()))?;
    let mut flags = flags.clone();
    flags.provider = flags.provider.or(provider);
    flags.model = flags.model.or_else(|| Some(config.models.encoder.clone()));
    if let (None, Some(recorded)) = (&flags.base_url, directory.base_url()) {
        flags.base_url = Some(recorded.to_owned());
        flags.base_url_file = Some(directory.path().join("run.json"));
    }
    let asked = ask::open(&flags, prices, &[], config.seed, session)?;
    let (label, planned) = (asked.port.label(), &config.port);
    let differences: Vec<_> = [
        ("config.port.provider", label.provider != planned.provider),
        ("config.port.host", label.host != planned.host),
        (
            "config.models.encoder",
            asked.model != config.models.encoder,
        ),
    ]
    .into_iter()
    .filter(|(_, differs)| *differs)
    .map(|(name, _)| name.to_owned())
    .collect();
    if differences.is_empty() {
        Ok(asked)
    } else {
        Err(Failure::usage(Error::AnotherPlan {
            path: directory.path().to_owned(),
            differences,
        }))
    }
}

/// Runs what is missing; the report is not written yet.
fn perform(
    directory: &RunDir,
    plan: &Plan,
    asked: &Asked,
    session: &Session,
) -> Result<Report, Failure> {
    asked.keep_ledger(&directory.ledger())?;
    let store = Box::new(directory.calls(session)?);
    let known = directory.report()?;
    let mut report = experiment::perform(plan, asked, store, session)?;
    directory.frozen_at().clone_into(&mut report.created_at);
    // Judged anew, a run remembers what it scored before, however often it is resumed.
    let known = known.iter().flat_map(|known| &known.results);
    for (new, old) in report.results.iter_mut().zip(known) {
        new.previous_scores.clone_from(&old.previous_scores);
    }
    Ok(report)
}

fn conclude(
    directory: &RunDir,
    report: &Report,
    checks: &Checks,
    quiet: bool,
    session: &Session,
) -> Exit {
    if !quiet {
        Summary::of(directory.plan(), checks.verbose).print(&report.results);
    }
    let exit = experiment::exit(&report.results, directory.left_out(), checks);
    if exit == Exit::Interrupted {
        let place = bin_support::printable(&directory.path().display().to_string());
        session.notice(&format!(
            "interrupted: what is finished is kept; go on with `zer0gravity resume {place}`"
        ));
    }
    exit
}
