//! The loop: snapshot, propose, take in, rank, test, commit, and the same again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use popper_harness::decide::{Harness, Verdict};

use crate::clock::Clock;
use crate::config::{LoopConfig, RunConfig};
use crate::decision::{Period, json};
use crate::error::Error;
use crate::intake;
use crate::observer::{Event, Observer};
use crate::proposer::{Proposal, Proposer, Step};
use crate::rank::{Ranked, Ranker};
use crate::row::{
    Call, CallRow, CapabilityRow, Iteration, IterationStatus, LawRow, LawStatus, Run,
};
use crate::snapshot::{Capabilities, Contract, Snapshot};
use crate::store::{Attempt, Decision, Plan, Query, Store};
use crate::summary::{Selected, Summary, Verdicts};

/// Decisions are stored together until this many wait, ..
const GROUP_ROWS: usize = 1000;
/// .. or the first of them has waited this long. What a kill can lose is at most one such group.
const GROUP_TIME: Duration = Duration::from_millis(50);
/// Attempts after which a law that a limit on time always cuts leaves its place to others; `retest` still tries it.
const MOST_ATTEMPTS: usize = 3;
/// Tested laws that novelty is measured against, the latest ones.
const REMEMBERED: u32 = 200;

/// How a call of [`Discovery::run_to`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All iterations are complete.
    Completed,
    /// The observer stopped it; the iteration it was in, if it was in one, is marked `aborted`, and the next call goes on with it.
    Stopped,
}

/// Which run to work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The newest one with the same universe, configuration and proposer, else a new one.
    Latest,
    /// A new one.
    New,
    /// This one.
    Id(i64),
}

/// A run, ready to go on from wherever its store says it is.
pub struct Discovery<S> {
    store: S,
    harness: Harness,
    config: LoopConfig,
    clock: Arc<dyn Clock>,
    run: Run,
    ranker: Ranker,
}

impl<S: Store> Discovery<S> {
    /// Finds or begins a run.
    ///
    /// # Errors
    /// [`Error::NoRun`] and [`Error::Differs`] for a run that is not there, or is another one; a configuration out of range;
    /// whatever the store says.
    pub async fn open(
        mut store: S,
        harness: Harness,
        config: LoopConfig,
        proposer: &str,
        clock: Arc<dyn Clock>,
        which: Which,
    ) -> Result<Self, Error> {
        config.check()?;
        let asked = RunConfig::new(&harness, config.clone(), proposer.to_owned());
        let runs = store.runs().await?;
        let found = match which {
            Which::New => None,
            Which::Latest => runs
                .into_iter()
                .find(|run| differs(run, &harness, &asked).is_none()),
            Which::Id(id) => {
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
            harness,
            config,
            clock,
            run,
            ranker: Ranker::default(),
        })
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The store, for reading what the run has found.
    pub fn store(&mut self) -> &mut S {
        &mut self.store
    }

    /// Ends the work on the run and gives the store back.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Goes on until `total` iterations are complete.
    ///
    /// # Errors
    /// Those of the store and the proposer. The iteration then stays `running`; the next call goes on with it.
    pub async fn run_to(
        &mut self,
        total: u32,
        proposer: &dyn Proposer,
        observer: &mut dyn Observer,
    ) -> Result<Ended, Error> {
        loop {
            let last = self.store.last_iteration(self.run.id).await?;
            let iteration = match last {
                Some(last) if last.status != IterationStatus::Completed => last,
                Some(last) if last.iteration_index >= total => return Ok(Ended::Completed),
                None if total == 0 => return Ok(Ended::Completed),
                _ if observer.stop() => return Ok(Ended::Stopped),
                last => {
                    let index = last.map_or(0, |last| last.iteration_index) + 1;
                    self.begin_iteration(index).await?
                }
            };
            if iteration.status == IterationStatus::Aborted {
                let running = IterationStatus::Running;
                self.store.mark_iteration(iteration.id, running).await?;
            }
            let index = iteration.iteration_index;
            observer.event(Event::Iteration { index, total });
            if !self.iterate(&iteration, proposer, observer).await? {
                let aborted = IterationStatus::Aborted;
                self.store.mark_iteration(iteration.id, aborted).await?;
                return Ok(Ended::Stopped);
            }
        }
    }

    async fn begin_iteration(&mut self, index: u32) -> Result<Iteration, Error> {
        let now = self.clock.now();
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
            universe_contract_json: json(&Contract::of(self.harness.universe())),
            harness_capabilities_json: json(&Capabilities::of(&self.harness)),
            created_at: now,
        };
        let id = self
            .store
            .begin_iteration(&iteration, &capabilities)
            .await?;
        Ok(Iteration { id, ..iteration })
    }

