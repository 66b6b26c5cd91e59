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

/// The name of a page in the working directory, before and after the number of its run.
const PAGE: (&str, &str) = ("popper-run-", ".html");

/// Returns the pages in the working directory that no flag named.
pub fn pages() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    let named = |name: &str| {
        let id = name.strip_prefix(PAGE.0)?.strip_suffix(PAGE.1)?;
        id.parse::<u64>().ok()
    };
    let names = entries.map(|entry| PathBuf::from(entry.file_name()));
    names.filter(move |name| name.to_str().and_then(named).is_some())
}

pub async fn report(args: &cli::ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let db = &args.run.database.db;
    let mut store = database::open(db, Access::Read).await?;
    let run = database::run(&mut store, args.run.run_id).await?;
    let target = match &args.output {
        Some(target) => target.clone(),
        None => PathBuf::from(format!("{}{}{}", PAGE.0, run.id, PAGE.1)).into(),
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
