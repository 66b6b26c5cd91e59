//! The command line: every flag, and which function a subcommand is.

mod discovery;
mod examples;

use std::path::PathBuf;

use bin_support::{Exit, Failure, OutputTarget, Place, Program, SeedFlag, Session};
use clap::ArgMatches;

pub use self::discovery::{
    DEFAULT_DATABASE, DEFAULT_ITERATIONS, Export, Format, LawFlag, ProposerName, ReportArgs,
    Resume, Retest, RunArgs, RunOptions, Status,
};
use crate::{check, new, simulate, span, universe, verify};

/// Refute or prove laws about a universe, or say why neither
#[derive(Debug, clap::Parser)]
#[command(name = "popper", version, after_help = examples::PROGRAM)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

impl Program for Cli {
    fn places(_: &ArgMatches) -> Result<Vec<Place>, Failure> {
        Ok(crate::discovery::places())
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Propose and test laws: begin a run or continue one
    ///
    /// Without --run-id it is the newest run with the same universe, configuration and proposer, else a new one. Ctrl-C ends after
    /// the evaluation in flight, with exit code 130; nothing that is finished is lost, whatever ends the program.
    #[command(after_help = examples::RUN)]
    Run(RunArgs),
    /// Continue a run that stopped, or add iterations to it
    #[command(after_help = examples::RESUME)]
    Resume(Resume),
    /// Print the status of a run, also while it works
    #[command(after_help = examples::STATUS)]
    Status(Status),
    /// Decide a law once more, with the next seed
    #[command(after_help = examples::RETEST)]
    Retest(Retest),
    /// Export a run: every row as JSON, or one row a law as CSV
    #[command(after_help = examples::EXPORT)]
    Export(Export),
    /// Write a run as one page for a browser, without a network
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Decide laws: PASS, FAIL or UNKNOWN
    ///
    /// FAIL has the smallest counterexample, UNKNOWN the reason.
    /// A refuted law is a result: the exit code stays 0. A law that cannot be read is named on stderr, the others are still
    /// decided, and the exit code is 3 (2 if no law could be read at all).
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Print an example to start from: a law or a universe
    #[command(subcommand, after_help = examples::NEW)]
    New(New),
    /// Print the states of a simulation, one for each step
    #[command(after_help = examples::SIMULATE)]
    Simulate(Simulate),
    /// Derive a counterexample's violation again from its file
    ///
    /// Exit code 4 if it does not hold. Of a counterexample, the start, the horizon, `t_fail`, the witness and the excerpt are derived
    /// again; of a verdict also that it is about this law and this universe. Whether a smaller one exists takes a new `check`.
    #[command(after_help = examples::REPLAY)]
    Replay(Document),
    /// Check a proof again from its file
    ///
    /// Exit code 4 if it does not hold. Of a verdict it is also checked that the proof is about its law and its universe.
    #[command(after_help = examples::VERIFY)]
    Verify(Document),
    /// Show, check or make a universe
    #[command(subcommand, after_help = examples::UNIVERSE)]
    Universe(Universe),
    /// Compute the additive conserved quantities of a universe
    #[command(after_help = examples::SPAN)]
    Span(Span),
}

#[derive(Debug, clap::Args)]
pub struct UniverseFlag {
    /// The universe: a JSON file, or the built-in one by its name.
    #[arg(long, value_name = "FILE|kinetic_grid", default_value = universe::BUILT_IN)]
    pub universe: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct Check {
    /// Files that hold one law or an array of laws; `-` for stdin.
    #[arg(required = true, value_name = "LAWS.json")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub universe: UniverseFlag,
    /// The harness's configuration: a JSON object, absent fields have their defaults.
    #[arg(long, value_name = "FILE.json")]
    pub config: Option<PathBuf>,
    /// Switch an extension of the claim language on (`local_transition`).
    #[arg(long, value_name = "NAME")]
    pub extension: Vec<String>,
    /// Where every random choice comes from: the same seed gives the same verdicts [default: the configuration's, else 0].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Try every start of every ring up to this size, at most 20 [default: the configuration's, else 10].
    #[arg(long, value_name = "N")]
    pub exhaustive_n: Option<usize>,
    /// Print the verdicts in full, as one array.
    #[arg(long)]
    pub json: bool,
    /// Compare the verdicts with expected ones; exit code 4 on a difference.
    ///
    /// Compared are the laws given, in every key that their expectation states; a strength is a floor. A law without an
    /// expectation counts as a difference, an expectation without a law does not. With --json the differences go to stderr.
    /// A law with a schema error ends with 3 whatever the comparison says; a text that does not parse only without --expect.
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    #[command(flatten)]
    pub table: TableFlag,
}

/// How verdicts are printed as a table.
#[derive(Debug, Clone, clap::Args)]
pub struct TableFlag {
    /// Claim of each law next to its name.
    #[arg(long)]
    pub verbose: bool,
}

/// The example to print.
#[derive(Debug, clap::Subcommand)]
pub enum New {
    /// Print a law that `check` accepts
    Law(Example),
    /// Print a universe that --universe reads
    Universe(Example),
}

#[derive(Debug, clap::Args)]
pub struct Example {
    /// File to write, as a whole or not at all; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

#[derive(Debug, clap::Args)]
pub struct Simulate {
    /// The state at t = 0, such as `..><`, every symbol of the universe allowed; `-` reads states from stdin, one a line.
    pub state: String,
    /// How many steps to make.
    #[arg(long, value_name = "T")]
    pub steps: u64,
    #[command(flatten)]
    pub universe: UniverseFlag,
    /// Print an array of T + 1 states for each start, one a line.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Document {
    /// The file, or a verdict that holds it, or what `check --json` or `export` prints; `-` for stdin.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
}

#[derive(Debug, clap::Subcommand)]
pub enum Universe {
    /// Print symbols, radius, rule, transforms and hash
    Show {
        /// A JSON file, or the built-in one by its name.
        #[arg(value_name = "FILE|kinetic_grid")]
        universe: PathBuf,
        /// Print the canonical definition.
        #[arg(long)]
        json: bool,
    },
    /// Check whether a file defines a universe
    ///
    /// If not, the exit code is 2 and stderr says what is wrong.
    Check {
        /// A JSON file, or the built-in one by its name.
        #[arg(value_name = "FILE|kinetic_grid")]
        universe: PathBuf,
    },
    /// Print a random universe
    ///
    /// It has four symbols and radius 1, and the form that --universe reads.
    Random(SeedFlag),
}

#[derive(Debug, clap::Args)]
pub struct Span {
    #[command(flatten)]
    pub universe: UniverseFlag,
    /// The widest window, in cells.
    #[arg(long, value_name = "W", default_value_t = 2)]
    pub width: usize,
    /// Print the dimension and the basis as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    match &cli.command {
        Command::Run(run) => crate::discovery::run(run, session),
        Command::Resume(resume) => crate::discovery::resume(resume, session),
        Command::Status(status) => crate::discovery::status(status, session),
        Command::Retest(retest) => crate::discovery::retest(retest, session),
        Command::Report(report) => crate::discovery::report(report, session),
        Command::Export(export) => crate::discovery::export(export, session),
        Command::Check(check) => check::run(check, session),
        Command::New(example) => new::run(example, session),
        Command::Simulate(simulate) => simulate::run(simulate, session),
        Command::Replay(document) => verify::replay(document, session),
        Command::Verify(document) => verify::verify(document, session),
        Command::Universe(command) => universe::run(command, session),
        Command::Span(span) => span::run(span, session),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_help_has_its_form_and_examples_that_parse() {
        test_support::check_help(&bin_support::command::<Cli>());
    }
}