    /// One iteration from wherever it stands. False if the observer stopped it.
    async fn iterate(
        &mut self,
        iteration: &Iteration,
        proposer: &dyn Proposer,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let mut summary = match &iteration.summary_json {
            Some(json) => {
                let summary = Error::json("iterations", iteration.id, "summary_json", json)?;
                self.take_over(iteration, summary).await?
            }
            None => match self.plan(iteration, proposer, observer).await? {
                Some(summary) => summary,
                None => return Ok(false),
            },
        };
        observer.event(Event::Planned(&summary));
        let Some(verdicts) = self.test(&summary.selected, observer).await? else {
            return Ok(false);
        };
        summary.verdicts = Some(verdicts);
        let now = self.clock.now();
        self.store
            .complete_iteration(iteration.id, now, &json(&summary))
            .await?;
        observer.event(Event::Completed(&summary));
        Ok(true)
    }

    /// Takes over what another run has decided while this iteration lay still.
    async fn take_over(
        &mut self,
        iteration: &Iteration,
        mut summary: Summary,
    ) -> Result<Summary, Error> {
        let chosen = summary.selected.iter();
        let chosen: Vec<String> = chosen.map(|law| law.law_fingerprint.clone()).collect();
        let laws = self.store.laws_by_fingerprint(self.run.id, &chosen).await?;
        let (config, universe) = (self.harness.config_hash(), self.harness.sim_hash());
        let known = self.store.known(&chosen, config, universe).await?;
        // A law that this run decided is `tested` already.
        let settled: Vec<&LawRow> = laws
            .iter()
            .filter(|law| law.status == LawStatus::Queued)
            .filter(|law| known.contains_key(&law.law_fingerprint))
            .collect();
        if settled.is_empty() {
            return Ok(summary);
        }
        for law in &settled {
            let same = |chosen: &Selected| chosen.law_fingerprint == law.law_fingerprint;
            summary.selected.retain(|chosen| !same(chosen));
            summary.known.push(law.law_fingerprint.clone());
        }
        let moved = settled.iter().map(|law| (law.id, LawStatus::Tested));
        let plan = Plan {
            iteration_id: iteration.id,
            laws: Vec::new(),
            moved: moved.collect(),
            prompt_hash: iteration.prompt_hash.clone(),
            summary_json: json(&summary),
        };
        self.store.plan_iteration(&plan).await?;
        Ok(summary)
    }

    /// Everything before the tests. None if the observer stopped it.
    async fn plan(
        &mut self,
        iteration: &Iteration,
        proposer: &dyn Proposer,
        observer: &mut dyn Observer,
    ) -> Result<Option<Summary>, Error> {
        let (run, harness, config) = (&self.run, &self.harness, &self.config);
        let snapshot = Snapshot::build(&mut self.store, run, iteration, harness, config).await?;
        let proposal = self
            .proposal(iteration, &snapshot, proposer, observer)
            .await?;
        let Some(proposal) = proposal else {
            return Ok(None);
        };
        let mut plan = self.take_in(iteration, &snapshot, &proposal).await?;
        let known = self.settle_known(&mut plan).await?;
        let (ranking, selected) = self.choose(&mut plan).await?;
        let count = |status| plan.laws.iter().filter(|law| law.status == status).count() as u64;
        let proposed = proposal.candidates.len() as u64;
        let summary = Summary {
            research_log: proposal
                .research_log
                .or_else(|| snapshot.research_log.clone()),
            snapshot,
            problem: proposal.problem,
            proposed,
            rejected: count(LawStatus::RejectedSchema),
            duplicates: proposed - plan.laws.len() as u64,
            known,
            ranking,
            selected,
            verdicts: None,
        };
        let stored = Plan {
            iteration_id: iteration.id,
            laws: plan.laws,
            moved: plan.moved,
            prompt_hash: proposal.prompt_hash,
            summary_json: json(&summary),
        };
        self.store.plan_iteration(&stored).await?;
        Ok(Some(summary))
    }

