//! Runs a plan: Ctrl-C, progress, and the exit code of its results.

use std::io::{self, Write as _};

use bin_support::model::BatchLines;
use bin_support::{Exit, Failure, Interrupt, Session};
use llm_client::batch::{BatchCalls, Progress};
use llm_client::{ErrorClass, Usd};
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::dataset::RoundTripSample;
use zer0gravity_engine::plan::{Config, Plan};
use zer0gravity_engine::report::RunCost;
use zer0gravity_engine::{Context, ExperimentResult, FailureKind, RunEvent, Runner};

use crate::ci::Gate;
use crate::error::Error;
use crate::model::ModelChoice;

/// Runs a plan without a directory, to its end or until it is interrupted. Returns the results and what they cost.
pub fn results(
    plan: &Plan,
    asked: &ModelChoice,
    session: &Session,
) -> Result<(Vec<ExperimentResult>, RunCost), Failure> {
    let total = plan.items().count();
    let work = async |runner: Runner<'_>, show: &mut dyn FnMut(RunEvent<'_>)| {
        Ok(runner.results(plan, show).await?)
    };
    watched(asked, total, None, session, work)
}

/// Scores texts of other tools, or as many as come before an interruption.
pub fn score(
    config: &Config,
    samples: &[RoundTripSample],
    asked: &ModelChoice,
    session: &Session,
) -> Result<Vec<ExperimentResult>, Failure> {
    let work = async |runner: Runner<'_>, show: &mut dyn FnMut(RunEvent<'_>)| {
        Ok(runner.score(config, samples, show).await?)
    };
    watched(asked, samples.len(), None, session, work)
}

/// Returns an error if the provider refused a temperature.
fn check_temperature(results: &[ExperimentResult]) -> Result<(), Failure> {
    let refused = |result: &ExperimentResult| {
        let outcome = &result.outcome;
        let is_refused = outcome.kind == Some(FailureKind::TemperatureRefused);
        is_refused.then(|| outcome.detail.clone().unwrap_or_default())
    };
    match results.iter().find_map(refused) {
        Some(detail) => Err(Failure::usage(Error::TemperatureRefused { detail })),
        None => Ok(()),
    }
}

/// Runs `work` in the engine with a progress bar, until it ends or Ctrl-C ends it. `calls` answers in batches.
pub fn watched<T>(
    asked: &ModelChoice,
    total: usize,
    calls: Option<BatchCalls>,
    session: &Session,
    work: impl AsyncFnOnce(Runner<'_>, &mut dyn FnMut(RunEvent<'_>)) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let client = asked.model_client.as_ref();
    let context = Context::new(client, &*asked.clock, asked.counter.as_ref());
    let runner = Runner::new(context.prices(&asked.prices))
        .replayed(asked.replay)
        .concurrency(asked.concurrency)
        .batched(calls.is_some())
        .cancel(cancelled_by(
            &Interrupt::on_signals()?,
            &asked.stop,
            calls.is_some(),
        ));
    let bar = session.progress.bar("experiments", total);
    let mut show = |event: RunEvent<'_>| match event {
        RunEvent::Ended { done, .. } => bar.set_position(done as u64),
        RunEvent::CutOff { path, line } => session.warn(&format!(
            "{}, line {}: removed an incomplete line of {} bytes",
            bin_support::escape(&path.display().to_string()),
            line.line,
            line.bytes
        )),
        _ => {}
    };
    let mut lines = BatchLines::default();
    let mut tell = |progress: &Progress| {
        *asked.progress.borrow_mut() = Some(progress.to_string());
        lines.tell(progress, session);
    };
    let done = bin_support::block_on(async {
        let work = work(runner, &mut show);
        match calls {
            Some(calls) => calls.run(work, asked.stop.cancelled(), &mut tell).await,
            None => work.await,
        }
    })?;
    drop(bar);
    done
}

