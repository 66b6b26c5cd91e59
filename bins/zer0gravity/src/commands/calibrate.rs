//! `zer0gravity calibrate`: the judge of a run compared with labels of people.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bin_support::model::{ModelFlags, ProviderName};
use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Output, OutputTarget, Session, escape};
use clap::ValueEnum as _;
use llm_client::SystemClock;
use zer0gravity_engine::ExperimentResult;
use zer0gravity_engine::calibration::{
    self, Calibration, CalibrationError, CanaryReport, JudgeIdentity, LabelPlan, time_of_day,
};
use zer0gravity_engine::plan::Config;
use zer0gravity_engine::report::{RunReport, calibration_lines};
use zer0gravity_engine::result::Models;

use crate::calibrated;
use crate::ci::Gate;
use crate::experiment::Stop;
use crate::filter::EncodingFilter;
use crate::flags::{Checks, points};
use crate::output::{self, Versioned};
use crate::source::Source;
use crate::{experiment, model, run_dir};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity calibrate matrix -o calibration.json
  zer0gravity calibrate plan runs/many --half-width 2";

/// Examples of `plan`, which tests run.
pub const PLAN_EXAMPLES: &str = "\
Examples:
  zer0gravity calibrate plan runs/many --half-width 2
  zer0gravity calibrate plan runs/many --half-width 1.5 --json";

#[derive(Debug, clap::Args)]
pub struct CalibrateArgs {
    #[command(subcommand)]
    pub command: Option<CalibrateCommand>,
    #[command(flatten)]
    pub run: RunArg,
    /// File of the labels.
    #[arg(long, value_name = "FILE", default_value = "labels.jsonl")]
    pub labels: PathBuf,
    /// File for the calibration, for --calibration of other commands; - for stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
    /// Print the calibration as JSON.
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    /// Ask the judge for 12 pairs in a known order; exit with code 4 if it ranks one wrongly.
    #[arg(long)]
    pub canaries: bool,
    #[command(flatten, next_help_heading = "Model options for --canaries")]
    pub model: ModelFlags,
}

#[derive(Debug, clap::Subcommand)]
pub enum CalibrateCommand {
    /// Count the labels that an interval needs
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(LabelPlanArgs),
}

#[derive(Debug, clap::Args)]
pub struct LabelPlanArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Half-width of the 95 % interval of a corrected mean, in points.
    #[arg(long, value_name = "POINTS", value_parser = points, allow_negative_numbers = true)]
    pub half_width: f64,
    /// Labels whose spread is used [default: 6 points are assumed].
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Print the plan as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The reason why a run cannot be calibrated.
#[derive(Debug, thiserror::Error)]
enum CalibrateFault {
    #[error("{run}: {source}; label pairs of one judge with `zer0gravity label`")]
    Nothing {
        run: String,
        source: CalibrationError,
    },
    #[error(
        "{run}: fewer than 20 texts of an encoding system have points of a judge; run more texts"
    )]
    FewTexts { run: String },
    #[error(
        "--canaries: the flags ask another judge than that of the run, which differs in {}; name its provider and --base-url",
        keys.join(", ")
    )]
    AnotherJudge { keys: Vec<String> },
    #[error("--half-width: expected more than 0 points")]
    NoWidth,
}