    /// Asks the proposer until it has laws, storing each call before it is read. None if the observer stopped it.
    async fn proposal(
        &mut self,
        iteration: &Iteration,
        snapshot: &Snapshot,
        proposer: &dyn Proposer,
        observer: &mut dyn Observer,
    ) -> Result<Option<Proposal>, Error> {
        let stored = self.store.calls(self.run.id, Some(iteration.id)).await?;
        let mut calls: Vec<Call> = stored.into_iter().map(|row| row.call).collect();
        loop {
            let step = proposer.propose(snapshot, self.config.propose, &calls);
            let step = match select(step, observer.stopped()).await {
                Either::Left((step, _)) => step?,
                Either::Right(_) => return Ok(None),
            };
            match step {
                Step::Proposed(proposal) => return Ok(Some(proposal)),
                Step::Called(call) => {
                    let row = CallRow {
                        id: 0,
                        run_id: self.run.id,
                        iteration_id: iteration.id,
                        turn: calls.len() as u32,
                        created_at: self.clock.now(),
                        call: *call,
                    };
                    self.store.add_call(&row).await?;
                    observer.event(Event::Called(&row.call));
                    calls.push(row.call);
                }
            }
        }
    }

    /// The rows for new proposals, and the laws that were waiting.
    async fn take_in(
        &mut self,
        iteration: &Iteration,
        snapshot: &Snapshot,
        proposal: &Proposal,
    ) -> Result<Draft, Error> {
        let language = self.harness.config().language();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut laws = Vec::new();
        for candidate in &proposal.candidates {
            let law = intake::admit(candidate, self.harness.universe(), language);
            let fingerprint = &law.law_fingerprint;
            if !snapshot.proposed.contains(fingerprint) && seen.insert(fingerprint.clone()) {
                laws.push(LawRow {
                    run_id: self.run.id,
                    created_iteration_id: iteration.id,
                    ..law
                });
            }
        }
        let statuses = [LawStatus::Proposed, LawStatus::Queued];
        let pool = Some(self.config.pool);
        let waiting = self
            .store
            .laws_by_status(self.run.id, &statuses, pool)
            .await?;
        Ok(Draft {
            laws,
            waiting,
            moved: Vec::new(),
        })
    }

    /// Marks what the database knows already as tested; answers the fingerprints.
    async fn settle_known(&mut self, plan: &mut Draft) -> Result<Vec<String>, Error> {
        let asked: Vec<String> = plan
            .candidates()
            .map(|law| law.law_fingerprint.clone())
            .collect();
        let (config, universe) = (self.harness.config_hash(), self.harness.sim_hash());
        let known = self.store.known(&asked, config, universe).await?;
        for law in &mut plan.laws {
            if known.contains_key(&law.law_fingerprint) {
                law.status = LawStatus::Tested;
            }
        }
        let (settled, waiting) = std::mem::take(&mut plan.waiting)
            .into_iter()
            .partition(|law: &LawRow| known.contains_key(&law.law_fingerprint));
        plan.waiting = waiting;
        let settled: Vec<LawRow> = settled;
        plan.moved
            .extend(settled.iter().map(|law| (law.id, LawStatus::Tested)));
        Ok(known.into_keys().collect())
    }

