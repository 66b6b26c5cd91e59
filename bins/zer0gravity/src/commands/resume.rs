//! `zer0gravity resume`: continues a run in its directory.

use std::path::PathBuf;

use bin_support::model::ModelFlags;
use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::run::{ChangedCalls, RunDirectory};

use crate::flags::Checks;
use crate::run_dir::{self, Continued};
use crate::{error, setup};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity resume runs/first
  zer0gravity resume runs/first --min-total 40";

#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    /// Directory of the run.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Rebuild the report from calls.jsonl as it is, though it changed after the last report; the report then says so.
    #[arg(long)]
    pub accept_changed_calls: bool,
    #[command(flatten)]
    pub model: ModelFlags,
    /// Table of prices, used before the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    #[command(flatten)]
    pub checks: Checks,
}

pub fn execute(args: &ResumeArgs, session: &mut Session) -> Result<Exit, Failure> {
    let mut directory = RunDirectory::open(&args.dir).map_err(error::directory)?;
    let plan = directory.plan().clone();
    let prices = args.prices.as_deref();
    let asked = setup::reopened(&mut directory, &plan, &args.model, prices, session)?;
    let changed = if args.accept_changed_calls {
        ChangedCalls::Accept
    } else {
        ChangedCalls::Refuse
    };
    let report = run_dir::resume(&directory, &asked, changed, session)?;
    Ok(run_dir::conclude(
        Continued::Run,
        &directory,
        &report,
        &args.checks,
        session.is_quiet(),
        session,
    ))
}
