//! The command `popper span`.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use popper_harness::conserved::span;

use crate::flags::UniverseFlag;
use crate::universe;
use bin_support::escape;

#[derive(Debug, clap::Args)]
pub struct SpanArgs {
    #[command(flatten)]
    pub universe: UniverseFlag,
    /// Widest window, in cells.
    #[arg(long, value_name = "W", default_value_t = 2)]
    pub width: usize,
    /// Print the dimension and the basis as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &SpanArgs, session: &mut Session) -> Result<Exit, Failure> {
    let universe = universe::load(&args.universe.universe).map_err(Failure::usage)?;
    let span = span(&universe, args.width).map_err(Failure::usage)?;
    let out = &mut session.results;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &span)?;
        writeln!(out)?;
        return Ok(Exit::Done);
    }
    let (id, dimension) = (escape(&span.universe), span.dimension);
    writeln!(
        out,
        "{id}: dimension {dimension} up to window width {}",
        span.width
    )?;
    for quantity in &span.basis {
        writeln!(out, "{}", quantity.expr)?;
    }
    Ok(Exit::Done)
}