    /// Ranks what waits and queues the best.
    async fn choose(&mut self, plan: &mut Draft) -> Result<(Vec<Ranked>, Vec<Selected>), Error> {
        let query = Query {
            newest: Some(REMEMBERED),
            ..Query::all(&self.run)
        };
        let tested = self.store.findings(query).await?;
        let waiting: Vec<&LawRow> = plan.candidates().collect();
        let weights = &self.config.weights;
        let ranking = self
            .ranker
            .rank(&waiting, &tested, &self.harness, weights)?;
        let mut selected = Vec::new();
        for ranked in &ranking {
            if selected.len() == self.config.test {
                break;
            }
            let made = self.attempts_at(&ranked.law_fingerprint).await?;
            if made.len() < MOST_ATTEMPTS {
                selected.push(Selected {
                    law_fingerprint: ranked.law_fingerprint.clone(),
                    seed: next_seed(self.harness.config().seed, &made),
                });
            }
        }
        plan.queue(&selected);
        Ok((ranking, selected))
    }

    async fn attempts_at(&mut self, law_fingerprint: &str) -> Result<Vec<Attempt>, Error> {
        let (config, universe) = (self.harness.config_hash(), self.harness.sim_hash());
        let made = self.store.attempts_at(law_fingerprint, config, universe);
        Ok(made.await?)
    }

    /// Decides the selected laws that are not decided yet. None if the observer stopped it.
    async fn test(
        &mut self,
        selected: &[Selected],
        observer: &mut dyn Observer,
    ) -> Result<Option<Verdicts>, Error> {
        let fingerprints: Vec<String> = selected
            .iter()
            .map(|law| law.law_fingerprint.clone())
            .collect();
        let laws = self
            .store
            .laws_by_fingerprint(self.run.id, &fingerprints)
            .await?;
        let laws: BTreeMap<&str, &LawRow> = laws
            .iter()
            .map(|law| (law.law_fingerprint.as_str(), law))
            .collect();
        let ids: Vec<i64> = laws.values().map(|law| law.id).collect();
        let config = self.harness.config_hash();
        let made = self.store.attempts_of(self.run.id, &ids, config).await?;
        let mut verdicts = Verdicts::default();
        let mut group = Group::default();
        for chosen in selected {
            let Some(law) = laws.get(chosen.law_fingerprint.as_str()) else {
                continue;
            };
            let attempt = (law.id, chosen.seed);
            let before = made.iter().find(|made| (made.law_id, made.seed) == attempt);
            if let Some(made) = before {
                verdicts.count(made.status);
                continue;
            }
            if observer.stop() {
                group.commit(&mut self.store, observer).await?;
                return Ok(None);
            }
            let begun = self.clock.elapsed();
            let (decision, verdict) = self.decide(law, chosen.seed)?;
            observer.event(Event::Decided(&verdict));
            verdicts.count(verdict.status);
            group.add(decision, begun);
            if group.is_due(self.clock.elapsed()) {
                group.commit(&mut self.store, observer).await?;
            }
        }
        group.commit(&mut self.store, observer).await?;
        Ok(Some(verdicts))
    }

    /// Puts a law to the harness.
    fn decide(&self, law: &LawRow, seed: u64) -> Result<(Decision, Verdict), Error> {
        let reseeded;
        let harness = if seed == self.harness.config().seed {
            &self.harness
        } else {
            reseeded = self.harness.with_seed(seed);
            &reseeded
        };
        let parsed = law.law()?;
        let clock = self.clock.as_ref();
        let started_at = clock.now();
        let begun = clock.elapsed();
        let limit = self.config.wall_limit_ms.map(Duration::from_millis);
        let cut = AtomicBool::new(false);
        let stop = || {
            let over = limit.is_some_and(|limit| clock.elapsed().saturating_sub(begun) > limit);
            cut.fetch_or(over, Ordering::Relaxed);
            over
        };
        let mut verdict = harness.evaluate_until(&parsed, &stop);
        verdict.runtime_ms = clock.elapsed().saturating_sub(begun).as_millis() as u64;
        let period = Period {
            started_at,
            completed_at: clock.now(),
            runtime_ms: verdict.runtime_ms,
        };
        let decision = Decision::new(law, harness, &verdict, period, cut.into_inner());
        Ok((decision, verdict))
    }

