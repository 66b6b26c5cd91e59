//! The command `popper conserved`, which computes the additive conserved quantities of a universe.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use popper_harness::conserved::span;

use crate::flags::UniverseFlag;
use crate::quantities::listed;
use crate::{json, universe};

#[derive(Debug, clap::Args)]
pub struct ConservedArgs {
    #[command(flatten)]
    pub universe: UniverseFlag,
    /// Widest window, in cells.
    #[arg(long, value_name = "W", default_value_t = 2)]
    pub width: usize,
    /// Print the dimension and the basis as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &ConservedArgs, session: &mut Session) -> Result<Exit, Failure> {
    let universe = universe::load(&args.universe.universe).map_err(Failure::usage)?;
    let space = span(&universe, args.width).map_err(Failure::usage)?;
    let out = &mut session.results;
    if args.json {
        json::print(&space, out)?;
        return Ok(Exit::Done);
    }
    write!(out, "{}", listed(&space))?;
    Ok(Exit::Done)
}
