//! `zer0gravity score`: texts that were encoded and decoded somewhere else.

use std::path::{Path, PathBuf};

use bin_support::model::ProviderName;
use bin_support::{Exit, Failure, OutputTarget, Session};
use zer0gravity_engine::calibration::JudgeIdentity;
use zer0gravity_engine::dataset::parse_samples;
use zer0gravity_engine::report::RunReport;

use crate::calibrated::{self, CalibrationFlags};
use crate::ci::CiFlags;
use crate::error::Error;
use crate::flags::{Checks, Repeats, RoleFlags};
use crate::output::Show;
use crate::summary::Summary;
use crate::{experiment, model, output, ranking, selection, setup};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity score cases.json
  zer0gravity score cases.json -o scored.json";

#[derive(Debug, clap::Args)]
pub struct ScoreArgs {
    /// Cases with `encodedText` and `decodedText`; - for stdin.
    ///
    /// Each may have `encodingSystem`, both token numbers and the judges' points.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// File for the results; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
    /// Print the results as JSON on a terminal, too.
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    #[command(flatten)]
    pub checks: Checks,
    #[command(flatten)]
    pub ci: CiFlags,
    #[command(flatten)]
    pub calibration: CalibrationFlags,
    #[command(flatten)]
    pub asking: RoleFlags,
}

pub fn execute(args: &ScoreArgs, session: &mut Session) -> Result<Exit, Failure> {
    if args.asking.temperature.is_some() {
        return Err(Failure::usage(Error::TemperatureOfGiven));
    }
    let quiet = session.is_quiet();
    let shown = selection::name(&args.file);
    let bytes = selection::read(&args.file).map_err(Failure::usage)?;
    let format = selection::format(&args.file, &bytes).map_err(Failure::usage)?;
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
        .chain(asking.scoring.files())
        .collect();
    model::ensure_not_input(&asking.model, &read)?;
    let crossed = setup::one_decoder(&asking)?;
    let asked = setup::asked(&asking, &crossed, None, session)?;
    let config = setup::config(
        &asking,
        &crossed,
        &Repeats::once(),
        asked.model_client.label(),
        &asked.model,
    )?;
    setup::check_scoring(&args.checks, &config)?;
    let is_judged = samples.iter().any(|one| one.semantic_score.is_none());
    let judge = is_judged.then(|| JudgeIdentity::of_config(&config));
    let calibration = args.calibration.of_judge(Ok(judge))?;
    let used = read.into_iter().chain(asking.talks());
    let used: Vec<_> = used.chain(args.calibration.file()).collect();
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let output = target.begin(&used)?;
    let results_file = target.file().map(Path::to_owned);
    let gate = args
        .ci
        .begin(&args.checks, used.into_iter().chain(results_file))?;
    let results = experiment::score(&config, &samples, &asked, session)?;
    let first = samples.first().map(|sample| &sample.encoding_id);
    let several = samples
        .iter()
        .any(|sample| Some(&sample.encoding_id) != first);
    let show = Show::of(args.json, args.output.as_ref(), session);
    let summary = Summary::of_given(
        asked.model_client.label().offline,
        session.verbosity() > 0,
        several,
    );
    output::results(show, output, &results, None, &summary, quiet, session)?;
    if let Some(calibration) = calibration {
        let mut report = RunReport::of_results(results.clone());
        report.calibrate(calibration);
        calibrated::tell(&report, "", session);
    }
    if several && !quiet {
        let report = RunReport::of_results(results.clone());
        let ranking = ranking::text(&report, &session.results);
        session.status(&format!("\n{}", ranking.trim_end()));
    }
    experiment::conclude(&results, errors.len(), gate, None, session)
}