/// The token, which Ctrl-C cancels.
fn cancelled_by(
    interrupt: &Interrupt,
    token: &CancellationToken,
    is_batched: bool,
) -> CancellationToken {
    let watched = token.clone();
    let calls = if is_batched {
        "stopping; batches continue at the server"
    } else {
        "stopping after the calls under way"
    };
    interrupt.then(move || {
        watched.cancel();
        // A closed stderr is not a failure.
        let _ = writeln!(
            io::stderr(),
            "zer0gravity: {calls}; a second Ctrl-C stops at once"
        );
    });
    token.clone()
}

/// The way to continue a run that is kept.
#[derive(Debug, Clone, Copy)]
pub struct Stop<'a> {
    /// The command that continues it.
    pub resume: &'a str,
    /// The cap of the run, and what it has spent.
    pub cap: Option<(Usd, Usd)>,
    /// The number of results in batches, in words.
    pub batches: Option<&'a str>,
}

/// Says why a run stopped and how to continue it, and writes the outputs of `gate`. Gives the exit code: the worst that happened,
/// then the checks that were asked for. `stop` says how to continue the run, if it is kept.
pub fn conclude(
    results: &[ExperimentResult],
    left_out: usize,
    gate: Gate<'_>,
    stop: Option<Stop<'_>>,
    session: &Session,
) -> Result<Exit, Failure> {
    if let Some(result) = results.iter().find(|one| one.outcome.is_stopped()) {
        session.warn(&stopped(result, stop));
    }
    if gate.checks.flag().is_some() && results.iter().any(|result| result.offline) {
        session.warn("the checks used offline results");
    }
    // Of a part of the results no check can be said to hold.
    let checks = (!results.iter().any(|one| one.outcome.is_stopped())).then_some(gate.checks);
    let failed = checks.map_or_else(Vec::new, |checks| checks.failed(results));
    let exit = exit(results, left_out, &failed);
    let written = gate.finish(results, left_out, checks, &failed, session);
    for check in &failed {
        session.warn(&bin_support::escape(check));
    }
    written?;
    // After the results, which are paid for.
    check_temperature(results)?;
    Ok(exit)
}

fn stopped(result: &ExperimentResult, stop: Option<Stop<'_>>) -> String {
    let outcome = &result.outcome;
    let detail = bin_support::escape(outcome.detail.as_deref().unwrap_or_default());
    let capped = outcome.kind == Some(FailureKind::Model(ErrorClass::Budget));
    let why = match outcome.kind {
        Some(FailureKind::Interrupted) => "interrupted".to_owned(),
        _ if capped => format!("cost cap reached: {detail}"),
        _ => detail,
    };
    if let Some(Stop {
        resume,
        batches: Some(results),
        ..
    }) = stop
        && outcome.kind == Some(FailureKind::Interrupted)
    {
        return format!("{results}; {resume} collects the rest");
    }
    match (stop, capped) {
        (
            Some(Stop {
                resume,
                cap: Some((cap, spent)),
                ..
            }),
            true,
        ) => {
            let twice = cap.saturating_add(cap).to_string();
            let twice = twice.trim_start_matches('$');
            format!(
                "cost cap of {cap} reached ({spent} spent); continue with: {resume} --max-usd {twice}"
            )
        }
        (Some(Stop { resume, .. }), _) => format!("{why}; continue with: {resume}"),
        (None, _) => format!("{why}; without --run-dir the calls are not kept"),
    }
}

/// The exit code of results: the worst that happened, then the checks that were asked for.
fn exit(results: &[ExperimentResult], left_out: usize, failed_checks: &[String]) -> Exit {
    let failed = results.iter().filter(|one| !one.outcome.is_ok()).count();
    if results.iter().any(|one| one.outcome.is_stopped()) {
        Exit::Interrupted
    } else if failed == results.len() {
        Exit::Failed
    } else if failed > 0 || left_out > 0 {
        Exit::SomeFailed
    } else if !failed_checks.is_empty() {
        Exit::CheckFailed
    } else {
        Exit::Done
    }
}
