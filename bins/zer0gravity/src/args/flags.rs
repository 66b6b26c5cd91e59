//! Groups of flags that several subcommands take.

use std::path::PathBuf;

use bin_support::ModelFlags;
use clap::builder::RangedU64ValueParser;
use zer0gravity_engine::prompts::{MAX_OUTPUT_TOKENS, PromptProfile};

/// 1 to 1000.
fn repeats() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=1000)
}

/// Which texts.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "texts", multiple = false)]
pub struct Texts {
    /// The texts of this level: 1, 2 or 3.
    #[arg(long, value_name = "N", group = "texts", value_parser = level, allow_negative_numbers = true)]
    pub level: Option<u32>,
    /// The texts of all three levels.
    #[arg(long, group = "texts")]
    pub all: bool,
    /// The texts of files (.json, .jsonl, .csv, and .txt or .md with one text each) and of the files in folders.
    #[arg(long, value_name = "PATH", num_args = 1.., group = "texts")]
    pub dataset: Vec<PathBuf>,
}

fn level(text: &str) -> Result<u32, String> {
    match text {
        "1" => Ok(1),
        "2" => Ok(2),
        "3" => Ok(3),
        _ => Err("the levels are 1, 2 and 3".to_owned()),
    }
}

/// Whom to ask, and how.
#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct RoleFlags {
    #[command(flatten)]
    pub model: ModelFlags,
    /// The decoder's model [default: --model].
    #[arg(long, value_name = "ID")]
    pub decoder_model: Option<String>,
    #[command(flatten)]
    pub judging: Judging,
    /// The prompts: the seed's own, with bands for the judges, or guarded against contestants who speak to them.
    #[arg(long, value_name = "PROFILE", value_enum, default_value_t = PromptProfile::Seed)]
    pub prompt_profile: PromptProfile,
    /// The longest encoding and decoding in tokens.
    #[arg(long, value_name = "N", default_value_t = MAX_OUTPUT_TOKENS, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_output_tokens: u32,
    /// Let a third agent carry out the decoded text of cases that expect a result.
    #[arg(long)]
    pub execute: bool,
    /// Judge the rules once and not for every text.
    #[arg(long)]
    pub implementability_once: bool,
    /// Reckon what the encoding saves, in tokens and money.
    #[arg(long)]
    pub cost: bool,
    /// Measure what a message costs beyond its text (one more count), for the net figures of --cost.
    #[arg(long = "measure-wrapper")]
    pub measure_overhead: bool,
    /// A table of prices that goes before the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Read judges as the reference does: no second question, and numbers out of anything.
    #[arg(long)]
    pub compat_judge_parse: bool,
    /// Where the provider does not count, take a quarter of the text's length, as the reference does.
    #[arg(long)]
    pub compat_token_fallback: bool,
    /// Estimate token numbers at once where the provider does not count, without two calls that measure the prompts.
    #[arg(long)]
    pub no_measure_tokens: bool,
    /// Run texts longer than 1 MiB too.
    #[arg(long)]
    pub allow_long: bool,
    /// Leave out bad lines of a dataset and run the rest; the exit code is then 3.
    #[arg(long)]
    pub skip_bad: bool,
    #[command(flatten)]
    pub seed: bin_support::SeedFlag,
}

impl RoleFlags {
    /// The files of recorded calls that these flags name.
    pub fn talks(&self) -> impl Iterator<Item = PathBuf> {
        let named = [&self.model.replay, &self.model.record];
        named.into_iter().flatten().cloned()
    }
}

/// Who judges.
#[derive(Debug, Clone, clap::Args)]
pub struct Judging {
    /// The judge's model; more than one is a panel, whose median counts [default: --model].
    #[arg(long, value_name = "ID", num_args = 1.., action = clap::ArgAction::Append)]
    pub judge_model: Vec<String>,
}

/// How often.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Repeats {
    /// Encode each text so often.
    #[arg(long, value_name = "E", default_value_t = 1, value_parser = repeats())]
    pub trials: u32,
    /// Decode each encoding so often.
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = repeats())]
    pub decodes: u32,
    /// Ask each judge so often; the median counts.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = repeats())]
    pub judge_samples: u32,
}

impl Repeats {
    /// Everything once.
    pub fn once() -> Self {
        Self {
            trials: 1,
            decodes: 1,
            judge_samples: 1,
        }
    }
}

/// 0 to 100.
pub fn points(text: &str) -> Result<f64, String> {
    let points = text
        .parse()
        .ok()
        .filter(|points| (0.0..=100.0).contains(points));
    points.ok_or_else(|| "points are 0 to 100".to_owned())
}

/// What the results are held against, and how much is told of them.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Checks {
    /// End with 4 if the mean total is lower.
    #[arg(long, value_name = "X", value_parser = points, allow_negative_numbers = true)]
    pub min_total: Option<f64>,
    /// End with 4 if a result has a flag.
    #[arg(long)]
    pub fail_on_flag: bool,
    /// Tell more of every result.
    #[arg(long)]
    pub verbose: bool,
}

impl Checks {
    /// The flag of a check, if one is asked for.
    pub fn flag(&self) -> Option<&'static str> {
        let flags = [
            (self.min_total.is_some(), "--min-total"),
            (self.fail_on_flag, "--fail-on-flag"),
        ];
        flags
            .into_iter()
            .find_map(|(given, flag)| given.then_some(flag))
    }
}

/// A form of exported results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One row a result.
    Csv,
    /// The whole report.
    Json,
}
