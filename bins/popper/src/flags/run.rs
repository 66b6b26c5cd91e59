//! The flags of a run.

use std::path::PathBuf;

use bin_support::Failure;
use bin_support::model::ModelFlags;
use popper_discovery::RunConfig;

use super::fleet::FleetFlags;
use super::location::LocationFlags;
use crate::error::Error;
use crate::location::StoreLocation;

/// The default number of iterations of a new run.
pub const DEFAULT_ITERATIONS: u32 = 5;

/// The options of a run.
#[derive(Debug, Clone, clap::Args)]
pub struct RunOptions {
    /// Iterations of the run in all [default: 5].
    ///
    /// A run keeps the number, which is the default when it is continued. An open iteration is always finished.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: Option<u32>,
    /// Laws to ask for in an iteration [default: 20].
    ///
    /// The configuration may give another default.
    #[arg(long, alias = "propose", value_name = "K")]
    pub batch: Option<usize>,
    /// Laws to test in an iteration [default: 10].
    ///
    /// The configuration may give another default.
    #[arg(long, alias = "test", value_name = "M")]
    pub max_tests: Option<usize>,
    /// Universe: a JSON file [default: `kinetic_grid`, built in].
    #[arg(short, long, value_name = "FILE|kinetic_grid")]
    pub universe: Option<PathBuf>,
    /// Proposer of laws: enumerative or llm [default: llm with a key].
    ///
    /// Without a key, or a flag that names a model, it is enumerative.
    #[arg(long, value_enum, hide_possible_values = true)]
    pub proposer: Option<ProposerName>,
    /// Configuration of harness and loop: one flat JSON object.
    ///
    /// Absent fields have their defaults.
    #[arg(long, value_name = "FILE.json", hide_short_help = true)]
    pub config: Option<PathBuf>,
    /// Random seed [default: 0].
    ///
    /// The same seed gives the same run; `random` draws one. The configuration may give another default.
    #[arg(long, value_name = "SEED", value_parser = bin_support::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Print the final status of the run as JSON.
    #[arg(long)]
    pub json: bool,
    /// Extension of the claim language to switch on (`local_transition`).
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub extension: Vec<String>,
    /// Largest ring size of which every start is tried, at most 20 [default: from the configuration, else 10].
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub exhaustive_n: Option<usize>,
    /// File of prices that override the built-in ones.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub prices: Option<PathBuf>,
    /// Ask the model in batches, at half the price and within a day each.
    ///
    /// Each call is a batch. A run that was begun so is continued so.
    #[arg(long, hide_short_help = true)]
    pub half_price: bool,
    #[command(flatten, next_help_heading = "Machine options")]
    pub fleet: FleetFlags,
    #[command(flatten, next_help_heading = "Model options")]
    pub model: ModelFlags,
}

impl RunOptions {
    /// Returns the number of iterations in all, for a run with this configuration or for a new one.
    pub fn total(&self, stored: Option<&RunConfig>) -> u32 {
        let stored = stored.and_then(|config| config.iterations);
        self.iterations.or(stored).unwrap_or(DEFAULT_ITERATIONS)
    }

    /// Refuses flags that say nothing where no workers are.
    pub fn check(&self, location: &StoreLocation) -> Result<(), Failure> {
        match self.fleet.for_server_only() {
            Some(flag) if location.server().is_none() => {
                Err(Failure::usage(Error::NeedsServer { flag }))
            }
            _ => Ok(()),
        }
    }
}

/// A proposer of laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ProposerName {
    /// Enumerates the claim language by size; needs no model.
    Enumerative,
    /// Asks a language model.
    Llm,
}

/// The run of a command.
#[derive(Debug, clap::Args)]
pub struct RunFlag {
    #[command(flatten)]
    pub location: LocationFlags,
    #[command(flatten)]
    pub name: RunName,
}

/// The name of a run in its database.
#[derive(Debug, clap::Args)]
pub struct RunName {
    /// Number of the run, or the name of its universe for the newest run there [default: newest].
    #[arg(value_name = "RUN", conflicts_with = "run_id")]
    pub run: Option<String>,
    /// Number of the run, as a flag.
    #[arg(long, value_name = "ID")]
    pub run_id: Option<i64>,
}

impl RunName {
    /// Returns the name that was given; `None` for the newest run.
    pub fn asked(&self) -> Option<String> {
        let id = self.run_id.map(|id| id.to_string());
        id.or_else(|| self.run.clone())
    }
}
