//! The command line: every subcommand and its flags.

mod examples;
mod flags;

use std::path::PathBuf;

use bin_support::{OutputTarget, Program};

pub use self::flags::{Checks, Format, Judging, Repeats, RoleFlags, Texts};

/// Encode texts, decode them afresh, score the round trip
///
/// Each round trip scores at most 100 points.
#[derive(Debug, clap::Parser)]
#[command(name = "zer0gravity", version, after_help = examples::PROGRAM)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

impl Program for Cli {}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Run the experiment with one encoding system
    ///
    /// The texts are those of a level, of all levels or of a dataset.
    ///
    /// The results are a JSON array on stdout or in --output, the summary is on stderr. Without a key no model is asked: the
    /// default rules, and others that are mechanical, are then carried out by a program, and every result says `offline`.
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Run every encoding system on every text, resumably
    #[command(after_help = examples::MATRIX)]
    Matrix(Matrix),
    /// Continue a run that stopped: only missing calls are made
    #[command(after_help = examples::RESUME)]
    Resume(Resume),
    /// Judge a finished run again: only judges are asked
    #[command(after_help = examples::RESCORE)]
    Rescore(Rescore),
    /// Score texts that were encoded and decoded elsewhere
    ///
    /// The file is JSON, JSON lines or CSV.
    ///
    /// Without --provider no model is asked: points and token numbers that are given are taken, others are estimated from
    /// the letters and marked so.
    #[command(after_help = examples::SCORE)]
    Score(Score),
    /// Check an encoding system for faults
    #[command(after_help = examples::LINT)]
    Lint(Lint),
    /// List the texts of the three levels
    #[command(after_help = examples::LEVELS)]
    Levels(Levels),
    /// Write results as one page for a browser, without a network
    #[command(after_help = examples::REPORT)]
    Report(ShowReport),
    /// Export results as CSV or JSON
    #[command(after_help = examples::EXPORT)]
    Export(Export),
    /// Compare a run with an earlier one
    ///
    /// The exit code is 4 if it is worse by more than --max-drop allows.
    #[command(after_help = examples::COMPARE)]
    Compare(Compare),
    /// Count the calls of a run and their highest cost
    ///
    /// Nothing is sent.
    #[command(after_help = examples::ESTIMATE)]
    Estimate(Estimate),
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_field_names, reason = "fields are named as their flags")]
pub struct Run {
    /// Print the results as JSON on a terminal, too.
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    #[command(flatten)]
    pub texts: Texts,
    /// Encoding system: a text file [default: the built-in rules].
    #[arg(long, value_name = "PATH")]
    pub encoding: Option<PathBuf>,
    /// File for the results; - for stdout [default: -].
    #[arg(long, value_name = "PATH")]
    pub output: Option<OutputTarget>,
    /// Directory that keeps every call: the same command, or `resume`, then continues an interrupted run.
    #[arg(long, value_name = "DIR")]
    pub run_dir: Option<PathBuf>,
    /// Print the prompt of each role; no model is asked, and no texts are needed.
    #[arg(long)]
    pub show_prompts: bool,
    #[command(flatten)]
    pub asking: RoleFlags,
    #[command(flatten)]
    pub repeats: Repeats,
    #[command(flatten)]
    pub checks: Checks,
}

#[derive(Debug, clap::Args)]
pub struct Matrix {
    /// Encoding systems: text files [default: the built-in rules].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub encoding: Vec<PathBuf>,
    #[command(flatten)]
    pub texts: Texts,
    /// Directory of the run: plan, calls and report.
    #[arg(long, value_name = "DIR")]
    pub run_dir: PathBuf,
    #[command(flatten)]
    pub asking: RoleFlags,
    #[command(flatten)]
    pub repeats: Repeats,
    #[command(flatten)]
    pub checks: Checks,
}

#[derive(Debug, clap::Args)]
pub struct Resume {
    /// Directory of the run.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Rebuild the report from calls.jsonl as it is, though it changed after the last report; the report then says so.
    #[arg(long)]
    pub accept_changed_calls: bool,
    #[command(flatten)]
    pub model: bin_support::ModelFlags,
    /// Table of prices, used before the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    #[command(flatten)]
    pub checks: Checks,
}

