//! The flags that several commands share.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;

use bin_support::model::ModelFlags;
use popper_discovery::evaluator::LocalEvaluator;

use crate::universe;

/// The default database of runs.
pub const DEFAULT_DATABASE: &str = "experiments/popper/popper.db";

/// The default number of iterations of a run.
pub const DEFAULT_ITERATIONS: u32 = 5;

#[derive(Debug, clap::Args)]
pub struct DatabaseFlag {
    /// Path of the database file.
    #[arg(long, value_name = "FILE", default_value = DEFAULT_DATABASE)]
    pub db: PathBuf,
}

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
    /// Laws to decide at once, each on one thread [default: the number of processors].
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub model: ModelFlags,
    /// Print the final status of the run as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableFlag,
}

impl RunOptions {
    /// The evaluator of the laws.
    pub fn evaluator(&self) -> LocalEvaluator {
        let threads = self.threads.or_else(|| available_parallelism().ok());
        LocalEvaluator::with_threads(threads.map_or(1, NonZeroUsize::get))
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
    pub database: DatabaseFlag,
    /// Id of the run [default: newest].
    #[arg(long, value_name = "ID")]
    pub run_id: Option<i64>,
}

#[derive(Debug, clap::Args)]
pub struct UniverseFlag {
    /// Universe: a JSON file, or the name of the built-in one.
    #[arg(long, value_name = "FILE|kinetic_grid", default_value = universe::BUILT_IN)]
    pub universe: PathBuf,
}

/// The flags of a table of verdicts.
#[derive(Debug, Clone, clap::Args)]
pub struct TableFlag {
    /// Claim of each law next to its name.
    #[arg(long)]
    pub verbose: bool,
}
