//! The page of a run while another process works on it.

use bin_support::Failure;
use bin_support::page::{RunPage, RunPhase};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use popper_discovery::Verdicts;
use popper_discovery::report::{DiscoveryReport, ProposalTurn, page};
use popper_discovery::store::{IterationStatus, Query, RunRow, Store as _};
use popper_store::{Access, Database};

use super::database::{self, failure};
use super::resume_command::ResumeCommand;
use crate::location::StoreLocation;

/// A run, and the interval in seconds after which its page is loaded again.
pub struct LiveRun<'a> {
    location: &'a StoreLocation,
    run: &'a RunRow,
    every: u64,
}

/// The facts of which one differs after each change of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveState {
    is_running: bool,
    /// The number of the last iteration.
    iteration: Option<u32>,
    verdicts: Verdicts,
    event: Option<Timestamp>,
}

/// Whether the last iteration is complete.
pub fn is_complete(report: &DiscoveryReport) -> bool {
    let complete = |turn: &ProposalTurn| turn.status == IterationStatus::Completed;
    report.iterations.last().is_some_and(complete)
}

impl<'a> LiveRun<'a> {
    pub fn new(location: &'a StoreLocation, run: &'a RunRow, every: u64) -> Self {
        Self {
            location,
            run,
            every,
        }
    }

    /// Reads the run and makes its page, unless it is still in the state of the last one.
    pub async fn read_page(
        &self,
        last: Option<&LiveState>,
    ) -> Result<Option<RunPage<LiveState>>, Failure> {
        // Before the rows are read: a writer that ends meanwhile has stored all of them.
        let has_writer = self.has_writer();
        let (report, event) = self.read().await?;
        let is_complete = is_complete(&report);
        let phase = match has_writer.unwrap_or(!is_complete) {
            true => RunPhase::Running,
            false if is_complete => RunPhase::Finished,
            false => {
                let command = ResumeCommand::new("resume", self.run.id, self.location);
                RunPhase::Stopped(format!("stopped, not finished; resume with {command}"))
            }
        };
        let state = LiveState {
            is_running: phase == RunPhase::Running,
            iteration: report.iterations.last().map(|turn| turn.index),
            verdicts: report.verdicts,
            event,
        };
        if last == Some(&state) {
            return Ok(None);
        }
        let mut html = page(&report);
        if state.is_running {
            html = html.in_progress(in_progress(&report, event), self.every.max(1));
        }
        let html = html.render()?;
        Ok(Some(RunPage { state, phase, html }))
    }

    /// Whether a process works on the run. `None` on a server, where an open iteration counts as worked on.
    fn has_writer(&self) -> Option<bool> {
        self.location.file().map(Database::has_writer)
    }

    /// Reads the report, and the time of the last event in it.
    async fn read(&self) -> Result<(DiscoveryReport, Option<Timestamp>), Failure> {
        let mut store = database::open(self.location, Access::Read).await?;
        let report = DiscoveryReport::gather(&mut store, self.run).await;
        let report = report.map_err(failure)?;
        let newest = store.findings(Query::newest(self.run, None, 1)).await;
        let newest = newest.map_err(|error| failure(popper_discovery::Error::from(error)))?;
        let decided = newest.last().map(|law| law.evaluation.completed_at);
        let turn = report.iterations.last();
        let turn = turn.map(|turn| turn.completed_at.unwrap_or(turn.started_at));
        Ok((report, decided.max(turn)))
    }
}

/// The notice of a run that is not finished. The time is that of the data, so that the same data give the same page.
fn in_progress(report: &DiscoveryReport, event: Option<Timestamp>) -> String {
    let iteration = match report.iterations.last() {
        Some(turn) => format!("iteration {}", turn.index),
        None => "no iteration yet".to_owned(),
    };
    let time = event.map_or_else(String::new, |time| {
        let time = time.to_zoned(TimeZone::UTC);
        format!(", last event {} UTC", time.strftime("%H:%M:%S"))
    });
    format!("Run in progress: {iteration}{time}")
}
