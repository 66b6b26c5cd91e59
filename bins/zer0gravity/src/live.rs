//! A run as a reader sees it while another process works on it, and its page.

use std::io::Write as _;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::Duration;

use bin_support::{Exit, Failure, Interrupt, Session, open_in_browser, output};
use llm_client::{Clock as _, SystemClock};
use serde::Serialize;
use zer0gravity_engine::Tokenizers;
use zer0gravity_engine::report::{RunReport, page};
use zer0gravity_engine::run::RunView;

use crate::{error, experiment, run_dir};

/// The times that a page takes to render before it is rendered again.
const REST: u32 = 10;

/// The state of a run for a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// A process works on it.
    Running,
    Finished,
    /// No process works on it, and experiments are missing.
    Stopped,
}

impl Phase {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Stopped => "stopped",
        }
    }
}

/// A run that is read and not locked.
pub struct LiveRun {
    view: RunView,
    counter: Tokenizers,
}

impl LiveRun {
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let view = RunView::open(folder).map_err(error::directory)?;
        Ok(Self {
            view,
            counter: Tokenizers::default(),
        })
    }

    pub fn view(&self) -> &RunView {
        &self.view
    }

    /// Reads the results as far as the stored calls go.
    pub fn read(&self) -> Result<(Phase, RunReport), Failure> {
        // Before the calls are read: a writer that ends meanwhile has stored all of them.
        let has_writer = self.view.has_writer();
        let report = bin_support::block_on(self.view.report(&self.counter))?;
        let report = report.map_err(error::directory)?;
        let is_open = report.results.iter().any(experiment::is_stopped);
        let phase = match (has_writer, is_open) {
            (true, _) => Phase::Running,
            (false, false) => Phase::Finished,
            (false, true) => Phase::Stopped,
        };
        Ok((phase, report))
    }
}

/// Writes the page whenever the run changed, until the run ends.
pub fn watch(
    folder: &Path,
    file: &Path,
    every: NonZeroU64,
    open: bool,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let live = LiveRun::open(folder)?;
    let interrupt = Interrupt::on_signals()?;
    let mut last = None;
    loop {
        let clock = SystemClock::new();
        let (phase, report) = live.read()?;
        let ended = report
            .results
            .iter()
            .filter(|one| !experiment::is_stopped(one))
            .count();
        let state = (phase, ended, report.created_at.clone());
        let is_first = last.is_none();
        let mut rest = Duration::from_secs(every.get());
        if last.as_ref() != Some(&state) {
            let mut html = page(&report);
            if phase == Phase::Running {
                let notice = in_progress(ended, report.results.len(), live.view());
                html = html.in_progress(notice, every.get());
            }
            let html = html.render()?;
            output::write_file(file, |out| out.write_all(html.as_bytes()))?;
            rest = rest.max(clock.elapsed() * REST);
            last = Some(state);
        }
        if is_first {
            let file = bin_support::escape(&file.display().to_string());
            writeln!(session.results, "{file}")?;
            session.results.flush()?;
        }
        if is_first && open {
            open_in_browser(file, session);
        }
        match phase {
            Phase::Running => {}
            Phase::Finished => return Ok(Exit::Done),
            Phase::Stopped => {
                let place = run_dir::shell_word(folder);
                session.warn(&format!(
                    "stopped, not finished; resume with zer0gravity resume {place}"
                ));
                return Ok(Exit::SomeFailed);
            }
        }
        let waited = bin_support::block_on(async {
            tokio::select! {
                () = tokio::time::sleep(rest) => true,
                () = interrupt.raised() => false,
            }
        })?;
        if !waited {
            return Ok(Exit::Interrupted);
        }
    }
}

/// The notice of a run that is not finished. The time is that of the last call, so that the same data give the same page.
fn in_progress(ended: usize, total: usize, view: &RunView) -> String {
    let time = view.last_call().map_or_else(String::new, |time| {
        format!(", last call {} UTC", time.strftime("%H:%M:%S"))
    });
    format!("Run in progress: {ended} of {total} experiments{time}")
}
