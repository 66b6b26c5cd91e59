//! `forecast`: estimates the calls of a run and their cost.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use logosphere_core::experiment::Experiment;

use crate::estimate::EstimateArgs;
use crate::flags::SettingFlags;
use crate::setup::failure;
use crate::subject::Subject;

#[derive(Debug, clap::Args)]
pub struct ForecastArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// Tokens per answer, if no run has measured them [default: a fifth of the token limit, at most 400].
    #[arg(long, value_name = "N")]
    pub answer_tokens: Option<u32>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: SettingFlags,
}

pub fn execute(args: &ForecastArgs, session: &mut Session) -> Result<Exit, Failure> {
    let experiment = Experiment::open(&args.subject.find(session)?).map_err(failure)?;
    let asked = EstimateArgs {
        flags: &args.settings,
        answer_tokens: args.answer_tokens,
        template: false,
    };
    let told = asked.forecast(Some(&experiment), session)?;
    if args.json {
        serde_json::to_writer_pretty(&mut session.results, &told)?;
        writeln!(session.results)?;
    } else {
        told.show(session)?;
    }
    Ok(Exit::Done)
}
