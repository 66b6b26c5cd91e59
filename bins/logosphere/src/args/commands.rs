//! What each command takes.

use std::path::PathBuf;

use bin_support::OutputTarget;
use logosphere_core::export::{ExportFormat, ExportKind};
use logosphere_core::format::ParseMode;
use logosphere_core::measures::nulls;

use super::flags::{SettingFlags, Switch, run_modes};
use crate::subject::Subject;

/// Flags of a run, with or without the word `run`.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RunFlags {
    /// The experiment's directory; without an init.md it is given one [default: experiments/DATE-run].
    #[arg(long, value_name = "PATH")]
    pub output_dir: Option<PathBuf>,
    /// Forecast the run instead. Nothing is sent or written.
    #[arg(long)]
    pub dry_run: bool,
    /// Before each call, check that the request is what the messages make of it, and nothing else: on or off.
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = Switch::On, hide_possible_values = true)]
    pub check_leaks: Switch,
    /// Give run, minds and clock unlikely values and search every request for them.
    #[arg(long)]
    pub canary: bool,
    #[command(flatten)]
    pub settings: SettingFlags,
}

impl RunFlags {
    /// Whether any flag is given.
    pub fn any(&self) -> bool {
        self.output_dir.is_some()
            || self.dry_run
            || self.check_leaks == Switch::Off
            || self.canary
            || self.settings.any()
    }
}

#[derive(Debug, clap::Args)]
pub struct New {
    /// Its name: 1 to 64 of a-z, 0-9, dot, underscore and dash. The day goes before it.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Take init.md and config.json of this experiment.
    #[arg(long, value_name = "EXP")]
    pub from: Option<PathBuf>,
    /// Take the seed too: the new run draws the same samples.
    #[arg(long, requires = "from")]
    pub keep_seed: bool,
}

#[derive(Debug, clap::Args)]
pub struct InitCheck {
    /// An init.md, or the directory of an experiment. A config.json beside it is heeded.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The rules that it is read by [default: those of config.json, else lenient].
    #[arg(long, value_parser = run_modes(), value_name = "MODE")]
    pub parse_mode: Option<ParseMode>,
    /// Append no signature to the seeds.
    #[arg(long)]
    pub no_stamp: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Run {
    /// The experiment's directory.
    #[arg(value_name = "EXP", conflicts_with = "output_dir")]
    pub experiment: Option<PathBuf>,
    #[command(flatten)]
    pub flags: RunFlags,
}

impl Run {
    /// The directory, by whichever way it is given.
    pub fn directory(&self) -> Option<&PathBuf> {
        self.experiment.as_ref().or(self.flags.output_dir.as_ref())
    }
}

#[derive(Debug, clap::Args)]
pub struct Resume {
    #[command(flatten)]
    pub subject: Subject,
    /// Before each call, check that the request is what the messages make of it, and nothing else: on or off.
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = Switch::On, hide_possible_values = true)]
    pub check_leaks: Switch,
    #[command(flatten)]
    pub settings: SettingFlags,
}

#[derive(Debug, clap::Args)]
pub struct Replay {
    #[command(flatten)]
    pub subject: Subject,
    /// File for the journal that comes out; - for stdout.
    #[arg(long, value_name = "FILE")]
    pub out: Option<OutputTarget>,
}

