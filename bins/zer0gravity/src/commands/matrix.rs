//! `zer0gravity matrix`: every encoding on every text, kept in a directory.

use std::path::PathBuf;

use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::plan::{Costs, Plan};
use zer0gravity_engine::run::{ChangedCalls, RunDirectory};

use crate::flags::{Checks, Repeats, RoleFlags, Texts};
use crate::run_dir::{self, Continued};
use crate::selection::{self, Selected};
use crate::{model, setup};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity matrix --all --run-dir runs/all
  zer0gravity matrix --level 1 --trials 2 --run-dir runs/twice";

#[derive(Debug, clap::Args)]
pub struct MatrixArgs {
    /// Encoding systems: text files [default: the built-in rules].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub encoding: Vec<PathBuf>,
    #[command(flatten)]
    pub texts: Texts,
    /// Directory of the run: plan, calls and report.
    #[arg(long, value_name = "DIR")]
    pub run_dir: PathBuf,
    #[command(flatten)]
    pub asking: RoleFlags,
    #[command(flatten)]
    pub repeats: Repeats,
    #[command(flatten)]
    pub checks: Checks,
}

pub fn execute(args: &MatrixArgs, session: &mut Session) -> Result<Exit, Failure> {
    let encodings = selection::encodings(&args.encoding).map_err(Failure::usage)?;
    let asking = &args.asking;
    let Selected { cases, left_out } =
        selection::texts(&args.texts, asking.skip_bad, asking.allow_long, session)?;
    let read = args.encoding.iter().chain(&asking.prices).cloned();
    let read = read.chain(selection::files(&args.texts));
    model::ensure_not_input(
        &asking.model,
        read.chain(RunDirectory::files_in(&args.run_dir)),
    )?;
    let asked = setup::asked(asking, Some(&args.run_dir), session)?;
    let mut config = setup::config(
        asking,
        &args.repeats,
        asked.model_client.label(),
        &asked.model,
    );
    if config.cost == Costs::None {
        // What is compared here is what encodings are worth.
        config.cost = Costs::Estimated;
    }
    let plan = Plan::new(encodings, cases, config);
    setup::check(&plan, asking, &args.checks)?;
    let directory = setup::begun(&args.run_dir, &plan, left_out, &asking.model)?;
    let report = run_dir::resume(&directory, &asked, ChangedCalls::Refuse, session)?;
    Ok(run_dir::conclude(
        Continued::Run,
        &directory,
        &report,
        &args.checks,
        session.is_quiet(),
        session,
    ))
}