#[derive(Debug, clap::Args)]
pub struct Rescore {
    /// Directory of the run.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    #[command(flatten)]
    pub judging: Judging,
    /// Prompts of the judges [default: those of the run].
    #[arg(long, value_name = "PROFILE")]
    pub prompt_profile: Option<zer0gravity_engine::prompts::PromptProfile>,
    /// Ask only the judges that gave no score, once more; all scores stay.
    #[arg(long, conflicts_with_all = ["judge_model", "prompt_profile", "resume"])]
    pub only_failed: bool,
    /// Continue an interrupted rescore, with its judges.
    #[arg(long, conflicts_with_all = ["judge_model", "prompt_profile"])]
    pub resume: bool,
    #[command(flatten)]
    pub model: bin_support::ModelFlags,
    /// Table of prices, used before the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    #[command(flatten)]
    pub checks: Checks,
}

#[derive(Debug, clap::Args)]
pub struct Score {
    /// Cases with `encodedText` and `decodedText`, and optionally `encodingSystem`, both token numbers and the judges' points.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// File for the results; - for stdout [default: -].
    #[arg(long, value_name = "PATH")]
    pub output: Option<OutputTarget>,
    /// Print the results as JSON on a terminal, too.
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    #[command(flatten)]
    pub asking: RoleFlags,
    #[command(flatten)]
    pub checks: Checks,
}

#[derive(Debug, clap::Args)]
pub struct Lint {
    /// Encoding systems: text files [default: the built-in rules].
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Encoding systems, as `run` and `matrix` name them.
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "files")]
    pub encoding: Vec<PathBuf>,
    /// Findings that end the command with exit code 4: codes such as ZG005, or `warnings` for all [default: ZG008].
    #[arg(long, value_name = "CODE", action = clap::ArgAction::Append)]
    pub deny: Vec<String>,
    /// Print the findings, and the tokens of the rules, as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct ShowReport {
    /// Run: a directory, a report, or the output of `run`.
    #[arg(value_name = "DIR|FILE")]
    pub source: PathBuf,
    /// File for the page; - for stdout [default: report.html in DIR].
    #[arg(short, long, value_name = "OUT", alias = "html")]
    pub output: Option<OutputTarget>,
}

#[derive(Debug, clap::Args)]
pub struct Export {
    /// Run: a directory, a report, or the output of `run`.
    #[arg(value_name = "DIR|FILE")]
    pub source: PathBuf,
    /// Form of the export: one row per result, or the whole report.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = flags::Format::Csv)]
    pub format: flags::Format,
    /// File for the export; - for stdout [default: -].
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<OutputTarget>,
    /// The former name of `--format csv --output OUT`.
    #[arg(long, value_name = "OUT", hide = true, conflicts_with_all = ["format", "output"])]
    pub csv: Option<OutputTarget>,
    /// The former name of `--format json --output OUT`.
    #[arg(long, value_name = "OUT", hide = true, conflicts_with_all = ["format", "output", "csv"])]
    pub json: Option<OutputTarget>,
}

#[derive(Debug, clap::Args)]
pub struct Levels {
    /// Print the cases as a JSON array, a dataset for --dataset.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Compare {
    /// Earlier run: a directory, a report, or the output of `run`.
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// Later run: a directory, a report, or the output of `run`.
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Exit with code 4 if an encoding's mean total is significantly lower by more than POINTS, or a text is no longer scored.
    #[arg(long, value_name = "POINTS", value_parser = flags::points, allow_negative_numbers = true)]
    pub max_drop: Option<f64>,
    /// Exit with code 4 on every drop beyond --max-drop, significant or not.
    #[arg(long, requires = "max_drop")]
    pub strict: bool,
    /// Print the comparison as JSON.
    #[arg(long)]
    pub json: bool,
    /// Compare runs that different judges, or judges with different prompts, have scored.
    #[arg(long)]
    pub allow_changed_judge: bool,
}

#[derive(Debug, clap::Args)]
pub struct Estimate {
    /// Encoding systems: text files [default: the built-in rules].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub encoding: Vec<PathBuf>,
    #[command(flatten)]
    pub texts: Texts,
    #[command(flatten)]
    pub asking: RoleFlags,
    /// Directory of a run whose replies give the expected lengths, by their roles.
    #[arg(long, value_name = "DIR")]
    pub like: Option<PathBuf>,
    /// Print the estimate as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub repeats: Repeats,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_help_has_its_form_and_examples_that_parse() {
        test_support::check_help(&bin_support::command::<Cli>());
    }
}
