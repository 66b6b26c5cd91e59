//! The flags that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use bin_support::model::ModelFlags;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use logosphere_core::config::{Durability, ForgedSignaturePolicy, Layer, OnError, Scheduling};
use logosphere_core::format::ParseMode;

/// The flags of a run, with or without the word `run`.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RunFlags {
    /// Directory of the experiment; it gets an init.md if it has none [default: experiments/DATE-run].
    #[arg(long, value_name = "PATH")]
    pub output_dir: Option<PathBuf>,
    /// Print an estimate of the run instead. Nothing is sent or written.
    #[arg(long)]
    pub dry_run: bool,
    /// Check before each call that the request equals the one built from its messages: on or off.
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = Switch::On, hide_possible_values = true)]
    pub check_leaks: Switch,
    /// Give the run id and the clock unique values, and search every request for them.
    #[arg(long)]
    pub canary: bool,
    #[command(flatten)]
    pub settings: SettingFlags,
}

impl RunFlags {
    /// Returns whether any flag is given.
    pub fn any(&self) -> bool {
        self.output_dir.is_some()
            || self.dry_run
            || self.check_leaks == Switch::Off
            || self.canary
            || self.settings.any()
    }
}

/// The settings of a run as flags. They override `config.json`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings of a run")]
pub struct SettingFlags {
    /// Number of rounds [default: 10].
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,
    /// Number of minds [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub minds: Option<u32>,
    /// Largest number of messages that a mind reads in a call [default: 3].
    #[arg(long, value_name = "K")]
    pub samples: Option<usize>,
    /// Number of newest messages that can be read [default: 15].
    #[arg(long, value_name = "M", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub active: Option<usize>,
    /// Limit of an answer in tokens [default: 2000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub token_limit: Option<u32>,
    /// Order in which the minds of a round read and write [default: sequential].
    #[arg(long, value_enum, value_name = "ORDER")]
    pub scheduling: Option<Scheduling>,
    /// Rules that answers are parsed by [default: lenient].
    #[arg(long, value_parser = run_modes(), value_name = "MODE")]
    pub parse_mode: Option<ParseMode>,
    /// Treatment of answers with the signature of the seed messages [default: keep].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub impersonation: Option<ForgedSignaturePolicy>,
    /// Append no signature to the seed messages.
    #[arg(long)]
    pub no_stamp: bool,
    /// Random seed; the same seed draws the same samples [default: drawn and recorded].
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Scripted mind that answers offline, such as `copier:mu=0.05` [default: mutator].
    #[arg(long, value_name = "KIND[:PARAMS]")]
    pub mind: Option<String>,
    /// Cap on tokens of prompts and answers together.
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Cap on wall-clock time in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub max_wall: Option<u64>,
    /// End the run after N rounds without a message; 0 for never.
    #[arg(long, value_name = "N")]
    pub silence_rounds: Option<u32>,
    /// End the run when more than this share of the last 50 answers was lost; 1 for never.
    #[arg(long, value_name = "SHARE", value_parser = finite)]
    pub loss_above: Option<f64>,
    /// End the run when all messages that can be read are equal.
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub fixed_pool: Option<Switch>,
    /// Effect of a call that failed after all its attempts [default: skip].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_error: Option<OnError>,
    /// Safety of written events [default: fsync].
    #[arg(long, value_enum, value_name = "HOW")]
    pub durability: Option<Durability>,
    /// Table of prices that overrides the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelFlags,
}

impl SettingFlags {
    /// Returns the flags as a layer of settings.
    pub fn layer(&self) -> Layer {
        let model = &self.model;
        Layer::default().with(|layer| {
            layer.n_minds = self.minds;
            layer.k_samples = self.samples;
            layer.m_active_pool = self.active;
            layer.max_rounds = self.rounds;
            layer.token_limit = self.token_limit;
            layer.provider = model.provider.map(|provider| provider.to_string());
            layer.model.clone_from(&model.model);
            layer.api_base_url.clone_from(&model.base_url);
            layer.seed = self.seed;
            layer.scheduling = self.scheduling;
            layer.parse_mode = self.parse_mode;
            layer.impersonation = self.impersonation;
            layer.stamp_seeds = self.no_stamp.then_some(false);
            layer.concurrency = model.concurrency.map(usize::from);
            layer.silence_rounds = self.silence_rounds;
            layer.loss_above = self.loss_above;
            layer.fixed_pool = self.fixed_pool.map(|switch| switch == Switch::On);
            layer.on_error = self.on_error;
            layer.max_usd = model.max_usd.map(|usd| usd.0 as f64 / 1e9);
            layer.max_tokens = self.max_tokens;
            layer.max_wall = self.max_wall.map(Duration::from_secs);
            layer.durability = self.durability;
            layer.mind.clone_from(&self.mind);
        })
    }

    /// Whether any flag is given.
    pub fn any(&self) -> bool {
        let files = [&self.prices, &self.model.record, &self.model.replay];
        self.layer() != Layer::default() || files.into_iter().any(Option::is_some)
    }
}

/// Parses a number that JSON can represent; the settings check its range.
fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number".to_owned())
}

/// Returns a parser of the rules that a run can have: all but those of old journals.
pub fn run_modes() -> impl TypedValueParser<Value = ParseMode> {
    let modes = ParseMode::value_variants().iter();
    let modes = modes.filter(|mode| **mode != ParseMode::Legacy);
    PossibleValuesParser::new(modes.filter_map(ParseMode::to_possible_value))
        .try_map(|word| ParseMode::from_str(&word, false))
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
