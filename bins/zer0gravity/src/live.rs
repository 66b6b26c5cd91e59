//! A run as a reader sees it while another process works on it, and its page.

use std::path::{Path, PathBuf};

use bin_support::Failure;
use bin_support::page::{RunPage, RunPhase};
use serde::Serialize;
use zer0gravity_engine::Tokenizers;
use zer0gravity_engine::report::{RunReport, page};
use zer0gravity_engine::run::RunView;

use crate::calibrated::CalibrationFlags;
use crate::filter::EncodingFilter;
use crate::{error, run_dir};

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

/// The facts of which one differs after each change of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct LiveState {
    phase: Phase,
    ended: usize,
    created_at: String,
}

/// A run that is read and not locked.
pub struct LiveRun {
    folder: PathBuf,
    view: RunView,
    counter: Tokenizers,
}

impl LiveRun {
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let view = RunView::open(folder).map_err(error::directory)?;
        Ok(Self {
            folder: folder.to_owned(),
            view,
            counter: Tokenizers::default(),
        })
    }

    pub fn view(&self) -> &RunView {
        &self.view
    }

    /// Reads the results as far as the stored calls go.
    pub async fn read(&self) -> Result<(Phase, RunReport), Failure> {
        // Before the calls are read: a writer that ends meanwhile has stored all of them.
        let has_writer = self.view.has_writer();
        let report = self.view.report(&self.counter).await;
        let report = report.map_err(error::directory)?;
        let is_open = report.results.iter().any(|one| one.outcome.is_stopped());
        let phase = match (has_writer, is_open) {
            (true, _) => Phase::Running,
            (false, false) => Phase::Finished,
            (false, true) => Phase::Stopped,
        };
        Ok((phase, report))
    }

    /// Reads the run and makes its page, unless it is still in the state of the last one. A browser loads the page again after
    /// this number of seconds.
    pub async fn read_page(
        &self,
        only: &EncodingFilter,
        last: Option<&LiveState>,
        every: u64,
        calibration: &CalibrationFlags,
    ) -> Result<Option<RunPage<LiveState>>, Failure> {
        let (phase, mut report) = self.read().await?;
        calibration.apply(&mut report)?;
        only.apply(&mut report, &self.folder)?;
        let results = report.results.iter();
        let state = LiveState {
            phase,
            ended: results.filter(|one| !one.outcome.is_stopped()).count(),
            created_at: report.created_at.clone(),
        };
        if last == Some(&state) {
            return Ok(None);
        }
        let mut html = page(&report);
        let phase = match phase {
            Phase::Running => {
                let notice = in_progress(state.ended, report.results.len(), &self.view);
                html = html.in_progress(notice, every.max(1));
                RunPhase::Running
            }
            Phase::Finished => RunPhase::Finished,
            Phase::Stopped => {
                let place = run_dir::shell_word(&self.folder);
                let line = "stopped, not finished; resume with zer0gravity resume";
                RunPhase::Stopped(format!("{line} {place}"))
            }
        };
        let html = html.render()?;
        Ok(Some(RunPage { state, phase, html }))
    }
}

/// The notice of a run that is not finished. The time is that of the last call, so that the same data give the same page.
fn in_progress(ended: usize, total: usize, view: &RunView) -> String {
    let time = view.last_call().map_or_else(String::new, |time| {
        format!(", last call {} UTC", time.strftime("%H:%M:%S"))
    });
    format!("Run in progress: {ended} of {total} experiments{time}")
}
