//! The command `popper new`, which prints an example to start from.

use std::path::Path;

use bin_support::{Exit, Failure, OutputTarget, Session};

const LAW: &str = include_str!("new/law.json");
const UNIVERSE: &str = include_str!("new/universe.json");

/// The example to print.
#[derive(Debug, clap::Subcommand)]
pub enum NewArgs {
    /// Print a law that `check` accepts
    Law(ExampleArgs),
    /// Print a universe that --universe reads
    Universe(ExampleArgs),
}

#[derive(Debug, clap::Args)]
pub struct ExampleArgs {
    /// File to write, as a whole or not at all; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

pub fn execute(what: &NewArgs, session: &mut Session) -> Result<Exit, Failure> {
    let (text, example) = match what {
        NewArgs::Law(example) => (LAW, example),
        NewArgs::Universe(example) => (UNIVERSE, example),
    };
    let target = example.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let no_inputs: [&Path; 0] = [];
    let output = target.begin(no_inputs)?;
    output.finish(session, |out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}
