//! `estimate`: estimates the calls of a run and their cost.

use bin_support::{Exit, Failure, Session};

use crate::estimate;
use crate::flags::{ExperimentArg, RunFlags};

#[derive(Debug, clap::Args)]
pub struct EstimateArgs {
    #[command(flatten)]
    pub experiment: ExperimentArg,
    /// Tokens per answer, if no run has measured them [default: a fifth of the token limit, at most 400].
    #[arg(long, value_name = "N")]
    pub answer_tokens: Option<u32>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: RunFlags,
}

pub fn execute(args: &EstimateArgs, session: &mut Session) -> Result<Exit, Failure> {
    let directory = args.experiment.directory(&args.flags, session)?;
    let estimate = estimate::of_run(
        directory.as_deref(),
        &args.flags.settings,
        args.answer_tokens,
        session,
    )?;
    estimate.print(args.json, session)
}
