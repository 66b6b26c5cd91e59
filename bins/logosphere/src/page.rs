//! The page of a run, written to a file, once or as often as the run changes.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use bin_support::page::{RunPage, RunPhase};
use bin_support::{Exit, Failure, OutputTarget, Session, escape};
use logosphere_core::Transcript;
use logosphere_core::experiment::{Experiment, check_place};
use logosphere_core::measures::nulls::DEFAULT_RUNS;
use logosphere_core::report::{ReportData, ReportSource, RunEnd, RunFacts, page};

use crate::embedding::{self, EmbedFlags};
use crate::error::Error;
use crate::setup::failure;
use crate::status::is_in_use;
use crate::{foreign, journal_file, measuring};

/// The seconds after which a browser loads the page of a run in progress again.
const REFRESH: u64 = 5;

/// The page of a run, and the file that it is written to.
pub struct PageFile {
    run: PathBuf,
    target: OutputTarget,
}

/// The facts of which one differs after each change of a run: the length of the journal, and whether a process works on it.
#[derive(Debug, PartialEq, Eq)]
pub struct LiveState {
    length: u64,
    is_open: bool,
}

impl PageFile {
    /// The page of a run, by default in the experiment's `report.html`.
    pub fn new(run: &Path, target: Option<&OutputTarget>) -> Result<Self, Failure> {
        let source = source(run);
        if foreign::file(run).is_none() {
            journal_file::open(run)?;
        }
        let target = if let Some(target) = target {
            target.clone()
        } else {
            let page = if run.is_dir() {
                run.join("report.html")
            } else {
                source.with_extension("html")
            };
            // A link there was not chosen by the user.
            check_place(&embedding::folder(run), &page).map_err(failure)?;
            page.into()
        };
        Ok(Self {
            run: run.to_owned(),
            target,
        })
    }

    /// The file of the page; `None` for stdout.
    pub fn file(&self) -> Option<&Path> {
        self.target.file()
    }

    /// Writes the page; a signal stops it before anything is written.
    pub fn write(&self, embed: &EmbedFlags, session: &mut Session) -> Result<Exit, Failure> {
        session.status("measuring, with null runs");
        let output = self.target.begin(journal_file::kept(&self.run))?;
        let (source, transcript) = self.read()?;
        let vectors = embedding::of_run(embed, &self.run, &transcript, session)?;
        let mut plan = ReportData::plan(DEFAULT_RUNS, measuring::threads());
        plan.embeddings = vectors.as_ref();
        let data = {
            let on_run = &mut measuring::null_runs(session)?;
            ReportData::measured(source, transcript, &plan, on_run)
        };
        let Some(data) = data else {
            return Ok(Exit::Interrupted);
        };
        let html = page(&data).render()?;
        output.finish(session, |out| out.write_all(html.as_bytes()))?;
        Ok(Exit::Done)
    }

    /// Reads the run and makes its page, unless it is still in the state of the last one.
    pub fn read_again(
        &self,
        last: Option<&LiveState>,
    ) -> Result<Option<RunPage<LiveState>>, Failure> {
        let state = self.state()?;
        if last == Some(&state) {
            return Ok(None);
        }
        // A run in progress is not tested: a test at every state would be significant sooner or later.
        let null_runs = if state.is_open { 0 } else { DEFAULT_RUNS };
        let (source, transcript) = self.read()?;
        let plan = ReportData::plan(null_runs, measuring::threads());
        let on_run = &mut |_| ControlFlow::Continue(());
        let Some(data) = ReportData::measured(source, transcript, &plan, on_run) else {
            return Ok(None);
        };
        let mut page = page(&data);
        let phase = match (data.facts(), state.is_open) {
            (None, _) => RunPhase::Finished,
            (Some(facts), false) if matches!(facts.end, RunEnd::Ended(_)) => RunPhase::Finished,
            (Some(_), false) => {
                let run = escape(&self.run.display().to_string());
                let line = "stopped, not finished; resume with: logosphere resume";
                RunPhase::Stopped(format!("{line} {run}"))
            }
            (Some(facts), true) => {
                let round = data.transcript.rounds.len() + 1;
                let rounds = facts.settings.max_rounds;
                let time = facts.ended.get(11..19).unwrap_or(&facts.ended);
                let notice = format!(
                    "Run in progress: round {round} of {rounds}, last event {time} UTC; it is tested when it has ended"
                );
                page = page.in_progress(notice, REFRESH);
                RunPhase::Running
            }
        };
        let html = page.render()?;
        Ok(Some(RunPage { state, phase, html }))
    }

    fn state(&self) -> Result<LiveState, Failure> {
        // The lock comes first: a run that ends in between has its end in the journal.
        let is_open = Experiment::open(&self.run).is_ok_and(|found| is_in_use(&found));
        let path = source(&self.run);
        let found = fs::metadata(&path);
        let found = found.map_err(|source| Failure::usage(Error::Read { path, source }))?;
        Ok(LiveState {
            length: found.len(),
            is_open,
        })
    }

    fn read(&self) -> Result<(ReportSource, Transcript), Failure> {
        if let Some(run) = foreign::read(&self.run)? {
            let source = ReportSource::Import {
                header: Box::new(run.header),
                authors: run.authors,
            };
            return Ok((source, run.transcript));
        }
        let path = journal_file::path(&self.run);
        let read = RunFacts::read(journal_file::open(&self.run)?);
        let (facts, transcript) =
            read.map_err(|source| Failure::usage(Error::Transcript { path, source }))?;
        Ok((ReportSource::Journal(Box::new(facts)), transcript))
    }
}

/// Returns the file that a page is about: imported messages, or a journal.
fn source(run: &Path) -> PathBuf {
    foreign::file(run).unwrap_or_else(|| journal_file::path(run))
}
