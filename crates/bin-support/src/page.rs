//! The page of a run, which `report` writes once, or again and again while another process works on the run.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use llm_client::{Clock as _, SystemClock};

use crate::output::write_file;
use crate::{Error, Exit, Failure, Interrupt, OutputTarget, Session, escape, open_in_browser};

/// The multiple of the time for a page that passes before the next one.
const REST: u32 = 10;

/// The flags of `report` that all programs share; add them with `#[command(flatten)]`.
#[derive(Debug, Clone, Default, clap::Args)]
#[non_exhaustive]
pub struct PageFlags {
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Write the page again when the run changes, at most every 5 s or SECONDS, until the run ends.
    ///
    /// The page loads itself again. Exit code 3 if the process that works on the run is gone before its end.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5")]
    pub watch: Option<u64>,
}

/// The state of a run for a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a run is worked on or not, and is complete or not"
)]
pub enum RunPhase {
    /// A process works on the run.
    Running,
    /// The run is complete.
    Finished,
    /// No process works on the run, and it is not complete; the line says how to continue.
    Stopped(String),
}

/// A run as a reader found it, and its page.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a program gives all of it")]
pub struct RunPage<S> {
    /// The facts by which the program knows that the run has changed.
    pub state: S,
    /// Whether the page is the last one.
    pub phase: RunPhase,
    /// The page.
    pub html: String,
}

impl PageFlags {
    /// Checks the target of the page: one on stdout can be neither opened nor written again.
    ///
    /// # Errors
    /// [`Error::PageOnStdout`]: [`Failure::usage`].
    pub fn check(&self, target: Option<&OutputTarget>) -> Result<(), Failure> {
        let needs_file = self.open || self.watch.is_some();
        match target {
            Some(OutputTarget::Stdout) if needs_file => Err(Failure::usage(Error::PageOnStdout)),
            _ => Ok(()),
        }
    }

    /// Prints the path of a page that is written, and opens it if the user asked for it.
    ///
    /// # Errors
    /// As writing to stdout.
    pub fn show(&self, page: &Path, session: &mut Session) -> Result<(), Failure> {
        writeln!(session.results, "{}", escape(&page.display().to_string()))?;
        session.results.flush()?;
        if self.open {
            open_in_browser(page, session);
        }
        Ok(())
    }

    /// Writes the page whenever the run has changed, until it ends; never more often than ten times the time for a page.
    ///
    /// `read` gets the state of the last page, and returns `None` if the run is still in it.
    ///
    /// # Errors
    /// As `read` and [`write_file`].
    pub async fn follow<S>(
        &self,
        every: u64,
        file: &Path,
        session: &mut Session,
        mut read: impl AsyncFnMut(Option<&S>) -> Result<Option<RunPage<S>>, Failure>,
    ) -> Result<Exit, Failure> {
        let interrupt = Interrupt::on_signals()?;
        let every = Duration::from_secs(every);
        let mut last = None;
        loop {
            let clock = SystemClock::new();
            if let Some(page) = read(last.as_ref()).await? {
                write_file(file, |out| out.write_all(page.html.as_bytes()))?;
                if last.replace(page.state).is_none() {
                    self.show(file, session)?;
                }
                match page.phase {
                    RunPhase::Running => {}
                    RunPhase::Finished => return Ok(Exit::Done),
                    RunPhase::Stopped(line) => {
                        session.warn(&line);
                        return Ok(Exit::SomeFailed);
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(every.max(clock.elapsed() * REST)) => {}
                () = interrupt.raised() => return Ok(Exit::Interrupted),
            }
        }
    }
}