#[derive(Debug, clap::Args)]
pub struct Verify {
    #[command(flatten)]
    pub subject: Subject,
    /// It is one of the program of 2026-01-02, which has no chain.
    #[arg(long, requires = "init")]
    pub legacy: bool,
    /// The init.md that it began with.
    #[arg(long, value_name = "FILE", requires = "legacy")]
    pub init: Option<PathBuf>,
    /// The head that the journal must have, as an earlier `verify` printed it.
    #[arg(long, value_name = "HEX", conflicts_with = "legacy", value_parser = head)]
    pub expect_head: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Leak {
    #[command(flatten)]
    pub subject: Subject,
    /// Requests as a server received them, one file each.
    #[arg(long, value_name = "DIR")]
    pub bodies: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Diff {
    /// A journal, or an experiment's directory.
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// Another.
    #[arg(value_name = "B")]
    pub right: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct Analyze {
    #[command(flatten)]
    pub subject: Subject,
    /// Show every measure, by the names of --json and of exports.
    #[arg(long)]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Beside each measure, its band in this null model.
    #[arg(long, value_enum, value_name = "KIND")]
    pub null: Option<nulls::Null>,
    /// Compare equal numbers of texts of equal lengths only.
    #[arg(long = "match")]
    pub matched: bool,
    /// What is measured at once: the messages that can be read, or those of `rounds:R` rounds [default: active].
    #[arg(long, value_name = "WINDOW", value_parser = window)]
    pub window: Option<u32>,
}

/// `active`, or `rounds:R`. `active` is 0 rounds.
fn window(text: &str) -> Result<u32, String> {
    let rounds = match text {
        "active" => Some(0),
        _ => (text.strip_prefix("rounds:"))
            .and_then(|rounds| rounds.parse().ok())
            .filter(|rounds| *rounds > 0),
    };
    rounds.ok_or_else(|| "it is `active`, or `rounds:R` with R of at least 1".to_owned())
}

#[derive(Debug, clap::Args)]
pub struct Report {
    #[command(flatten)]
    pub subject: Subject,
    /// File for the page; - for stdout [default: report.html in the experiment's directory].
    #[arg(long, value_name = "FILE")]
    pub out: Option<OutputTarget>,
}

#[derive(Debug, clap::Args)]
pub struct Export {
    /// The experiment (its directory, its name, or a journal), then the file, whose name says what and in which form:
    /// WHAT.FORMAT, or - with --what and --format.
    ///
    /// Without an experiment: the one whose journal changed last.
    #[arg(value_name = "EXP> <FILE", num_args = 0..=2)]
    pub names: Vec<PathBuf>,
    /// What of it [default: as the file's name says].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub what: Option<ExportKind>,
    /// In which form [default: as the file's name says].
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// Write CSV cells as they are, also those that a spreadsheet takes for formulas.
    #[arg(long)]
    pub raw_csv: bool,
    /// File to write; - for stdout [default: -].
    #[arg(long, value_name = "FILE")]
    pub out: Option<OutputTarget>,
}

#[derive(Debug, clap::Args)]
pub struct Lineage {
    #[command(flatten)]
    pub subject: Subject,
    /// Show so many of the messages with most descendants.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Forecast {
    #[command(flatten)]
    pub subject: Subject,
    /// Tokens of an answer, if no run has measured them [default: a fifth of the token limit, at most 400].
    #[arg(long, value_name = "N")]
    pub answer_tokens: Option<u32>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: SettingFlags,
}

#[derive(Debug, clap::Args)]
pub struct Null {
    #[command(flatten)]
    pub subject: Subject,
    /// The null model.
    #[arg(long, value_enum, value_name = "KIND", default_value = "random-copy")]
    pub kind: nulls::Null,
    /// How many runs are made of it, at least 200.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(200..))]
    pub runs: u32,
    /// With random-copy: how often something new is written, 0 to 1 or `auto`, the run's own share.
    #[arg(long, value_name = "MU", default_value = "auto", value_parser = innovation)]
    pub mu: Innovation,
    #[command(flatten)]
    pub seed: bin_support::SeedFlag,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How often something new is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Innovation {
    /// As often as in the run.
    Auto,
    /// With this probability.
    Share(f64),
}

/// The head of a journal, in small letters.
fn head(text: &str) -> Result<String, String> {
    let is_head = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let head = is_head.then(|| text.to_ascii_lowercase());
    head.ok_or_else(|| "expected 32 hexadecimal digits, as `verify` prints them".to_owned())
}

fn innovation(text: &str) -> Result<Innovation, String> {
    if text == "auto" {
        return Ok(Innovation::Auto);
    }
    let share = text.parse().ok().filter(|mu| (0.0..=1.0).contains(mu));
    share
        .map(Innovation::Share)
        .ok_or_else(|| "it is `auto`, or a number from 0 to 1".to_owned())
}

#[derive(Debug, clap::Args)]
pub struct Parse {
    /// The answer [default: stdin].
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The rules that it is read by.
    #[arg(long, value_enum, value_name = "MODE", default_value = "lenient")]
    pub mode: ParseMode,
    /// What the run's seeds are signed with.
    #[arg(long, value_name = "SIGNATURE", default_value = "~init", value_parser = signature)]
    pub init_signature: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn signature(text: &str) -> Result<String, String> {
    logosphere_core::format::is_signature(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "it is `~` and 1 to 31 characters on one line".to_owned())
}

#[derive(Debug, clap::Args)]
pub struct Demo {
    /// Where the experiment goes [default: experiments/DATE-demo].
    #[arg(long, value_name = "PATH")]
    pub output_dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use logosphere_core::config::{Durability, ForgedSignaturePolicy, OnError, Scheduling};
    use serde_json::json;

    use super::*;

    fn words<T: ValueEnum>() -> Vec<String> {
        let values = T::value_variants().iter();
        values
            .map(|value| value.to_possible_value().unwrap().get_name().to_owned())
            .collect()
    }

    fn are_all<T: ValueEnum + ToString>(all: &[T]) {
        assert!(
            words::<T>()
                .into_iter()
                .eq(all.iter().map(ToString::to_string))
        );
    }

    /// The words of a setting are those of a `config.json`.
    fn are_read<T: ValueEnum + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>() {
        for (word, value) in words::<T>().iter().zip(T::value_variants()) {
            assert_eq!(&serde_json::from_value::<T>(json!(word)).unwrap(), value);
        }
    }

    #[test]
    fn l39_the_words_of_flags_are_those_of_the_core() {
        are_all(ExportKind::ALL);
        are_all(ExportFormat::ALL);
        are_all(nulls::Null::ALL);
        are_read::<Durability>();
        are_read::<ForgedSignaturePolicy>();
        are_read::<OnError>();
        are_read::<ParseMode>();
        are_read::<Scheduling>();
        assert!("Csv".parse::<ExportFormat>().is_err());
        assert!(ExportFormat::from_str("Csv", false).is_err());
    }
}
