//! `popper new`: an example to start from.

use std::path::Path;

use bin_support::{Exit, Failure, OutputTarget, Session};

use crate::cli;

const LAW: &str = include_str!("new/law.json");
const UNIVERSE: &str = include_str!("new/universe.json");

pub fn run(what: &cli::New, session: &mut Session) -> Result<Exit, Failure> {
    let (text, example) = match what {
        cli::New::Law(example) => (LAW, example),
        cli::New::Universe(example) => (UNIVERSE, example),
    };
    let target = example.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let no_inputs: [&Path; 0] = [];
    let output = target.begin(no_inputs)?;
    output.finish(session, |out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}
