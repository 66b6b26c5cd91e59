//! The flags of a run.

use std::path::PathBuf;

use bin_support::Failure;
use bin_support::model::ModelFlags;

use super::fleet::FleetFlags;
use super::location::LocationFlags;
use super::verdicts::TableFlag;
use crate::error::Error;
use crate::location::StoreLocation;

/// The default number of iterations of a run.
pub const DEFAULT_ITERATIONS: u32 = 5;

/// The options of a run.
#[derive(Debug, Clone, clap::Args)]
pub struct RunOptions {
    /// Iterations of the run in all; an open iteration is always finished.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ITERATIONS, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// Laws to ask for in an iteration [default: from the configuration, else 20].
    #[arg(long, value_name = "K")]
    pub propose: Option<usize>,
    /// Laws to test in an iteration [default: from the configuration, else 10].
    #[arg(long, value_name = "M")]
    pub test: Option<usize>,
    /// Universe: a JSON file, or the name of the built-in one [default: `kinetic_grid`].
    #[arg(long, value_name = "FILE|kinetic_grid")]
    pub universe: Option<PathBuf>,
    /// Proposer of laws [default: llm if the flags or a key name a model, else enumerative].
    #[arg(long, value_enum)]
    pub proposer: Option<ProposerName>,
    /// Configuration of harness and loop: one flat JSON object, absent fields have their defaults.
    #[arg(long, value_name = "FILE.json")]
    pub config: Option<PathBuf>,
    /// Random seed: the same seed gives the same run [default: from the configuration, else 0].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Switch an extension of the claim language on (`local_transition`).
    #[arg(long, value_name = "NAME")]
    pub extension: Vec<String>,
    /// Largest ring size of which every start is tried, at most 20 [default: from the configuration, else 10].
    #[arg(long, value_name = "N")]
    pub exhaustive_n: Option<usize>,
    #[command(flatten)]
    pub fleet: FleetFlags,
    #[command(flatten)]
    pub model: ModelFlags,
    /// Print the final status of the run as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableFlag,
}

impl RunOptions {
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
    /// Id of the run [default: newest].
    #[arg(long, value_name = "ID")]
    pub run_id: Option<i64>,
}
