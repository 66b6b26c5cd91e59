//! Groups of flags that several subcommands take.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;

use bin_support::model::ModelFlags;
use clap::builder::RangedU64ValueParser;
use zer0gravity_engine::ExperimentResult;
use zer0gravity_engine::prompts::{MAX_OUTPUT_TOKENS, PromptProfile};
use zer0gravity_engine::result::AtomMetrics;

use crate::filter::CaseFilter;
use crate::measure_gate::{MeasureGate, gate};

/// A number of repetitions, 1 to 1000.
fn repeats() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=1000)
}

/// The texts of a run.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "texts", multiple = false)]
pub struct Texts {
    /// Files with texts, and folders of them; - for stdin.
    ///
    /// Files end in .json, .jsonl or .csv, or in .txt or .md with one text each.
    #[arg(value_name = "INPUT", group = "texts")]
    pub inputs: Vec<PathBuf>,
    /// Level whose texts are used: 1, 2 or 3.
    #[arg(long, value_name = "N", group = "texts", value_parser = level, allow_negative_numbers = true)]
    pub level: Option<u32>,
    /// Use the texts of all three levels.
    #[arg(long, group = "texts")]
    pub all: bool,
    /// The former name of INPUT.
    #[arg(long, value_name = "PATH", num_args = 1.., group = "texts", hide = true)]
    dataset: Vec<PathBuf>,
    #[command(flatten)]
    pub filter: CaseFilter,
}

impl Texts {
    /// The files and folders.
    pub fn paths(&self) -> &[PathBuf] {
        if self.inputs.is_empty() {
            &self.dataset
        } else {
            &self.inputs
        }
    }
}

/// Reads the number of a level.
pub fn level(text: &str) -> Result<u32, String> {
    match text {
        "1" => Ok(1),
        "2" => Ok(2),
        "3" => Ok(3),
        _ => Err("the levels are 1, 2 and 3".to_owned()),
    }
}

/// The models of the roles, and their settings.
#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct RoleFlags {
    #[command(flatten, next_help_heading = "Model options")]
    pub model: ModelFlags,
    /// Model of the decoder [default: --model].
    #[arg(long, value_name = "ID", action = clap::ArgAction::Append, hide_short_help = true)]
    pub decoder_model: Vec<String>,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub scoring: ScoringFlags,
    /// Set of prompts: plain, bands or guarded.
    ///
    /// The original ones, with bands for the judges, or guarded against texts that address a model.
    #[arg(long, value_name = "PROFILE", value_enum, hide_short_help = true, default_value_t = PromptProfile::Plain, hide_possible_values = true)]
    pub prompt_profile: PromptProfile,
    #[command(flatten)]
    pub seed: bin_support::SeedFlag,
    /// Longest reply of encoder and decoder in tokens.
    #[arg(long, value_name = "N", default_value_t = MAX_OUTPUT_TOKENS, value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub max_output_tokens: u32,
    /// Temperature of encoder and decoder, 0 to 2 [default: the provider's].
    #[arg(long, value_name = "T", value_parser = temperature, allow_negative_numbers = true, hide_short_help = true)]
    pub temperature: Option<f64>,
    /// Let a third agent carry out the decoded text of cases with an expected result.
    #[arg(long, hide_short_help = true)]
    pub execute: bool,
    /// Judge the rules once and not for every text.
    #[arg(long, hide_short_help = true)]
    pub implementability_once: bool,
    /// Compute the saving of the encoding, in tokens and money.
    #[arg(long, hide_short_help = true)]
    pub cost: bool,
    /// Measure the message overhead in tokens (one more count), for the net figures of --cost.
    #[arg(long = "measure-wrapper", hide_short_help = true)]
    pub measure_overhead: bool,
    /// Table of prices, used before the built-in one.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub prices: Option<PathBuf>,
    /// Estimate token numbers at once where the provider does not count, without two calls that measure the prompts.
    #[arg(long, hide_short_help = true)]
    pub no_measure_tokens: bool,
    /// Run texts longer than 1 MiB too.
    #[arg(long, hide_short_help = true)]
    pub allow_long: bool,
    /// Leave out bad lines of a dataset and run the rest; the exit code is then 3.
    #[arg(long, hide_short_help = true)]
    pub skip_bad: bool,
    #[command(flatten)]
    removed: RemovedFlags,
}

