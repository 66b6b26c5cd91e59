//! The loop of a run: snapshot, proposals, ranking, tests, decisions.

use std::sync::Arc;

use llm_types::Clock;
use popper_harness::decide::{Harness, Verdict};
use popper_harness::universe::Universe as _;

use super::decision::{json, timestamp};
use super::observer::{Event, Observer, Unobserved};
use super::plan::next_seed;
use crate::error::{Error, EvaluatorError};
use crate::evaluator::{Evaluator, LocalEvaluator};
use crate::rank::{Ranker, sha256};
use crate::snapshot::{Capabilities, LoopConfig, Proposer, RunConfig, UniverseContract};
use crate::store::{
    CapabilityRow, Iteration, IterationState, IterationStatus, LawFilter, LawStatus, Pick, RunRow,
    Store,
};

/// The end of a call of [`Discovery::run_to`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a run is complete or stopped")]
pub enum RunEnd {
    /// All iterations are complete.
    Completed,
    /// The observer stopped the run. An open iteration is marked `aborted`, and the next call continues it.
    Stopped,
}

/// The run to work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunSelector {
    /// The newest run with the same universe, configuration and proposer, or a new run if there is none.
    Latest,
    /// A new run.
    New,
    /// The run with this id.
    Id(i64),
}

/// A run, ready to continue from the state of its store.
///
/// `E` decides the laws: [`LocalEvaluator`] unless [`Self::with_evaluator`] says otherwise.
pub struct Discovery<S, E = LocalEvaluator> {
    pub(super) store: S,
    pub(super) evaluator: E,
    pub(super) harness: Harness,
    pub(super) config: LoopConfig,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) run: RunRow,
    pub(super) ranker: Ranker,
}

impl<S: Store> Discovery<S> {
    /// Finds a run, or begins a new one.
    ///
    /// # Errors
    /// [`Error::NoRun`] and [`Error::Differs`] for a run that does not exist, or differs; a configuration out of range;
    /// errors of the store.
    pub async fn open(
        mut store: S,
        harness: Harness,
        config: LoopConfig,
        proposer: &str,
        clock: Arc<dyn Clock>,
        which: RunSelector,
    ) -> Result<Self, Error> {
        config.check()?;
        let asked = RunConfig::new(&harness, config.clone(), proposer.to_owned());
        let runs = store.runs().await?;
        let found = match which {
            RunSelector::New => None,
            RunSelector::Latest => runs
                .into_iter()
                .find(|run| differs(run, &harness, &asked).is_none()),
            RunSelector::Id(id) => {
                let run = runs.into_iter().find(|run| run.id == id);
                let run = run.ok_or(Error::NoRun { id })?;
                if let Some(error) = differs(&run, &harness, &asked) {
                    return Err(error);
                }
                Some(run)
            }
        };
        let run = match found {
            Some(run) => run,
            None => begin(&mut store, &harness, &asked, clock.as_ref()).await?,
        };
        Ok(Self {
            store,
            evaluator: LocalEvaluator::default(),
            harness,
            config,
            clock,
            run,
            ranker: Ranker::default(),
        })
    }
}

impl<S: Store, E: Evaluator> Discovery<S, E> {
    /// Decides laws with another evaluator.
    pub fn with_evaluator<O: Evaluator>(self, evaluator: O) -> Discovery<S, O> {
        Discovery {
            store: self.store,
            evaluator,
            harness: self.harness,
            config: self.config,
            clock: self.clock,
            run: self.run,
            ranker: self.ranker,
        }
    }

    /// Returns the row of the run.
    pub fn run(&self) -> &RunRow {
        &self.run
    }

    /// Returns the store, to read the findings of the run.
    pub fn store(&mut self) -> &mut S {
        &mut self.store
    }

    /// Ends the work on the run and returns the store.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Ends the work on the run and returns the store and the evaluator.
    pub fn into_parts(self) -> (S, E) {
        (self.store, self.evaluator)
    }

    /// Continues until `total` iterations are complete, and stores this number in the row of the run. The default evaluator blocks the
    /// thread that polls this future: use a separate thread.
    ///
    /// # Errors
    /// Those of the store and the proposer. The iteration then stays `running`; the next call continues it.
    pub async fn run_to(
        &mut self,
        total: u32,
        proposer: &dyn Proposer,
        observer: &mut dyn Observer,
    ) -> Result<RunEnd, Error> {
        self.keep_iterations(total).await?;
        loop {
            let last = self.store.iterations(self.run.id, Pick::Last).await?.pop();
            let iteration = match last {
                Some(last) if last.status != IterationStatus::Completed => last,
                Some(last) if last.iteration_index >= total => return Ok(RunEnd::Completed),
                None if total == 0 => return Ok(RunEnd::Completed),
                _ if observer.stop() => return Ok(RunEnd::Stopped),
                last => {
                    let index = last.map_or(0, |last| last.iteration_index) + 1;
                    self.begin_iteration(index).await?
                }
            };
            if iteration.status == IterationStatus::Aborted {
                self.set_iteration(&iteration, IterationStatus::Running)
                    .await?;
            }
            let index = iteration.iteration_index;
            observer.event(Event::Iteration { index, total });
            if !self.iterate(&iteration, proposer, observer).await? {
                self.set_iteration(&iteration, IterationStatus::Aborted)
                    .await?;
                return Ok(RunEnd::Stopped);
            }
        }
    }

