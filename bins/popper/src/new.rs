//! `popper new`: an example to start from.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};

use crate::cli;

const LAW: &str = include_str!("new/law.json");
const UNIVERSE: &str = include_str!("new/universe.json");

pub fn run(what: &cli::New, session: &mut Session) -> Result<Exit, Failure> {
    let (text, example) = match what {
        cli::New::Law(example) => (LAW, example),
        cli::New::Universe(example) => (UNIVERSE, example),
    };
    match &example.output {
        Some(path) => bin_support::write_file(path, |file| file.write_all(text.as_bytes()))?,
        None => session.results.write_all(text.as_bytes())?,
    }
    Ok(Exit::Done)
}
