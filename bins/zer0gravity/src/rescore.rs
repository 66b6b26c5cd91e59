//! `zer0gravity rescore`: judges a run again; only judges are asked.

use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::report::Report;
use zer0gravity_engine::run::{RescoreOptions, Rescored, RunDirectory};
use zer0gravity_engine::{RunEvent, Runner};

use crate::args::Rescore;
use crate::kept::{self, Continued};
use crate::{ask, error, experiment, setup};

pub fn rescore(args: &Rescore, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let mut directory = RunDirectory::open(&args.dir).map_err(error::directory)?;
    let judges = &args.judging.judge_model;
    let options = RescoreOptions::default()
        .judges(judges.clone())
        .judge_profile(args.prompt_profile)
        .only_failed(args.only_failed)
        .resume(args.resume);
    let rescore = (directory.plan_rescore(&options)).map_err(error::directory)?;
    if let Some(old) = rescore.nothing_to_do() {
        session.warn("every judge that was asked gave a score, so none is asked again");
        return Ok(conclude(args, &directory, old, quiet, session));
    }
    ask::panel(judges)?;
    let (plan, prices) = (rescore.plan(), args.prices.as_deref());
    let asked = setup::reopened(&mut directory, plan, &args.model, prices, session)?;
    asked.keep_ledger(&directory)?;
    let total = plan.items().count();
    let work = async |runner: Runner<'_>, show: &mut dyn FnMut(RunEvent<'_>)| {
        let rescored = directory.rescore(rescore, runner, show).await;
        rescored.map_err(error::directory)
    };
    let rescored = experiment::watched(&asked, total, session, work)?;
    if rescored.unjudged > 0 {
        tell_unfinished(&rescored, &directory, session);
    }
    Ok(conclude(args, &directory, &rescored.report, quiet, session))
}

fn conclude(
    args: &Rescore,
    directory: &RunDirectory,
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

fn tell_unfinished(rescored: &Rescored, directory: &RunDirectory, session: &Session) {
    let (report, missing) = (&rescored.report, rescored.unjudged);
    let place = bin_support::escape(&directory.path().display().to_string());
    let why = (report.results.iter())
        .find(|result| !result.outcome.is_ok())
        .and_then(|result| result.outcome.sentence());
    session.warn(&format!(
        "{place}: {missing} of {} results were not judged{}; report.json is the old one. Continue with \
         `zer0gravity rescore {place} --resume`, or name another judge with `--judge-model`",
        report.results.len(),
        why.map(|why| format!(" ({})", bin_support::escape(&why)))
            .unwrap_or_default(),
    ));
}
