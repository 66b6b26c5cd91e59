//! The flags that several commands share.

use std::path::PathBuf;

use bin_support::ModelFlags;

use crate::universe;

/// Where runs are kept unless a flag says otherwise.
pub const DEFAULT_DATABASE: &str = "experiments/popper/popper.db";

/// How many iterations a run has unless a flag says otherwise.
pub const DEFAULT_ITERATIONS: u32 = 5;

#[derive(Debug, clap::Args)]
pub struct DatabaseFlag {
    /// The database file.
    #[arg(long, value_name = "FILE", default_value = DEFAULT_DATABASE)]
    pub db: PathBuf,
}

/// What a run is told to do.
#[derive(Debug, Clone, clap::Args)]
pub struct RunOptions {
    /// Iterations of the run in all; an iteration that was begun is finished in any case.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ITERATIONS, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// Laws to ask for in an iteration [default: the configuration's, else 20].
    #[arg(long, value_name = "K")]
    pub propose: Option<usize>,
    /// Laws to test in an iteration [default: the configuration's, else 10].
    #[arg(long, value_name = "M")]
    pub test: Option<usize>,
    /// The universe: a JSON file, or the built-in one by its name [default: `kinetic_grid`].
    #[arg(long, value_name = "FILE|kinetic_grid")]
    pub universe: Option<PathBuf>,
    /// Who proposes [default: llm if the flags or a key name a model, else enumerative].
    #[arg(long, value_enum)]
    pub proposer: Option<ProposerName>,
    /// The configuration of harness and loop: one flat JSON object, absent fields have their defaults.
    #[arg(long, value_name = "FILE.json")]
    pub config: Option<PathBuf>,
    /// Where every random choice comes from: the same seed gives the same run [default: the configuration's, else 0].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Switch an extension of the claim language on (`local_transition`).
    #[arg(long, value_name = "NAME")]
    pub extension: Vec<String>,
    /// Try every start of every ring up to this size, at most 20 [default: the configuration's, else 10].
    #[arg(long, value_name = "N")]
    pub exhaustive_n: Option<usize>,
    #[command(flatten)]
    pub model: ModelFlags,
    /// Print how the run stands in the end as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableFlag,
}

/// Who proposes laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ProposerName {
    /// The claim language from small to large; needs no model.
    Enumerative,
    /// A language model.
    Llm,
}

/// Which run a command is about.
#[derive(Debug, clap::Args)]
pub struct RunFlag {
    #[command(flatten)]
    pub database: DatabaseFlag,
    /// The run [default: the newest].
    #[arg(long, value_name = "ID")]
    pub run_id: Option<i64>,
}

#[derive(Debug, clap::Args)]
pub struct UniverseFlag {
    /// The universe: a JSON file, or the built-in one by its name.
    #[arg(long, value_name = "FILE|kinetic_grid", default_value = universe::BUILT_IN)]
    pub universe: PathBuf,
}

/// How verdicts are printed as a table.
#[derive(Debug, Clone, clap::Args)]
pub struct TableFlag {
    /// Claim of each law next to its name.
    #[arg(long)]
    pub verbose: bool,
}
