//! `popper report`: a run as one page that needs no network.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Session};
use popper_discovery::IterationStatus;
use popper_discovery::report::{DiscoveryReport, Turn, page};
use popper_store::Access;

use super::database::{self, failure};
use super::resume_command::ResumeCommand;
use crate::cli;
use crate::input;

pub async fn report(args: &cli::ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let db = &args.run.database.db;
    let mut store = database::open(db, Access::Read).await?;
    let run = database::run(&mut store, args.run.run_id).await?;
    let target = match &args.output {
        Some(target) => target.clone(),
        None => PathBuf::from(format!("popper-run-{}.html", run.id)).into(),
    };
    database::spare_target(db, &target)?;
    let report = DiscoveryReport::gather(&mut store, &run)
        .await
        .map_err(failure)?;
    let html = page(&report).render()?;
    let complete = |turn: &Turn| turn.status == IterationStatus::Completed;
    if !report.iterations.last().is_some_and(complete) {
        let command = ResumeCommand::new("resume", run.id, db);
        session.notice(&format!("the run is not complete; to go on: {command}"));
    }
    let output = target.begin([db])?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    if let Some(path) = target.file() {
        writeln!(session.results, "{}", input::name(path))?;
    }
    Ok(Exit::Done)
}
