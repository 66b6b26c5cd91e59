//! The work on a run that `popper run` and `popper resume` share.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use bin_support::{Exit, Failure, Interrupt, Session};
use llm_client::{Cassette, SystemClock};
use popper_discovery::store::{RunCost, RunRow, Store as _};
use popper_discovery::{Discovery, Error, ProposeError, RunEnd, RunSelector};
use popper_store::{Access, Database};

use super::database::{self, failure, spoken};
use super::progress::ProgressObserver;
use super::proposer::{self, Chosen};
use super::resume_command::ResumeCommand;
use super::run_status::{lines, run_status};
use super::settings::Settings;
use super::verdicts;
use crate::flags::{DEFAULT_ITERATIONS, RunOptions};
use crate::table::Layout;

/// Continues a run with the configuration in its row.
pub async fn resume(
    db: &Path,
    id: i64,
    work: &RunOptions,
    session: &mut Session,
) -> Result<Exit, Failure> {
    refuse_recording_over_database(db, work)?;
    let mut store = database::open(db, Access::WriteExisting).await?;
    let run = database::run(&mut store, Some(id)).await?;
    let stored = database::config(&run)?;
    let settings = Settings::new(work, Some(&stored))?;
    let id = Some(run.discovery_model_id.as_str());
    let chosen = proposer::choose(work, id, &settings, session)?;
    let job = Job {
        db,
        work,
        which: RunSelector::Id(run.id),
    };
    job.run(store, settings, chosen, session).await
}

/// Refuses to record model calls into the database.
pub fn refuse_recording_over_database(db: &Path, work: &RunOptions) -> Result<(), Failure> {
    let record = work.model.record.as_ref();
    record.map_or(Ok(()), |record| {
        database::refuse_output_over_database(db, record)
    })
}

/// A run that is to be worked on.
pub struct Job<'a> {
    pub db: &'a Path,
    pub work: &'a RunOptions,
    pub which: RunSelector,
}

impl Job<'_> {
    pub async fn run(
        &self,
        store: Database,
        settings: Settings,
        (proposer, client): Chosen,
        session: &mut Session,
    ) -> Result<Exit, Failure> {
        let Settings { harness, discovery } = settings;
        let clock = Arc::new(SystemClock::new());
        let discovery =
            Discovery::open(store, harness, discovery, proposer.id(), clock, self.which).await;
        let mut discovery = discovery
            .map_err(failure)?
            .with_evaluator(self.work.evaluator());
        let run = discovery.run().clone();
        if let Some(client) = &client {
            // The cap is the run's, over all its processes.
            let ledger = database::ledger(self.db, run.id);
            client.keep_ledger(&ledger).map_err(Failure::usage)?;
        }
        let calls = discovery.store().calls(run.id, None).await;
        let calls = calls.map_err(failure)?;
        let interrupt = Interrupt::on_signals()?;
        let mut watch =
            ProgressObserver::new(session.progress.clone(), interrupt, RunCost::of(&calls));
        tracing::info!("run {} in {}", run.id, crate::input::name(self.db));
        let total = self.work.iterations;
        let ended = discovery.run_to(total, proposer.as_ref(), &mut watch).await;
        drop(watch);
        let exit = match ended {
            Ok(RunEnd::Completed) => {
                self.conclude(&run, discovery.store(), session).await?;
                Exit::Done
            }
            Ok(RunEnd::Stopped) => {
                session.warn("interrupted: finished work is kept");
                self.print_resume_command(&run, session);
                Exit::Interrupted
            }
            Err(error) => {
                session.warn(&spoken(&error));
                self.print_resume_command(&run, session);
                return Ok(match error {
                    Error::Propose(ProposeError::Budget(_)) => Exit::Interrupted,
                    _ => Exit::Failed,
                });
            }
        };
        // One file is left, which can be copied as it is.
        discovery.into_store().close().await.map_err(failure)?;
        Ok(exit)
    }

    /// Prints the result of the run and the next commands.
    async fn conclude(
        &self,
        run: &RunRow,
        store: &mut Database,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let status = run_status(store, run, self.db).await?;
        let out = &mut session.results;
        if self.work.json {
            serde_json::to_writer_pretty(&mut *out, &status)?;
            writeln!(out)?;
            return Ok(());
        }
        let layout = Layout::of(out, self.work.table.verbose);
        let table = verdicts::lines(store, run, layout).await.map_err(failure)?;
        writeln!(out, "{table}\n{}", lines(&status))?;
        writeln!(
            out,
            "page       {}",
            ResumeCommand::new("report", run.id, self.db)
        )?;
        match self.calls_left(status.cost.calls)? {
            Some(0) => writeln!(out, "continue   the recording ends here")?,
            left => {
                // An iteration makes one call or more.
                let more = left.map_or(DEFAULT_ITERATIONS, |left| left.min(DEFAULT_ITERATIONS));
                let total = status.iterations.saturating_add(more);
                let command = ResumeCommand::longer(run.id, self.db, self.work, total);
                writeln!(out, "continue   {command}")?;
            }
        }
        Ok(())
    }

    /// Returns the number of calls that a replayed recording can still answer.
    fn calls_left(&self, made: u64) -> Result<Option<u32>, Failure> {
        let Some(path) = &self.work.model.replay else {
            return Ok(None);
        };
        let recorded = Cassette::new(path).calls()?;
        let left = recorded.saturating_sub(made);
        Ok(Some(u32::try_from(left).unwrap_or(u32::MAX)))
    }

    fn print_resume_command(&self, run: &RunRow, session: &Session) {
        let command = ResumeCommand::resume(run.id, self.db, self.work);
        session.warn(&format!("to continue: {command}"));
    }
}