/// The models of a matrix.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct MatrixModels {
    /// Model of the encoder [default: --model].
    ///
    /// With several, and with several of --decoder-model, each encoding system is run with each encoder and each decoder.
    #[arg(long, value_name = "ID", action = clap::ArgAction::Append, hide_short_help = true)]
    pub encoder_model: Vec<String>,
    /// Let each model decode only what it encoded.
    #[arg(long, hide_short_help = true)]
    pub pair_models: bool,
}

/// The way of the calls of a run that is kept.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct BatchFlag {
    /// Ask in batches, at half the price and within a day each.
    ///
    /// Each phase of a run, such as all encodings, is a batch. A run that was begun so is continued so.
    #[arg(long, hide_short_help = true)]
    pub batch: bool,
    /// Submit batches again that may be at the server, and may be paid twice.
    ///
    /// Otherwise a batch whose submission was interrupted is looked for at the server.
    #[arg(long, hide_short_help = true)]
    pub resubmit: bool,
}

/// Leaves the flags for repeats out of a short help.
pub fn single(flag: clap::Arg) -> clap::Arg {
    let is_repeat = ["trials", "decodes"].contains(&flag.get_id().as_str());
    if is_repeat {
        flag.hide_short_help(true)
    } else {
        flag
    }
}

impl RoleFlags {
    /// The files of recorded calls that these flags name.
    pub fn talks(&self) -> impl Iterator<Item = PathBuf> {
        let named = [&self.model.replay, &self.model.record];
        named.into_iter().flatten().cloned()
    }
}

/// Flags that earlier versions had: each is answered with its reason.
#[derive(Debug, Clone, clap::Args)]
struct RemovedFlags {
    #[arg(long, hide = true, num_args = 0, default_missing_value = "", value_parser = one_reader)]
    compat_judge_parse: Option<Infallible>,
    #[arg(long, hide = true, num_args = 0, default_missing_value = "", value_parser = no_quarters)]
    compat_token_fallback: Option<Infallible>,
}

fn one_reader(_: &str) -> Result<Infallible, String> {
    Err("removed: a score is read from the judge's JSON object only".to_owned())
}

fn no_quarters(_: &str) -> Result<Infallible, String> {
    Err("removed: where the provider does not count, tokens are measured or estimated".to_owned())
}

/// The judges of a run.
#[derive(Debug, Clone, clap::Args)]
pub struct Judging {
    /// Model of the judge [default: --model].
    ///
    /// More than one is a panel, whose median counts.
    #[arg(long, value_name = "ID", num_args = 1.., action = clap::ArgAction::Append)]
    pub judge_model: Vec<String>,
    /// Temperature of the judges, 0 to 2 [default: the provider's].
    #[arg(long, value_name = "T", value_parser = temperature, allow_negative_numbers = true, hide_short_help = true)]
    pub judge_temperature: Option<f64>,
}

/// The judge's prompt and the measures of the user.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ScoringFlags {
    /// File of own measures (TOML).
    ///
    /// Judges with other prompts, patterns, metrics, and programs, which it runs; no score of the built-in rubric changes.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub rubric: Option<PathBuf>,
    /// File that replaces the system prompt of the judge of the meaning.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub judge_prompt: Option<PathBuf>,
}

impl ScoringFlags {
    /// The files.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        [&self.rubric, &self.judge_prompt]
            .into_iter()
            .flatten()
            .cloned()
    }
}

/// The repetitions of a run.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Repeats {
    /// Encoding samples per text.
    #[arg(long, value_name = "E", default_value_t = 1, value_parser = repeats())]
    pub trials: u32,
    /// Decoding samples per encoding.
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = repeats())]
    pub decodes: u32,
    /// Samples per judge and decoding.
    ///
    /// The median counts.
    #[arg(long, value_name = "K", default_value_t = 1, hide_short_help = true, value_parser = repeats())]
    pub judge_samples: u32,
}

