//! `zer0gravity score`: texts that were encoded and decoded somewhere else.

use bin_support::{Exit, Failure, OutputTarget, ProviderName, Session};
use zer0gravity_engine::dataset::{CaseFormat, parse_samples};
use zer0gravity_engine::report::Report;

use crate::args::{Repeats, Score};
use crate::ask;
use crate::error::Error;
use crate::output::Show;
use crate::summary::Summary;
use crate::{experiment, output, ranking, selection, setup};

pub fn score(args: &Score, quiet: bool, session: &mut Session) -> Result<Exit, Failure> {
    let shown = args.file.display().to_string();
    let path = || args.file.clone();
    let format =
        CaseFormat::of(&shown).ok_or_else(|| Failure::usage(Error::Format { path: path() }))?;
    let bytes = selection::read(&args.file).map_err(Failure::usage)?;
    let (samples, errors) = parse_samples(&bytes, format, &shown);
    selection::report_bad_lines(
        &args.file,
        &errors,
        args.asking.skip_bad && !samples.is_empty(),
        session,
    )?;
    let mut asking = args.asking.clone();
    // A key in the environment is no order to spend money on texts that may already have their points.
    let flags = &mut asking.model;
    if flags.provider.is_none() && flags.base_url.is_none() && flags.replay.is_none() {
        flags.provider = Some(ProviderName::Offline);
    }
    let read: Vec<_> = [args.file.clone()]
        .into_iter()
        .chain(asking.prices.clone())
        .collect();
    ask::ensure_not_input(&asking.model, &read)?;
    let asked = setup::asked(&asking, None, session)?;
    let config = setup::config(
        &asking,
        &Repeats::once(),
        asked.model_client.label(),
        &asked.model,
    );
    let inputs = read.into_iter().chain(asking.talks());
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let output = target.begin(inputs)?;
    let results = experiment::score(&config, &samples, &asked, session)?;
    let first = samples.first().map(|sample| &sample.encoding_id);
    let several = samples
        .iter()
        .any(|sample| Some(&sample.encoding_id) != first);
    let show = Show::of(args.json, args.output.as_ref(), session);
    let summary = Summary::of_given(
        asked.model_client.label().offline,
        args.checks.verbose,
        several,
    );
    output::results(show, output, &results, &summary, quiet, session)?;
    if several && !quiet {
        let report = Report::of_results(results.clone());
        session.status(&format!("\n{}", ranking::text(&report).trim_end()));
    }
    let checks = &args.checks;
    Ok(experiment::conclude(
        &results,
        errors.len(),
        checks,
        None,
        session,
    ))
}
