//! The flags that several commands share.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use bin_support::model::ModelFlags;
use bin_support::{Failure, Session};
use clap::builder::RangedU64ValueParser;
use logosphere_core::config::{Durability, ForgedSignaturePolicy, Layer, OnError, Scheduling};
use logosphere_core::format::ParseMode;

use crate::folders;

/// The headings of the groups of settings in help texts.
const POPULATION: &str = "Population";
const FORMAT: &str = "Answers";
const LENGTH: &str = "Length and caps";
const MODEL: &str = "Model";

/// The experiment of a run that begins.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ExperimentArg {
    /// Experiment: its folder, or its name in experiments/ [default: a new one].
    #[arg(value_name = "EXP", conflicts_with = "output_dir")]
    pub experiment: Option<PathBuf>,
}

impl ExperimentArg {
    /// Returns the directory that the argument or a flag names; `None` for a new one.
    pub fn directory(
        &self,
        flags: &RunFlags,
        session: &Session,
    ) -> Result<Option<PathBuf>, Failure> {
        match &self.experiment {
            Some(given) => folders::experiment(given, session).map(Some),
            None => Ok(flags.output_dir.clone()),
        }
    }
}

/// The flags of a run.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RunFlags {
    /// Folder for the run; made if missing [default: experiments/DATE-run].
    ///
    /// It gets an init.md if it has none.
    #[arg(long, value_name = "PATH")]
    pub output_dir: Option<PathBuf>,
    /// Check before each call that the request equals the one built from its messages: on or off.
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = Switch::On, hide_possible_values = true, hide_short_help = true)]
    pub check_leaks: Switch,
    /// Unique values for the run id and the clock, which are searched for in every request.
    #[arg(long, hide_short_help = true)]
    pub canary: bool,
    #[command(flatten)]
    pub settings: SettingFlags,
}

/// The settings of a run as flags. They override `config.json`.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SettingFlags {
    #[command(flatten)]
    pub fixed: FixedFlags,
    #[command(flatten)]
    pub changeable: ChangeableFlags,
}

/// The settings that a run keeps from its start.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = POPULATION)]
pub struct FixedFlags {
    /// Number of minds [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub minds: Option<u32>,
    /// Scripted mind that answers offline; see `minds` [default: mutator].
    #[arg(long, value_name = "KIND[:PARAMS]")]
    pub mind: Option<String>,
    /// Other minds at some positions, from 0: a scripted mind offline, else a model; again for further ones.
    ///
    /// `0,3=MODEL` plays the positions 0 and 3 by that model.
    #[arg(long, value_name = "POSITIONS=MIND", hide_short_help = true)]
    pub minds_at: Vec<MindsAt>,
    /// Most messages that a mind reads in a call [default: 3].
    #[arg(long, value_name = "K")]
    pub samples: Option<usize>,
    /// Number of newest messages that can be read [default: 15].
    #[arg(long, value_name = "M", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub active: Option<usize>,
    /// Reading order: sequential or snapshot [default: sequential].
    ///
    /// In a snapshot all read the pool as it was when the round began.
    #[arg(long, value_enum, value_name = "ORDER", hide_possible_values = true)]
    pub scheduling: Option<Scheduling>,
    /// Random seed: a number, or `random` [default: 0].
    ///
    /// The same seed draws the same samples.
    #[arg(long, value_name = "SEED", value_parser = bin_support::seed)]
    pub seed: Option<u64>,
    /// Limit of an answer in tokens [default: 2000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = FORMAT, hide_short_help = true)]
    pub token_limit: Option<u32>,
    /// Number of messages of one answer that are sent, the first ones; 0 for all [default: 256].
    #[arg(long, value_name = "N", help_heading = FORMAT, hide_short_help = true)]
    pub max_messages: Option<u32>,
    /// Longest message that is sent, in characters; 0 for any length [default: 0].
    #[arg(long, value_name = "N", help_heading = FORMAT, hide_short_help = true)]
    pub max_message_chars: Option<u32>,
    /// Rules that answers are parsed by [default: lenient].
    #[arg(long, value_enum, value_name = "MODE", help_heading = FORMAT, hide_short_help = true)]
    pub parse_mode: Option<ParseMode>,
    /// Treatment of answers with the signature of the seed messages [default: keep].
    #[arg(long, value_enum, value_name = "WHAT", help_heading = FORMAT, hide_short_help = true)]
    pub impersonation: Option<ForgedSignaturePolicy>,
    /// Seed messages without a signature.
    #[arg(long, help_heading = FORMAT, hide_short_help = true)]
    pub no_stamp: bool,
}

/// A mind at some positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MindsAt {
    /// The positions, from 0.
    pub positions: Vec<u32>,
    /// A scripted mind or a model.
    pub mind: String,
}

impl FromStr for MindsAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected positions from 0 and a mind, such as 0,3=copier".to_owned();
        let (positions, mind) = text.split_once('=').ok_or_else(wrong)?;
        let positions = positions.split(',').map(|position| position.trim().parse());
        let positions: Result<Vec<u32>, _> = positions.collect();
        match (positions, mind.trim()) {
            (Ok(positions), mind) if !mind.is_empty() => Ok(Self {
                positions,
                mind: mind.to_owned(),
            }),
            _ => Err(wrong()),
        }
    }
}