impl Repeats {
    /// One repetition of everything.
    pub fn once() -> Self {
        Self {
            trials: 1,
            decodes: 1,
            judge_samples: 1,
        }
    }
}

/// Reads points from 0 to 100.
pub fn points(text: &str) -> Result<f64, String> {
    within(text, 100.0).ok_or_else(|| "points are 0 to 100".to_owned())
}

/// Reads a share from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    within(text, 1.0).ok_or_else(|| "a share is 0 to 1".to_owned())
}

/// Reads a temperature from 0 to 2.
fn temperature(text: &str) -> Result<f64, String> {
    let read = within(text, 2.0).ok_or_else(|| "a temperature is 0 to 2".to_owned())?;
    // -0 is 0, which is another text in a key.
    Ok(read + 0.0)
}

/// Reads a number from 0 to `most`.
fn within(text: &str, most: f64) -> Option<f64> {
    let number = text.parse().ok();
    number.filter(|number| (0.0..=most).contains(number))
}

/// The checks of the results.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Checks {
    /// Exit with code 4 if the mean total is below X points.
    #[arg(long, value_name = "X", value_parser = points, allow_negative_numbers = true)]
    pub min_total: Option<f64>,
    /// Exit with code 4 if a result has a flag.
    #[arg(long)]
    pub fail_on_flag: bool,
    /// Exit with code 4 if a decoded text keeps less than this share of critical commitments, 0 to 1.
    #[arg(long, value_name = "X", value_parser = share, allow_negative_numbers = true, hide_short_help = true)]
    pub min_critical_recall: Option<f64>,
    /// Exit with code 4 if a decoded text has more than N commitments that the original lacks.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_invented: Option<usize>,
    /// Exit with code 4 unless the mean of a measure keeps a limit: ID>=X or ID<=X.
    ///
    /// Measures are `total`, `semantic`, `critical_recall` and those of --rubric.
    #[arg(long, value_name = "ID>=X", value_parser = gate, hide_short_help = true)]
    pub gate: Vec<MeasureGate>,
}

impl Checks {
    /// The flag of a check, if one is asked for.
    pub fn flag(&self) -> Option<&'static str> {
        let flags = [
            (self.min_total.is_some(), "--min-total"),
            (self.fail_on_flag, "--fail-on-flag"),
            (self.min_critical_recall.is_some(), "--min-critical-recall"),
            (self.max_invented.is_some(), "--max-invented"),
            (!self.gate.is_empty(), "--gate"),
        ];
        flags
            .into_iter()
            .find_map(|(given, flag)| given.then_some(flag))
    }

    /// Returns a sentence for each check of single results that `result` does not pass.
    pub fn failed_by(&self, result: &ExperimentResult) -> Vec<String> {
        let single = Self {
            min_total: None,
            gate: Vec::new(),
            ..self.clone()
        };
        single.failed(std::slice::from_ref(result))
    }

    /// Returns each check of a mean, as its flag, with a sentence if it does not hold.
    pub fn of_means(&self, results: &[ExperimentResult]) -> Vec<(String, Option<String>)> {
        let total = self
            .min_total
            .map(|least| (format!("--min-total {least}"), below(results, least)));
        let gates = self.gate.iter();
        let gates = gates.map(|gate| (gate.text().to_owned(), gate.failed(results)));
        total.into_iter().chain(gates).collect()
    }

    /// Returns a sentence for each check that does not hold.
    pub fn failed(&self, results: &[ExperimentResult]) -> Vec<String> {
        let flagged = self.fail_on_flag.then(|| flagged(results)).flatten();
        let means = self.of_means(results).into_iter();
        let means = means.filter_map(|(_, failed)| failed);
        let least = self.min_critical_recall;
        let lost = least.and_then(|least| lost(results, least));
        let most = self.max_invented;
        let invented = most.and_then(|most| invented(results, most));
        let all = flagged.into_iter().chain(means);
        all.chain(lost).chain(invented).collect()
    }
}

