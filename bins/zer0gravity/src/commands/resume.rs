//! `zer0gravity resume`: continues a run in its directory.

use std::path::PathBuf;

use bin_support::model::ModelFlags;
use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::run::{ChangedCalls, RunDirectory};

use crate::ci::CiFlags;
use crate::flags::{BatchFlag, Checks};
use crate::run_dir::{self, Continued, RunOutput};
use crate::{error, setup};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity resume
  zer0gravity resume matrix --min-total 40";

#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Rebuild the report from a changed calls.jsonl; it then says so.
    #[arg(long, hide_short_help = true)]
    pub accept_changed_calls: bool,
    #[command(flatten)]
    pub batch: BatchFlag,
    #[command(flatten, next_help_heading = "Model options")]
    pub model: ModelFlags,
    /// Table of prices, used before the built-in one.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub prices: Option<PathBuf>,
    /// Run the programs of the run's rubric, which come from its folder.
    #[arg(long, hide_short_help = true)]
    pub allow_programs: bool,
    #[command(flatten)]
    pub checks: Checks,
    #[command(flatten)]
    pub ci: CiFlags,
}

pub fn execute(args: &ResumeArgs, session: &mut Session) -> Result<Exit, Failure> {
    let mut directory =
        RunDirectory::open(&run_dir::folder(&args.run, session)?).map_err(error::directory)?;
    let plan = directory.plan().clone();
    setup::check_scoring(&args.checks, &plan.config)?;
    let prices = args.prices.as_deref();
    let used = setup::used_files(&directory, &args.model, args.prices.as_deref());
    let gate = args.ci.begin(&args.checks, used)?;
    let allow_programs = args.allow_programs;
    let mut asked = setup::reopened(
        &mut directory,
        &plan,
        &args.model,
        prices,
        allow_programs,
        session,
    )?;
    asked.use_batches(
        args.batch,
        Some(directory.path()),
        setup::models(&plan.config),
    )?;
    let changed = if args.accept_changed_calls {
        ChangedCalls::Accept
    } else {
        ChangedCalls::Refuse
    };
    let report = run_dir::resume(&directory, &asked, changed, session)?;
    let shown = RunOutput::of(args.json);
    let (command, asked) = (Continued::Run, Some(&asked));
    run_dir::conclude(command, &directory, &report, gate, shown, asked, session)
}
