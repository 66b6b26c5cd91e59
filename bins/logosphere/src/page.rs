//! The page of a run, written to a file, once or as often as the run changes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bin_support::{
    Exit, Failure, Interrupt, OutputTarget, Session, block_on, escape, open_in_browser,
};
use logosphere_core::experiment::Experiment;
use logosphere_core::measures::nulls::MIN_RUNS;
use logosphere_core::report::{ReportData, RunEnd, page};
use report_kit::Page;

use crate::error::Error;
use crate::journal_file;
use crate::recorded::is_old;

/// The seconds after which a browser loads the page of a run in progress again.
const REFRESH: u64 = 5;

/// The share of the time that rendering may take, as a divisor.
const IDLE: u32 = 10;

/// The page of a run, and the file that it is written to.
pub struct PageFile {
    run: PathBuf,
    target: OutputTarget,
}

/// The state of a run whose page was written.
enum Watched {
    Running,
    Ended,
    /// No process works on the run, and it has not ended.
    Stopped,
}

impl PageFile {
    /// The page of a run, by default in the experiment's `report.html`.
    pub fn new(run: &Path, target: Option<&OutputTarget>) -> Result<Self, Failure> {
        let journal = journal_file::path(run);
        if is_old(run)? {
            return Err(Failure::usage(Error::OldPage { path: journal }));
        }
        let target = target.cloned().unwrap_or_else(|| {
            let page = if run.is_dir() {
                run.join("report.html")
            } else {
                journal.with_extension("html")
            };
            page.into()
        });
        Ok(Self {
            run: run.to_owned(),
            target,
        })
    }

    /// Prints the path of the file, and opens it in the browser if the user asked for it.
    pub fn show(&self, open: bool, session: &mut Session) -> Result<(), Failure> {
        if let Some(page) = self.target.file() {
            writeln!(session.results, "{}", escape(&page.display().to_string()))?;
            session.results.flush()?;
            if open {
                open_in_browser(page, session);
            }
        }
        Ok(())
    }

    /// Writes the page.
    pub fn write(&self, session: &mut Session) -> Result<(), Failure> {
        session.status(&format!(
            "measuring, with {MIN_RUNS} runs of each null model"
        ));
        self.replace(&page(&self.read()?), session)
    }

    /// Writes the page whenever the run has changed, until it ends. The first one is shown as [`PageFile::show`] does.
    pub fn watch(
        &self,
        every: Duration,
        open: bool,
        session: &mut Session,
    ) -> Result<Exit, Failure> {
        let interrupt = Interrupt::on_signals()?;
        let mut written = None;
        loop {
            let begun = Instant::now();
            let state = self.state()?;
            if written.as_ref() != Some(&state) {
                let watched = self.write_live(state.1, session)?;
                if written.replace(state).is_none() {
                    self.show(open, session)?;
                }
                match watched {
                    Watched::Running => {}
                    Watched::Ended => return Ok(Exit::Done),
                    Watched::Stopped => {
                        let run = escape(&self.run.display().to_string());
                        session.warn(&format!(
                            "stopped, not finished; resume with: logosphere resume {run}"
                        ));
                        return Ok(Exit::SomeFailed);
                    }
                }
            }
            let pause = every.max(begun.elapsed() * IDLE);
            let is_over = block_on(async {
                tokio::select! {
                    () = interrupt.raised() => true,
                    () = tokio::time::sleep(pause) => false,
                }
            })?;
            if is_over {
                return Ok(Exit::Interrupted);
            }
        }
    }

    /// Returns the length of the journal, and whether a process works on the run.
    fn state(&self) -> Result<(u64, bool), Failure> {
        // The lock comes first: a run that ends in between has its end in the journal.
        let is_open = Experiment::open(&self.run).is_ok_and(|found| found.check_free().is_err());
        let path = journal_file::path(&self.run);
        let found = fs::metadata(&path);
        let found = found.map_err(|source| Failure::usage(Error::Read { path, source }))?;
        Ok((found.len(), is_open))
    }

    /// Writes the page of the run as it is now.
    fn write_live(&self, is_open: bool, session: &mut Session) -> Result<Watched, Failure> {
        let data = self.read()?;
        let facts = &data.facts;
        let (watched, page) = match (&facts.end, is_open) {
            (RunEnd::Ended(_), false) => (Watched::Ended, page(&data)),
            (_, false) => (Watched::Stopped, page(&data)),
            (_, true) => {
                let round = data.transcript.rounds.len() + 1;
                let rounds = facts.settings.max_rounds;
                let time = facts.ended.get(11..19).unwrap_or(&facts.ended);
                let notice =
                    format!("Run in progress: round {round} of {rounds}, last event {time} UTC");
                let page = page(&data).in_progress(notice, REFRESH);
                (Watched::Running, page)
            }
        };
        self.replace(&page, session)?;
        Ok(watched)
    }

    fn read(&self) -> Result<ReportData, Failure> {
        let path = journal_file::path(&self.run);
        let journal = journal_file::open(&self.run)?;
        ReportData::read(journal, MIN_RUNS)
            .map_err(|source| Failure::usage(Error::Transcript { path, source }))
    }

    fn replace(&self, page: &Page, session: &mut Session) -> Result<(), Failure> {
        let output = self.target.begin(journal_file::kept(&self.run))?;
        let html = page.render()?;
        output.finish(session, |out| out.write_all(html.as_bytes()))
    }
}