pub fn execute(args: &CalibrateArgs, session: &mut Session) -> Result<Exit, Failure> {
    if let Some(CalibrateCommand::Plan(args)) = &args.command {
        return plan(args, session);
    }
    let source = Source::find(&args.run, session)?;
    let inputs = source.files().into_iter().chain([args.labels.clone()]);
    let target = args.output.as_ref();
    let output = target.map(|target| target.begin(inputs)).transpose()?;
    let mut report = source.read(&EncodingFilter::default(), session)?;
    let mut calibration = compare(&report, source.path(), &args.labels, session)?;
    if args.canaries {
        let results = canaries(args, &report, &calibration.judge, session)?;
        for result in results.iter().filter(|result| !result.outcome.is_ok()) {
            let (name, error) = (&result.test_case_id, result.error.as_deref());
            let error = escape(error.unwrap_or("no points"));
            session.warn(&format!("canary {name} was not judged: {error}"));
        }
        let resume = format!(
            "zer0gravity calibrate {} --canaries",
            run_dir::shell_word(source.path())
        );
        let stop = Some(Stop {
            resume: &resume,
            batches: None,
            cap: None,
        });
        let checks = Checks::default();
        let gate = Gate::without_outputs(&checks);
        let exit = experiment::conclude(&results, 0, gate, stop, session)?;
        if exit != Exit::Done {
            return Ok(exit);
        }
        calibration.canaries = Some(CanaryReport::of(&results));
    }
    for warning in &calibration.warnings {
        session.warn(warning);
    }
    report.calibrate(calibration.clone());
    let lines = calibration_lines(&calibration).into_iter();
    let lines = lines.map(|(name, value)| {
        let mark = if name.ends_with("bias") { "" } else { ":" };
        escape(&format!("{name}{mark} {value}"))
    });
    let lines: Vec<String> = lines.chain(calibrated::corrected(&report)).collect();
    let text = lines.join("\n") + "\n";
    let has_stdout = args.json || matches!(output, Some(Output::Stdout));
    if let Some(output) = output.or(args.json.then_some(Output::Stdout)) {
        output::json(output, &calibration, session)?;
    } else {
        session.status("to use it with --calibration: -o calibration.json");
    }
    if !has_stdout {
        session.results.write_all(text.as_bytes())?;
    }
    let canaries = calibration.canaries.unwrap_or_default();
    for sentence in &canaries.wrong {
        session.warn(&format!("canary {}", escape(sentence)));
    }
    Ok(if canaries.wrong.is_empty() {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

/// Asks the judge of the run for the canaries.
fn canaries(
    args: &CalibrateArgs,
    report: &RunReport,
    judge: &JudgeIdentity,
    session: &Session,
) -> Result<Vec<ExperimentResult>, Failure> {
    let mut flags = args.model.clone();
    let provider = ProviderName::from_str(&judge.provider, false).ok();
    flags.provider = flags.provider.or(provider);
    flags.model = flags.model.or_else(|| judge.models.first().cloned());
    let judges = judge
        .models
        .iter()
        .map(|model| ("--judge-model", model.as_str()));
    let judges: Vec<_> = judges.collect();
    let sampled = judge.models.iter();
    let sampled = sampled.filter_map(|model| Some((model.as_str(), judge.temperature?)));
    let sampled: Vec<_> = sampled.collect();
    let seed = report.randomness.seed;
    let asked = model::open(&flags, None, &judges, &sampled, seed, session)?;
    let mut config = Config::new(asked.model_client.label(), asked.model.as_str());
    config.models = Models::new(asked.model.as_str()).judges(judge.models.clone());
    config.prompt_profile = judge.prompt_profile;
    config.judge_samples = judge.samples;
    config.judge_temperature = judge.temperature;
    let own = report.config.as_ref();
    config.judge_prompt = own.and_then(|config| config.judge_prompt.clone());
    let keys = judge.differences(&JudgeIdentity::of_config(&config));
    if !keys.is_empty() {
        return Err(Failure::usage(CalibrateFault::AnotherJudge { keys }));
    }
    experiment::score(&config, &calibration::canaries(), &asked, session)
}

/// Compares the judge of a run with the labels of a file that another process may be writing.
fn compare(
    report: &RunReport,
    run: &Path,
    labels: &Path,
    session: &Session,
) -> Result<Calibration, Failure> {
    let (bytes, lines) = calibrated::labels(labels, session)?;
    let (config, now) = (report.config.as_ref(), time_of_day(&SystemClock::new()));
    Calibration::of(&report.results, config, &lines, &bytes, now).map_err(|source| {
        let run = escape(&run.display().to_string());
        Failure::usage(CalibrateFault::Nothing { run, source })
    })
}

fn plan(args: &LabelPlanArgs, session: &mut Session) -> Result<Exit, Failure> {
    if args.half_width <= 0.0 {
        return Err(Failure::usage(CalibrateFault::NoWidth));
    }
    let source = Source::find(&args.run, session)?;
    let report = source.read(&EncodingFilter::default(), session)?;
    let labels = args.labels.as_ref();
    let pilot = labels.map(|labels| compare(&report, source.path(), labels, session));
    let pilot = pilot.transpose()?;
    let plan = report
        .label_plan(pilot.as_ref(), args.half_width)
        .ok_or_else(|| {
            let run = escape(&source.path().display().to_string());
            Failure::usage(CalibrateFault::FewTexts { run })
        })?;
    if args.json {
        output::json(Output::Stdout, &Versioned::new(plan), session)?;
    } else {
        writeln!(session.results, "{}", plan_text(&plan))?;
    }
    Ok(Exit::Done)
}

fn plan_text(plan: &LabelPlan) -> String {
    let LabelPlan {
        half_width,
        texts,
        labels,
        reached,
        ..
    } = plan;
    let first = if plan.is_reached {
        format!("label {labels} of {texts} texts of each encoding system for +-{half_width} points")
    } else {
        format!(
            "no number of labels gives +-{half_width} points with {texts} texts; the smallest is +-{reached:.2} with {labels}"
        )
    };
    let spread = match plan.pilot_labels {
        0 => "assumed".to_owned(),
        labels => format!("from {labels} labelled texts"),
    };
    format!(
        "{first}\nspread of judge - people: {:.1} points ({spread}); of the judge over texts: {:.1} points",
        plan.deviation, plan.judge_deviation
    )
}
