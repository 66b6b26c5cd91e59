//! The work on a run that `popper run` and `popper resume` share.

use std::fs;
use std::future::pending;
use std::io::Write as _;
use std::sync::Arc;

use bin_support::model::BatchLines;
use bin_support::{Exit, Failure, Interrupt, Session};
use llm_client::batch::{BatchCalls, BatchOptions, Progress};
use llm_client::error::Amount;
use llm_client::{Cassette, Client, Clock, ErrorKind, Usd};
use popper_discovery::status::RunStatus;
use popper_discovery::store::{RunCost, RunRow};
use popper_discovery::{
    Discovery, Error, EvaluatorError, ProposeError, Proposer, RunEnd, RunSelector,
};
use popper_store::{Access, AnyDatabase};
use work_queue::Patience;

use super::coordinator::{self, OwnWorker, RunEvaluator};
use super::database::{self, COORDINATOR, failure, spoken};
use super::patience::{is_lost, patiently};
use super::progress::ProgressObserver;
use super::proposer::{self, Chosen};
use super::resume_command::ResumeCommand;
use super::run_status::{lines, with_spend};
use super::settings::Settings;
use super::verdicts::RunVerdicts;
use crate::flags::{DEFAULT_ITERATIONS, RunOptions};
use crate::location::StoreLocation;
use crate::{error, input, json};

/// Continues a run with the configuration in its row.
pub async fn resume(
    location: &StoreLocation,
    asked: Option<&str>,
    work: &RunOptions,
    session: &mut Session,
) -> Result<Exit, Failure> {
    check(location, work)?;
    let timing = work.fleet.timing.timing();
    let interrupt = Interrupt::on_signals()?;
    let access = Access::WriteExisting;
    let opened = database::open_patiently(location, access, &timing, &interrupt).await?;
    let Some((store, runs)) = opened else {
        return Ok(interrupted_early(session));
    };
    let run = database::pick(runs, asked, session)?;
    let stored = database::config(&run)?;
    let settings = Settings::new(work, Some(&stored))?;
    let id = Some(run.discovery_model_id.as_str());
    let chosen = proposer::choose(work, id, &settings, session)?;
    let job = Job {
        location,
        work,
        which: RunSelector::Id(run.id),
        interrupt,
    };
    job.run(store, settings, chosen, session).await
}

/// Refuses flags that do not fit the place of the run, and to record model calls into its database.
pub fn check(location: &StoreLocation, work: &RunOptions) -> Result<(), Failure> {
    work.check(location)?;
    let record = work.model.record.as_ref();
    record.map_or(Ok(()), |record| location.refuse_output(record))
}

/// A run that is to be worked on.
pub struct Job<'a> {
    pub location: &'a StoreLocation,
    pub work: &'a RunOptions,
    pub which: RunSelector,
    pub interrupt: Interrupt,
}

/// Ends a command that a signal reached before its run was open. The same command continues it.
pub fn interrupted_early(session: &Session) -> Exit {
    session.warn("interrupted: the run was not open yet; the same command opens it");
    Exit::Interrupted
}

