//! The command `popper explain`.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Session};

use crate::error::Error;
use crate::explain::{NARROWEST, explainables};
use crate::input::Text;

/// The width of a text that is not for a terminal, in columns.
const WIDTH: usize = 80;

#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// File with a verdict, a counterexample, a proof, or the output of `check --json` or `export`; - for stdin.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// Explain this law alone.
    #[arg(long, value_name = "NAME")]
    pub law: Option<String>,
    /// Width of the text [default: that of the terminal, else 80].
    #[arg(long, value_name = "COLS", value_parser = clap::value_parser!(u16).range(NARROWEST as i64..))]
    pub width: Option<u16>,
}

pub fn execute(args: &ExplainArgs, session: &mut Session) -> Result<Exit, Failure> {
    let file = Text::read(&args.file).map_err(Failure::usage)?;
    let mut explainables = explainables(&file).map_err(Failure::usage)?;
    if let Some(name) = &args.law {
        explainables.retain(|explainable| explainable.law_id() == name);
        if explainables.is_empty() {
            let message = format!("there is no law {name}");
            return Err(Failure::usage(Error::unfit(&file.name, message)));
        }
    }
    let terminal = session.results.width();
    let width = args.width.map(usize::from).or(terminal);
    let width = width.unwrap_or(WIDTH).max(NARROWEST);
    for (index, explainable) in explainables.iter().enumerate() {
        let text = explainable.text(width).map_err(|why| {
            let message = format!("{}: {why}", explainable.law_id());
            Failure::usage(Error::unfit(&file.name, message))
        })?;
        if index > 0 {
            writeln!(session.results)?;
        }
        write!(session.results, "{text}")?;
    }
    Ok(Exit::Done)
}
