//! The page of a run while another process works on it.

use std::io::Write as _;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::Duration;

use bin_support::{Exit, Failure, Interrupt, Session, open_in_browser, output};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm_client::{Clock as _, SystemClock};
use popper_discovery::report::{DiscoveryReport, ProposalTurn, page};
use popper_discovery::store::{IterationStatus, Query, RunRow, Store as _};
use popper_store::{Access, Database};

use super::database::{self, failure};
use super::resume_command::ResumeCommand;
use crate::input;
use crate::location::StoreLocation;

/// The times that a page takes to render before it is rendered again.
const REST: u32 = 10;

/// A run and the file of its page.
pub struct LiveRun<'a> {
    location: &'a StoreLocation,
    run: &'a RunRow,
    path: &'a Path,
    every: NonZeroU64,
}

/// The state of a run for a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunPhase {
    /// A process works on it.
    Working,
    Complete,
    /// No process works on it, and its last iteration is open.
    Stopped,
}

/// Whether the last iteration is complete.
pub fn is_complete(report: &DiscoveryReport) -> bool {
    let complete = |turn: &ProposalTurn| turn.status == IterationStatus::Completed;
    report.iterations.last().is_some_and(complete)
}

impl<'a> LiveRun<'a> {
    pub fn new(
        location: &'a StoreLocation,
        run: &'a RunRow,
        path: &'a Path,
        every: NonZeroU64,
    ) -> Self {
        Self {
            location,
            run,
            path,
            every,
        }
    }

    /// Writes the page whenever the run changed, until the run ends.
    pub async fn watch(&self, open: bool, session: &mut Session) -> Result<Exit, Failure> {
        let interrupt = Interrupt::on_signals()?;
        let mut last = None;
        loop {
            // Before the rows are read: a writer that ends meanwhile has stored all of them.
            let has_writer = self.has_writer();
            let clock = SystemClock::new();
            let (report, event) = self.read().await?;
            let is_complete = is_complete(&report);
            let phase = match has_writer.unwrap_or(!is_complete) {
                true => RunPhase::Working,
                false if is_complete => RunPhase::Complete,
                false => RunPhase::Stopped,
            };
            let state = (phase, report.verdicts, event, report.iterations.len());
            let is_first = last.is_none();
            let mut rest = Duration::from_secs(self.every.get());
            if last != Some(state) {
                let mut html = page(&report);
                if phase == RunPhase::Working {
                    html = html.in_progress(in_progress(&report, event), self.every.get());
                }
                let html = html.render()?;
                output::write_file(self.path, |out| out.write_all(html.as_bytes()))?;
                rest = rest.max(clock.elapsed() * REST);
                last = Some(state);
            }
            if is_first {
                writeln!(session.results, "{}", input::name(self.path))?;
                session.results.flush()?;
                if open {
                    open_in_browser(self.path, session);
                }
            }
            match phase {
                RunPhase::Working => {}
                RunPhase::Complete => return Ok(Exit::Done),
                RunPhase::Stopped => {
                    let command = ResumeCommand::new("resume", self.run.id, self.location);
                    session.warn(&format!("stopped, not finished; resume with {command}"));
                    return Ok(Exit::SomeFailed);
                }
            }
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = interrupt.raised() => return Ok(Exit::Interrupted),
            }
        }
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