    /// Tests a law of the run once more, with the next seed. Adds exactly one row.
    ///
    /// # Errors
    /// [`Error::NoLaw`] when the run has no such law; whatever the store says.
    pub async fn retest(&mut self, law_fingerprint: &str) -> Result<Verdict, Error> {
        let asked = [law_fingerprint.to_owned()];
        let laws = self.store.laws_by_fingerprint(self.run.id, &asked).await?;
        let law = laws
            .iter()
            .find(|law| law.status != LawStatus::RejectedSchema);
        let law = law.ok_or_else(|| Error::NoLaw {
            law_fingerprint: law_fingerprint.to_owned(),
        })?;
        let made = self.attempts_at(law_fingerprint).await?;
        let seed = next_seed(self.harness.config().seed, &made);
        let (decision, verdict) = self.decide(law, seed)?;
        self.store.commit(&[decision]).await?;
        Ok(verdict)
    }
}

/// What an iteration is about to store.
struct Draft {
    /// New proposals.
    laws: Vec<LawRow>,
    /// Laws of earlier iterations that are not tested yet.
    waiting: Vec<LawRow>,
    /// Changes of status of stored laws.
    moved: Vec<(i64, LawStatus)>,
}

impl Draft {
    /// The laws that could be tested.
    fn candidates(&self) -> impl Iterator<Item = &LawRow> {
        let open = |law: &&LawRow| matches!(law.status, LawStatus::Proposed | LawStatus::Queued);
        self.waiting.iter().chain(self.laws.iter().filter(open))
    }

    fn queue(&mut self, selected: &[Selected]) {
        let chosen: BTreeSet<&str> = selected
            .iter()
            .map(|selected| selected.law_fingerprint.as_str())
            .collect();
        for law in &mut self.laws {
            if law.status == LawStatus::Proposed && chosen.contains(law.law_fingerprint.as_str()) {
                law.status = LawStatus::Queued;
            }
        }
        let queued = self
            .waiting
            .iter()
            .filter(|law| chosen.contains(law.law_fingerprint.as_str()));
        self.moved
            .extend(queued.map(|law| (law.id, LawStatus::Queued)));
    }
}

/// Decisions that wait to be stored together.
#[derive(Default)]
struct Group {
    decisions: Vec<Decision>,
    since: Duration,
}

impl Group {
    fn add(&mut self, decision: Decision, begun: Duration) {
        if self.decisions.is_empty() {
            self.since = begun;
        }
        self.decisions.push(decision);
    }

    fn is_due(&self, now: Duration) -> bool {
        self.decisions.len() >= GROUP_ROWS || now.saturating_sub(self.since) >= GROUP_TIME
    }

    async fn commit(
        &mut self,
        store: &mut impl Store,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        if !self.decisions.is_empty() {
            store.commit(&self.decisions).await?;
            self.decisions.clear();
            observer.event(Event::Committed);
        }
        Ok(())
    }
}

/// The first seed from the configuration's on that no attempt has had.
fn next_seed(first: u64, made: &[Attempt]) -> u64 {
    let mut seed = first;
    while made.iter().any(|attempt| attempt.seed == seed) {
        seed = seed.wrapping_add(1);
    }
    seed
}

/// Why a run cannot go on as asked.
fn differs(run: &Run, harness: &Harness, asked: &RunConfig) -> Option<Error> {
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
        let asked = intake::sha256(&json(asked));
        error("configuration", &intake::sha256(&run.config_json), &asked)
    }
}

async fn begin(
    store: &mut impl Store,
    harness: &Harness,
    config: &RunConfig,
    clock: &dyn Clock,
) -> Result<Run, Error> {
    let run = Run {
        id: 0,
        created_at: clock.now(),
        universe_id: harness.universe().id().to_owned(),
        sim_hash: harness.sim_hash().to_owned(),
        harness_hash: harness.config_hash().to_owned(),
        discovery_model_id: config.proposer.clone(),
        tester_model_id: None,
        config_json: json(config),
    };
    let id = store.create_run(&run).await?;
    Ok(Run { id, ..run })
}