    async fn keep_iterations(&mut self, total: u32) -> Result<(), Error> {
        let run = &mut self.run;
        let mut config: RunConfig = Error::json("runs", run.id, "config_json", &run.config_json)?;
        if config.iterations.replace(total) != Some(total) {
            let config_json = json(&config);
            self.store.set_run_config(run.id, &config_json).await?;
            run.config_json = config_json;
        }
        Ok(())
    }

    async fn set_iteration(
        &mut self,
        iteration: &Iteration,
        status: IterationStatus,
    ) -> Result<(), Error> {
        let state = IterationState::new(status);
        Ok(self.store.set_iteration(iteration.id, &state).await?)
    }

    async fn begin_iteration(&mut self, index: u32) -> Result<Iteration, Error> {
        let now = timestamp(&*self.clock);
        let iteration = Iteration {
            id: 0,
            run_id: self.run.id,
            iteration_index: index,
            started_at: now,
            completed_at: None,
            status: IterationStatus::Running,
            prompt_hash: None,
            summary_json: None,
        };
        let capabilities = CapabilityRow {
            id: 0,
            run_id: self.run.id,
            iteration_id: 0,
            universe_contract_json: json(&UniverseContract::of(self.harness.universe())),
            harness_capabilities_json: json(&Capabilities::of(&self.harness)),
            created_at: now,
        };
        let id = self
            .store
            .begin_iteration(&iteration, &capabilities)
            .await?;
        Ok(Iteration { id, ..iteration })
    }

    /// Runs or continues an iteration. Returns `false` if the observer stopped it.
    async fn iterate(
        &mut self,
        iteration: &Iteration,
        proposer: &dyn Proposer,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let mut summary = match &iteration.summary_json {
            Some(json) => {
                let summary = Error::json("iterations", iteration.id, "summary_json", json)?;
                self.adopt_open_iteration(iteration, summary, observer)
                    .await?
            }
            None => match self.plan(iteration, proposer, observer).await? {
                Some(summary) => summary,
                None => return Ok(false),
            },
        };
        observer.event(Event::Planned(&summary));
        let Some(verdicts) = self.test(iteration.id, &summary.selected, observer).await? else {
            return Ok(false);
        };
        summary.verdicts = Some(verdicts);
        let completed = IterationState::completed(timestamp(&*self.clock), json(&summary));
        self.store.set_iteration(iteration.id, &completed).await?;
        observer.event(Event::Completed(&summary));
        Ok(true)
    }

    /// Tests a law of the run once more, with the next seed, and adds exactly one row. The test blocks the thread, as in
    /// [`Self::run_to`].
    ///
    /// # Errors
    /// [`Error::NoLaw`] if the run has no such law; errors of the store.
    pub async fn retest(&mut self, law_fingerprint: &str) -> Result<Verdict, Error> {
        let asked = [law_fingerprint.to_owned()];
        let laws = self
            .store
            .laws(self.run.id, LawFilter::Fingerprints(&asked))
            .await?;
        let law = laws
            .iter()
            .find(|law| law.status != LawStatus::RejectedSchema);
        let law = law.ok_or_else(|| Error::NoLaw {
            law_fingerprint: law_fingerprint.to_owned(),
        })?;
        let made = self.attempts_at(law_fingerprint).await?;
        let seed = next_seed(self.harness.config().seed, &made);
        let mut made = None;
        self.decide(None, &[(law, seed)], &mut Unobserved, |verdict| {
            made = Some(verdict.clone());
        })
        .await?;
        // Every law of the batch has its verdict unless an observer stopped it.
        made.ok_or_else(|| {
            Error::from(EvaluatorError::Incomplete {
                outcomes: 0,
                laws: 1,
            })
        })
    }
}

/// Returns the error if a run cannot continue under a configuration.
fn differs(run: &RunRow, harness: &Harness, asked: &RunConfig) -> Option<Error> {
    let error = |what, stored: &str, asked: &str| {
        Some(Error::Differs {
            id: run.id,
            what,
            stored: stored.to_owned(),
            asked: asked.to_owned(),
        })
    };
    if run.sim_hash != harness.sim_hash() {
        return error("universe", &run.sim_hash, harness.sim_hash());
    }
    if run.harness_hash != harness.config_hash() {
        return error("configuration", &run.harness_hash, harness.config_hash());
    }
    if run.discovery_model_id != asked.proposer {
        return error("proposer", &run.discovery_model_id, &asked.proposer);
    }
    let stored: Option<RunConfig> = serde_json::from_str(&run.config_json).ok();
    if stored.is_some_and(|stored| stored.continues(asked)) {
        None
    } else {
        let asked = sha256(&json(asked));
        error("configuration", &sha256(&run.config_json), &asked)
    }
}

async fn begin(
    store: &mut impl Store,
    harness: &Harness,
    config: &RunConfig,
    clock: &dyn Clock,
) -> Result<RunRow, Error> {
    let run = RunRow {
        id: 0,
        created_at: timestamp(clock),
        universe_id: harness.universe().id().to_owned(),
        sim_hash: harness.sim_hash().to_owned(),
        harness_hash: harness.config_hash().to_owned(),
        discovery_model_id: config.proposer.clone(),
        tester_model_id: None,
        config_json: json(config),
    };
    let id = store.create_run(&run).await?;
    Ok(RunRow { id, ..run })
}
