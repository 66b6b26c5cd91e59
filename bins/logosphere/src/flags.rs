//! Groups of flags that several commands take.

use std::path::PathBuf;
use std::time::Duration;

use bin_support::ModelFlags;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use logosphere_core::config::{Durability, ForgedSignaturePolicy, Layer, OnError, Scheduling};
use logosphere_core::format::ParseMode;

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

/// The settings of a run that flags can give. They go over `config.json`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings of a run")]
pub struct SettingFlags {
    /// Rounds [default: 10].
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,
    /// Minds [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub minds: Option<u32>,
    /// Messages that each mind reads, at most [default: 3].
    #[arg(long, value_name = "K")]
    pub samples: Option<usize>,
    /// Messages that can be read: the newest so many [default: 15].
    #[arg(long, value_name = "M", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub active: Option<usize>,
    /// The longest answer in tokens [default: 2000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub token_limit: Option<u32>,
    /// Whether minds of a round read what others wrote in it [default: sequential].
    #[arg(long, value_enum, value_name = "ORDER")]
    pub scheduling: Option<Scheduling>,
    /// How answers are read [default: lenient].
    #[arg(long, value_parser = run_modes(), value_name = "MODE")]
    pub parse_mode: Option<ParseMode>,
    /// What becomes of answers that are signed as the seeds are [default: keep].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub impersonation: Option<ForgedSignaturePolicy>,
    /// Append no signature to the seeds.
    #[arg(long)]
    pub no_stamp: bool,
    /// Where every random choice comes from: the same seed draws the same samples [default: drawn and recorded].
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// The program that plays the minds offline, such as `copier:mu=0.05` [default: mutator].
    #[arg(long, value_name = "KIND[:PARAMS]")]
    pub mind: Option<String>,
    /// Use at most so many tokens, prompts and answers together.
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Take at most so many seconds.
    #[arg(long, value_name = "SECONDS")]
    pub max_wall: Option<u64>,
    /// Stop when no message came for so many rounds; 0 for never.
    #[arg(long, value_name = "N")]
    pub silence_rounds: Option<u32>,
    /// Stop when more than this share of the last 50 answers was lost; 1 for never.
    #[arg(long, value_name = "SHARE", value_parser = finite)]
    pub loss_above: Option<f64>,
    /// Stop when all messages that can be read are equal.
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub fixed_pool: Option<Switch>,
    /// What a call that fails for good does to the run [default: skip].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_error: Option<OnError>,
    /// How hard events are written [default: fsync].
    #[arg(long, value_enum, value_name = "HOW")]
    pub durability: Option<Durability>,
    /// A table of prices that goes before the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelFlags,
}

impl SettingFlags {
    /// As a layer of settings.
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

/// A number that JSON can hold; the settings know its range.
fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number".to_owned())
}

/// The rules that a run can be held by: all but those of old journals.
pub fn run_modes() -> impl TypedValueParser<Value = ParseMode> {
    let modes = ParseMode::value_variants().iter();
    let modes = modes.filter(|mode| **mode != ParseMode::Legacy);
    PossibleValuesParser::new(modes.filter_map(ParseMode::to_possible_value))
        .try_map(|word| ParseMode::from_str(&word, false))
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Switch {
    /// On.
    #[default]
    On,
    /// Off.
    Off,
}
