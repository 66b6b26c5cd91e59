//! The command `popper report`, which writes a run as one page that needs no network.

use std::io::Write as _;

use bin_support::{Exit, Failure, OutputTarget, Session};
use popper_discovery::report::{DiscoveryReport, ProposalTurn, page};
use popper_discovery::store::IterationStatus;
use popper_store::Access;

use crate::discovery::database::{self, failure};
use crate::discovery::page_of;
use crate::discovery::resume_command::ResumeCommand;
use crate::flags::RunFlag;
use crate::input;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunFlag,
    /// File to write, as a whole or not at all; - for stdout [default: popper-run-ID.html].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

pub async fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = args.run.location.location(session)?;
    let mut store = database::open(&location, Access::Read).await?;
    let run = database::run(&mut store, args.run.run_id).await?;
    let target = match &args.output {
        Some(target) => target.clone(),
        None => page_of(run.id).into(),
    };
    location.refuse_target(&target)?;
    let report = DiscoveryReport::gather(&mut store, &run)
        .await
        .map_err(failure)?;
    let html = page(&report).render()?;
    let complete = |turn: &ProposalTurn| turn.status == IterationStatus::Completed;
    if !report.iterations.last().is_some_and(complete) {
        let command = ResumeCommand::new("resume", run.id, &location);
        session.warn(&format!("the run is not complete; to continue: {command}"));
    }
    let output = target.begin(location.file())?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    if let Some(path) = target.file() {
        writeln!(session.results, "{}", input::name(path))?;
    }
    Ok(Exit::Done)
}