/// The settings that a resumed run can change. The provider and the model must be those of the run.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = LENGTH)]
pub struct ChangeableFlags {
    /// Number of rounds [default: 10].
    #[arg(long, value_name = "N", help_heading = POPULATION)]
    pub rounds: Option<u32>,
    /// Cap on tokens of prompts and answers together.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_tokens: Option<u64>,
    /// Cap on wall-clock time in seconds.
    #[arg(long, value_name = "SECONDS", hide_short_help = true)]
    pub max_wall: Option<u64>,
    /// Number of rounds without a message after which the run ends; 0 for never.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub silence_rounds: Option<u32>,
    /// Share of the last 50 answers above which losses end the run; 1 for never.
    #[arg(long, value_name = "SHARE", value_parser = finite, hide_short_help = true)]
    pub loss_above: Option<f64>,
    /// End of the run when all messages that can be read are equal.
    #[arg(long, value_enum, value_name = "SWITCH", hide_short_help = true)]
    pub fixed_pool: Option<Switch>,
    /// Effect of a call that failed after all its attempts [default: skip, and stop at a round without any answer].
    #[arg(long, value_enum, value_name = "WHAT", hide_short_help = true)]
    pub on_error: Option<OnError>,
    /// Safety of written events [default: fsync].
    #[arg(long, value_enum, value_name = "HOW", hide_short_help = true)]
    pub durability: Option<Durability>,
    #[command(flatten, next_help_heading = MODEL)]
    pub model: ModelFlags,
    /// Limit of one attempt of a call in seconds, 1 to 3600 [default: none; 600 for all attempts].
    #[arg(long, value_name = "SECONDS", help_heading = MODEL, hide_short_help = true)]
    pub call_timeout: Option<u64>,
    /// Limit until the first byte of an answer in seconds; 0 for that of --call-timeout [default: by the token limit].
    #[arg(long, value_name = "SECONDS", help_heading = MODEL, hide_short_help = true)]
    pub first_byte_timeout: Option<u64>,
    /// Number of attempts of a call after the first, 0 to 20 [default: 2].
    #[arg(long, value_name = "N", help_heading = MODEL, hide_short_help = true)]
    pub retries: Option<u32>,
    /// Longest wait between two attempts in seconds, also if the server asks for it [default: 60].
    #[arg(long, value_name = "SECONDS", help_heading = MODEL, hide_short_help = true)]
    pub retry_wait: Option<u64>,
    /// Table of prices that overrides the built-in one.
    #[arg(long, value_name = "FILE", help_heading = MODEL, hide_short_help = true)]
    pub prices: Option<PathBuf>,
}

impl SettingFlags {
    /// Returns the flags as a layer of settings.
    pub fn layer(&self) -> Layer {
        let fixed = &self.fixed;
        self.changeable.layer().with(|layer| {
            layer.n_minds = fixed.minds;
            layer.k_samples = fixed.samples;
            layer.m_active_pool = fixed.active;
            layer.token_limit = fixed.token_limit;
            layer.seed = fixed.seed;
            layer.scheduling = fixed.scheduling;
            layer.parse_mode = fixed.parse_mode;
            layer.impersonation = fixed.impersonation;
            layer.stamp_seeds = fixed.no_stamp.then_some(false);
            layer.max_messages = fixed.max_messages;
            layer.max_message_chars = fixed.max_message_chars;
            layer.mind.clone_from(&fixed.mind);
        })
    }
}

impl ChangeableFlags {
    /// Returns the flags as a layer of settings.
    pub fn layer(&self) -> Layer {
        let model = &self.model;
        Layer::default().with(|layer| {
            layer.max_rounds = self.rounds;
            layer.provider = model.provider.map(|provider| provider.to_string());
            layer.model.clone_from(&model.model);
            layer.api_base_url.clone_from(&model.base_url);
            layer.concurrency = model.calls_at_once().map(usize::from);
            layer.silence_rounds = self.silence_rounds;
            layer.loss_above = self.loss_above;
            layer.fixed_pool = self.fixed_pool.map(|switch| switch == Switch::On);
            layer.max_usd = model.max_usd.map(|usd| usd.0 as f64 / 1e9);
            layer.max_tokens = self.max_tokens;
            layer.max_wall = self.max_wall.map(Duration::from_secs);
            layer.durability = self.durability;
            layer.on_error = self.on_error;
            layer.call_timeout = self.call_timeout.map(Duration::from_secs);
            layer.first_byte_timeout = self.first_byte_timeout.map(Duration::from_secs);
            layer.retries = self.retries;
            layer.retry_wait = self.retry_wait.map(Duration::from_secs);
        })
    }
}

/// Parses a number that JSON can represent; the settings check its range.
fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number".to_owned())
}

/// A switch: on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Switch {
    /// The switch is on.
    #[default]
    On,
    /// The switch is off.
    Off,
}