/// Writes that the mean total is below `least`, if it is.
fn below(results: &[ExperimentResult], least: f64) -> Option<String> {
    let totals: Vec<_> = (results.iter())
        .filter_map(|result| result.total.map(f64::from))
        .collect();
    if totals.is_empty() {
        return Some(format!(
            "no result has a total, so --min-total {least} does not hold"
        ));
    }
    let mean = totals.iter().sum::<f64>() / totals.len() as f64;
    // With one decimal, unless the limit lies between.
    let short = format!("{mean:.1}");
    let is_below = |text: &str| text.parse().is_ok_and(|shown: f64| shown < least);
    let shown = if is_below(&short) {
        short
    } else {
        mean.to_string()
    };
    (mean < least).then(|| format!("mean total {shown} is below --min-total {least}"))
}

/// Recall has four decimals in results.
const HALF_A_DIGIT: f64 = 0.000_05;

/// Names the first result that keeps less than `least` of the critical commitments, or whose text cannot tell.
fn lost(results: &[ExperimentResult], least: f64) -> Option<String> {
    let fault = |atoms: &AtomMetrics| match atoms.critical_recall {
        Some(recall) if recall + HALF_A_DIGIT < least => {
            Some(format!("keeps {recall} of the critical commitments"))
        }
        None if atoms.truncated => Some(TOO_LONG.to_owned()),
        None if atoms.language != "english" => {
            Some("cannot be checked: it is not English".to_owned())
        }
        _ => None,
    };
    let said = first(results, fault)?;
    Some(format!("--min-critical-recall {least}: {said}"))
}

/// Names the first result with more than `most` commitments that the original lacks, or whose text cannot tell.
fn invented(results: &[ExperimentResult], most: usize) -> Option<String> {
    let fault = |atoms: &AtomMetrics| match atoms.invented {
        invented if invented > most => Some(format!(
            "has commitments that the original lacks: {invented}"
        )),
        _ => atoms.truncated.then(|| TOO_LONG.to_owned()),
    };
    let said = first(results, fault)?;
    Some(format!("--max-invented {most}: {said}"))
}

const TOO_LONG: &str = "cannot be checked: a text is too long to compare commitments one by one";

/// Names the first result whose commitments have a fault, with the fault.
fn first(
    results: &[ExperimentResult],
    fault: impl Fn(&AtomMetrics) -> Option<String>,
) -> Option<String> {
    let decoded = results
        .iter()
        .filter(|result| result.decoded_text.is_some());
    let mut faults = decoded.filter_map(|result| {
        let atoms = result
            .metrics
            .as_ref()
            .and_then(|metrics| metrics.atoms.as_deref());
        let said = match atoms {
            Some(atoms) => fault(atoms)?,
            None => "cannot be checked: an earlier version wrote the result".to_owned(),
        };
        Some(format!("{} {said}", named(result)))
    });
    faults.next()
}

/// The encoding system and the text of a result, with its repeat if there are several.
pub fn named(result: &ExperimentResult) -> String {
    let (encoding, case) = (&result.encoding_id, &result.test_case_id);
    match (result.trial, result.decode) {
        (1, 1) => format!("{encoding}/{case}"),
        (trial, decode) => format!("{encoding}/{case}, trial {trial}, decode {decode}"),
    }
}

/// Writes each flag with its cases, if a result has one.
fn flagged(results: &[ExperimentResult]) -> Option<String> {
    const NAMED: usize = 5;
    let mut flags = BTreeMap::<&str, BTreeSet<&str>>::new();
    for result in results {
        for flag in &result.flags {
            flags
                .entry(flag.id.as_str())
                .or_default()
                .insert(&result.test_case_id);
        }
    }
    let named = flags.iter().map(|(flag, cases)| {
        let named: Vec<_> = cases.iter().take(NAMED).copied().collect();
        let more = match cases.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{flag} ({}{more})", named.join(", "))
    });
    let named: Vec<_> = named.collect();
    (!named.is_empty()).then(|| format!("--fail-on-flag: results have flags: {}", named.join(", ")))
}
