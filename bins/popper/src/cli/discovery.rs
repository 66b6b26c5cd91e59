//! The flags of the commands that work with a database.

use std::path::PathBuf;

use bin_support::{ModelFlags, OutputTarget};

use super::TableFlag;

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

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub database: DatabaseFlag,
    /// Go on with this run; its universe, configuration and proposer are taken from the database.
    #[arg(long = "run-id", value_name = "ID", conflicts_with = "new")]
    pub id: Option<i64>,
    /// Begin a new run, also where one with the same universe, configuration and proposer exists.
    #[arg(long = "new-run")]
    pub new: bool,
    #[command(flatten)]
    pub work: RunOptions,
}

#[derive(Debug, clap::Args)]
pub struct Resume {
    #[command(flatten)]
    pub database: DatabaseFlag,
    /// The run.
    #[arg(long, value_name = "ID")]
    pub run_id: i64,
    #[command(flatten)]
    pub work: RunOptions,
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
pub struct Status {
    #[command(flatten)]
    pub run: RunFlag,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableFlag,
}

#[derive(Debug, clap::Args)]
pub struct Retest {
    #[command(flatten)]
    pub database: DatabaseFlag,
    #[command(flatten)]
    pub law: LawFlag,
    /// The run whose configuration and universe count [default: the newest that has the law].
    #[arg(long, value_name = "ID")]
    pub run_id: Option<i64>,
    /// Print the verdict in full, in an array.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableFlag,
}

/// Which law a command is about.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct LawFlag {
    /// The law's fingerprint, or at least the first 8 digits of it.
    #[arg(long, value_name = "SHA256")]
    pub law_fingerprint: Option<String>,
    /// The law's name, where one law of the run has it.
    #[arg(long, value_name = "NAME")]
    pub law_id: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Export {
    #[command(flatten)]
    pub run: RunFlag,
    /// `json` is everything; `csv` is one row a law.
    #[arg(long, value_enum, default_value_t = Format::Json)]
    pub format: Format,
    /// File to write, as a whole or not at all; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunFlag,
    /// File to write, as a whole or not at all; - for stdout [default: popper-run-ID.html].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One document with every row of the run.
    Json,
    /// One row a law.
    Csv,
}
