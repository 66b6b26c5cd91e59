//! The command `popper new`, which prints an example to start from.

use std::path::Path;

use bin_support::{Exit, Failure, OutputTarget, Session};

use crate::examples;
use crate::input::shell_word;

const LAW: &str = include_str!("new/law.json");
const UNIVERSE: &str = include_str!("new/universe.json");

/// JSON has no comments, so stderr explains the fields.
const LAW_FIELDS: &str = "\
template: invariant, monotone, bound, implication_step, implication_state, eventually, symmetry_commutation
quantifiers: T, the number of steps that the law covers
preconditions: comparisons that a start must meet
observables: names of integer expressions, which the claim compares at times such as t, t+1 and 0
forbidden: the event that would refute the law, in words";
const UNIVERSE_FIELDS: &str = "\
symbols: at most 8, the first one is the background
radius: cells on each side of a cell that decide its next symbol, at most 2
rule: patterns, of which the first that fits counts and ? is any symbol, else default; or table, with every neighbourhood
initial_forbidden: symbols that no start has
transforms: symmetries that laws may name";

/// The example to print.
#[derive(Debug, clap::Subcommand)]
pub enum NewArgs {
    /// Print a law that `check` accepts
    #[command(after_help = examples::NEW_LAW)]
    Law(ExampleArgs),
    /// Print a universe that --universe reads
    #[command(after_help = examples::NEW_UNIVERSE)]
    Universe(ExampleArgs),
}

#[derive(Debug, clap::Args)]
pub struct ExampleArgs {
    /// File to write, as a whole or not at all; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

pub fn execute(what: &NewArgs, session: &mut Session) -> Result<Exit, Failure> {
    let (text, fields, next, example) = match what {
        NewArgs::Law(example) => (LAW, LAW_FIELDS, "check", example),
        NewArgs::Universe(example) => (UNIVERSE, UNIVERSE_FIELDS, "conserved -u", example),
    };
    let target = example.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let no_inputs: [&Path; 0] = [];
    let output = target.begin(no_inputs)?;
    output.finish(session, |out| out.write_all(text.as_bytes()))?;
    session.status(fields);
    if let Some(path) = target.file() {
        session.status(&format!("next: popper {next} {}", shell_word(path)));
    }
    Ok(Exit::Done)
}