impl Job<'_> {
    pub async fn run(
        &self,
        store: AnyDatabase,
        settings: Settings,
        chosen: Chosen,
        session: &mut Session,
    ) -> Result<Exit, Failure> {
        let (proposer, client) = (chosen.proposer, chosen.client);
        let clock: Arc<dyn Clock> = chosen.clock;
        let Settings { harness, discovery } = settings;
        let timing = self.work.fleet.timing.timing();
        let mut store = Some(store);
        let opened = patiently(&timing, async || {
            let mut store = match store.take() {
                Some(store) => store,
                None => {
                    self.location
                        .open(COORDINATOR, Access::WriteExisting)
                        .await?
                }
            };
            store
                .lock(harness.sim_hash(), harness.config_hash())
                .await?;
            let harness = harness.with_seed(harness.config().seed);
            let discovery = discovery.clone();
            let clock = Arc::clone(&clock);
            Discovery::open(store, harness, discovery, proposer.id(), clock, self.which).await
        });
        let interrupt = self.interrupt.clone();
        let mut discovery = tokio::select! {
            opened = opened => opened.map_err(failure)?,
            () = interrupt.raised() => return Ok(interrupted_early(session)),
        };
        let run = discovery.run().clone();
        let total = self.work.total(Some(&database::config(&run)?));
        let cost = patiently(&timing, async || {
            Ok(RunCost::read(discovery.store(), run.id).await?)
        });
        let cost = tokio::select! {
            cost = cost => cost.map_err(failure)?,
            () = interrupt.raised() => return Ok(self.interrupted(&run, session)),
        };
        if let Some(client) = &client {
            self.keep_ledger(client, run.id, &cost)?;
        }
        let calls = client.map(|client| self.batches(&client, run.id));
        let calls = calls.transpose()?.flatten();
        session.status(&format!("writing to {}", self.location));
        // Before a worker of this process has jobs, and while the server may be away.
        let (evaluator, mut own) = tokio::select! {
            opened = coordinator::open(self.location, run.id, &self.work.fleet, session) => opened?,
            () = interrupt.raised() => return Ok(self.interrupted(&run, session)),
        };
        let mut discovery = discovery.with_evaluator(evaluator);
        let mut watch = ProgressObserver::new(session.progress.clone(), interrupt, cost);
        let work = self.work(
            &mut discovery,
            total,
            proposer.as_ref(),
            &mut watch,
            &mut own,
        );
        let ended = answered(calls, work, session).await;
        drop(watch);
        if let Err(Error::Evaluate(EvaluatorError::Other(error))) = &ended
            && let Some(error) = error.downcast_ref()
        {
            coordinator::abort_if_stuck(error, session);
        }
        own.stop().await;
        let (mut store, evaluator) = discovery.into_parts();
        let exit = match ended {
            Ok(RunEnd::Completed) => {
                self.conclude(&run, &mut store, session).await?;
                evaluator.finish(run.id, session).await;
                Exit::Done
            }
            Ok(RunEnd::Stopped) => self.interrupted(&run, session),
            Err(error) => {
                let is_connected = !is_lost(&error);
                let exit = match error {
                    Error::Propose(ProposeError::Budget(_)) => Exit::Interrupted,
                    _ => Exit::Failed,
                };
                if let Some((cap, spent)) = reached_cap(&error) {
                    let command = ResumeCommand::dearer(run.id, self.location, self.work, cap);
                    session.warn(&format!(
                        "cost cap of {cap} reached ({spent} spent); continue with: {command}"
                    ));
                } else {
                    session.report(failure(error).error());
                    self.print_resume_command(&run, session);
                }
                if is_connected {
                    // The lock is free before this process ends. A store that failed has said so.
                    let _closed = store.close().await;
                }
                return Ok(exit);
            }
        };
        match store.close().await.map_err(Error::from) {
            // On a server there is nothing left to do.
            Err(error) if is_lost(&error) => {}
            // Of a file, one is left, which can be copied as it is.
            closed => closed.map_err(failure)?,
        }
        Ok(exit)
    }

    /// Works on the run until it ends, through lost connections: the committed rows are read again.
    async fn work(
        &self,
        discovery: &mut Discovery<AnyDatabase, RunEvaluator>,
        total: u32,
        proposer: &dyn Proposer,
        watch: &mut ProgressObserver,
        own: &mut OwnWorker,
    ) -> Result<RunEnd, Error> {
        let mut patience = Patience::new(&self.work.fleet.timing.timing());
        let interrupt = watch.interrupt();
        loop {
            let ended = tokio::select! {
                // A large future.
                ended = Box::pin(discovery.run_to(total, proposer, watch)) => ended,
                error = own.failed() => Err(error.into()),
            };
            let error = match ended {
                Err(error) if is_lost(&error) => error,
                ended => return ended,
            };
            if watch.take_progress() {
                patience.restore();
            }
            tracing::warn!("{}; trying again", spoken(&error));
            tokio::select! {
                () = interrupt.raised() => return Ok(RunEnd::Stopped),
                is_patient = patience.wait() => if !is_patient {
                    return Err(error);
                }
            }
        }
    }

    /// Keeps the cost in a file, since the cap is the run's, over all its processes. On a server another machine, or another folder,
    /// may have the file.
    fn keep_ledger(&self, client: &Client, run_id: i64, cost: &RunCost) -> Result<(), Failure> {
        if let Some(folder) = self.location.ledger_path().parent() {
            fs::create_dir_all(folder)?;
        }
        let ledger = self.location.ledger(run_id);
        let spent = ledger.spent().map_err(Failure::usage)?;
        let stored = Usd(cost.nano_usd.unwrap_or_default());
        if self.location.server().is_some() && spent.usd.0 < stored.0 {
            return Err(Failure::usage(error::Error::OtherLedger {
                name: input::name(ledger.path()),
                spent: spent.usd,
                stored,
            }));
        }
        client.keep_ledger(&ledger).map_err(Failure::usage)
    }

    /// The batches that the calls of a run go in, if a flag says so or the run was begun so.
    fn batches(&self, client: &Client, run_id: i64) -> Result<Option<BatchCalls>, Failure> {
        let spool = self.location.spool(run_id);
        let is_replayed = self.work.model.replay.is_some();
        if is_replayed || !self.work.half_price && !spool.exists() {
            return Ok(None);
        }
        let calls = BatchCalls::open(&spool, BatchOptions::new(client.clone()));
        calls.map(Some).map_err(Failure::usage)
    }

    /// Prints the result of the run and the next commands.
    async fn conclude(
        &self,
        run: &RunRow,
        store: &mut AnyDatabase,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let timing = self.work.fleet.timing.timing();
        let read = patiently(&timing, async || {
            let status = RunStatus::read(store, run).await?;
            Ok((status, RunVerdicts::read(store, run).await?))
        });
        let (status, verdicts) = read.await.map_err(failure)?;
        let status = with_spend(status, self.location)?;
        let out = &mut session.results;
        if self.work.json {
            return Ok(json::print(&status, out)?);
        }
        writeln!(out, "{}\n", verdicts.lead(&status))?;
        let table = verdicts.text(out);
        writeln!(out, "{table}\n{}", lines(&status))?;
        writeln!(
            out,
            "page       {}",
            ResumeCommand::new("report", run.id, self.location)
        )?;
        match self.calls_left(status.cost.calls)? {
            Some(0) => writeln!(out, "continue   the recording ends here")?,
            left => {
                // An iteration makes one call or more.
                let more = left.map_or(DEFAULT_ITERATIONS, |left| left.min(DEFAULT_ITERATIONS));
                let total = status.iterations.saturating_add(more);
                let command = ResumeCommand::longer(run.id, self.location, self.work, total);
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

    fn interrupted(&self, run: &RunRow, session: &Session) -> Exit {
        session.warn("interrupted: finished work is kept");
        self.print_resume_command(run, session);
        Exit::Interrupted
    }

    fn print_resume_command(&self, run: &RunRow, session: &Session) {
        let command = ResumeCommand::resume(run.id, self.location, self.work);
        session.warn(&format!("to continue: {command}"));
    }
}

/// Waits for `work`, whose calls go in batches if there are `calls`. An interruption ends the work, and the calls with it.
async fn answered<T>(
    calls: Option<BatchCalls>,
    work: impl Future<Output = T>,
    session: &Session,
) -> T {
    let Some(calls) = calls else {
        return work.await;
    };
    let mut lines = BatchLines::default();
    let tell = |progress: &Progress| lines.tell(progress, session);
    calls.run(work, pending(), tell).await
}

/// Returns the cap in dollars that ended a run, and the amount spent.
fn reached_cap(error: &Error) -> Option<(Usd, Usd)> {
    let Error::Propose(ProposeError::Budget(error)) = error else {
        return None;
    };
    match error.downcast_ref::<llm_client::Error>()?.kind() {
        ErrorKind::BudgetExceeded {
            cap: Amount::Usd(cap),
            spent: Amount::Usd(spent),
            ..
        } => Some((*cap, *spent)),
        _ => None,
    }
}
