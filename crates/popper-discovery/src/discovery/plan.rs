//! The plan of an iteration: proposals, validation, ranking, selection. All of it becomes durable in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{BoxFuture, Either, FutureExt as _, select};

use super::decision::{json, timestamp};
use super::observer::{Event, Observer};
use super::pool::Pool;
use super::run_loop::Discovery;
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::rank::{Ranked, TimelessClaim, validate_proposal};
use crate::snapshot::{
    Proposal, Proposer, Selected, ShownLaws, Snapshot, Step, StoredLaws, Summary,
};
use crate::store::{
    Attempt, AttemptFilter, CallRow, Iteration, IterationPlan, LawFilter, LawRow, LawStatus,
    ModelCallRow, Query, Store, StoreError, VerdictKey,
};

/// Attempts after which a law that always reaches a limit on time is not selected again. `retest` still tests it.
const MOST_ATTEMPTS: usize = 3;
/// Ranked laws that a summary keeps, the best ones.
const RANKED: usize = 50;
/// Tested laws that novelty is measured against, the latest ones.
const REMEMBERED: u32 = 200;

impl<S: Store, E: Evaluator> Discovery<S, E> {
    /// Continues an open iteration: removes the laws that another run has decided meanwhile, and those that cannot be read any more.
    pub(super) async fn adopt_open_iteration(
        &mut self,
        iteration: &Iteration,
        mut summary: Summary,
        observer: &mut dyn Observer,
    ) -> Result<Summary, Error> {
        let chosen = summary.selected.iter();
        let chosen: Vec<String> = chosen.map(|law| law.law_fingerprint.clone()).collect();
        let laws = self
            .store
            .laws(self.run.id, LawFilter::Fingerprints(&chosen))
            .await?;
        let (config, universe) = (self.harness.config_hash(), self.harness.sim_hash());
        let known = self.store.known(&chosen, config, universe).await?;
        // A law that this run decided is `tested` already.
        let mut moved = Vec::new();
        for law in laws.iter().filter(|law| law.status == LawStatus::Queued) {
            let status = if known.contains_key(&law.law_fingerprint) {
                summary.known.push(law.law_fingerprint.clone());
                LawStatus::Tested
            } else if let Err(error) = law.law() {
                observer.event(Event::Unreadable { law, error: &error });
                LawStatus::RejectedSchema
            } else {
                continue;
            };
            let same = |chosen: &Selected| chosen.law_fingerprint == law.law_fingerprint;
            summary.selected.retain(|chosen| !same(chosen));
            moved.push((law.id, status));
        }
        if moved.is_empty() {
            return Ok(summary);
        }
        let plan = IterationPlan {
            iteration_id: iteration.id,
            laws: Vec::new(),
            moved,
            keys: Vec::new(),
            prompt_hash: iteration.prompt_hash.clone(),
            summary_json: json(&summary),
        };
        self.store.plan_iteration(&plan).await?;
        Ok(summary)
    }

    /// Makes the plan of an iteration. `None` if the observer stopped it.
    pub(super) async fn plan(
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
        let mut plan = self.take_in(iteration, &proposal).await?;
        let known = self.skip_known_laws(&mut plan).await?;
        let (mut ranking, selected) = self.choose(&mut plan, observer).await?;
        ranking.truncate(RANKED);
        let count = |status| plan.laws.iter().filter(|law| law.status == status).count() as u64;
        let proposed = proposal.candidates.len() as u64;
        let summary = Summary {
            research_log: proposal
                .research_log
                .or_else(|| snapshot.research_log.clone()),
            snapshot: ShownLaws::of(&snapshot),
            problem: proposal.problem,
            cursor: proposal.cursor,
            proposed,
            rejected: count(LawStatus::RejectedSchema),
            duplicates: proposed - plan.laws.len() as u64,
            known,
            ranking,
            selected,
            verdicts: None,
        };
        let stored = IterationPlan {
            iteration_id: iteration.id,
            laws: plan.laws,
            moved: plan.moved,
            keys: plan.keys,
            prompt_hash: proposal.prompt_hash,
            summary_json: json(&summary),
        };
        self.store.plan_iteration(&stored).await?;
        Ok(Some(summary))
    }

    /// Asks the proposer until the proposal is complete, and stores each call before it is read. `None` if the observer stopped it.
    async fn proposal(
        &mut self,
        iteration: &Iteration,
        snapshot: &Snapshot,
        proposer: &dyn Proposer,
        observer: &mut dyn Observer,
    ) -> Result<Option<Proposal>, Error> {
        let stored = self.store.calls(self.run.id, Some(iteration.id)).await?;
        let mut calls: Vec<ModelCallRow> = stored.into_iter().map(|row| row.call).collect();
        loop {
            let (store, run_id) = (&mut self.store, self.run.id);
            let mut stored = LawsOfRun { store, run_id };
            let step = proposer.propose(snapshot, self.config.propose, &calls, &mut stored);
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
                        created_at: timestamp(&*self.clock),
                        call: *call,
                    };
                    self.store.add_call(&row).await?;
                    observer.event(Event::Called(&row.call));
                    calls.push(row.call);
                }
            }
        }
    }

    /// Returns the rows for new proposals, and the laws that were waiting.
    async fn take_in(&mut self, iteration: &Iteration, proposal: &Proposal) -> Result<Pool, Error> {
        let language = self.harness.config().language();
        let candidates = proposal.candidates.iter();
        let mut laws: Vec<LawRow> = candidates
            .map(|candidate| LawRow {
                run_id: self.run.id,
                created_iteration_id: iteration.id,
                ..validate_proposal(candidate, language)
            })
            .collect();
        let asked: Vec<String> = laws.iter().map(|law| law.law_fingerprint.clone()).collect();
        let mut seen = self.store.known_fingerprints(self.run.id, &asked).await?;
        let again: Vec<String> = seen.iter().cloned().collect();
        // A law that comes twice is new once.
        laws.retain(|law| seen.insert(law.law_fingerprint.clone()));
        self.pool(laws, &again).await
    }

    /// Marks the laws whose verdict the database has, or that a proof in it decides, as tested. Returns their fingerprints.
    async fn skip_known_laws(&mut self, plan: &mut Pool) -> Result<Vec<String>, Error> {
        let asked: Vec<String> = plan
            .candidates()
            .map(|law| law.law_fingerprint.clone())
            .collect();
        let (config, universe) = (self.harness.config_hash(), self.harness.sim_hash());
        let mut known = self.store.known(&asked, config, universe).await?;
        plan.keys = self.proved(plan, &known).await?;
        let proved = plan.keys.iter().cloned();
        known.extend(proved.map(|key| (key.law_fingerprint.clone(), key)));
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

    /// Returns a key for each law that is not known and differs from a proved one in T alone, or in T and a greater H.
    async fn proved(
        &mut self,
        plan: &Pool,
        known: &BTreeMap<String, VerdictKey>,
    ) -> Result<Vec<VerdictKey>, Error> {
        let is_new = |law: &&LawRow| !known.contains_key(&law.law_fingerprint);
        // A row that is damaged is missing here; the loop reports it when it ranks.
        let claims = plan.candidates().filter(is_new).filter_map(|row| {
            let law = self.ranker.law(row).ok()?;
            Some((row, TimelessClaim::of(law.normal())))
        });
        let claims: Vec<(&LawRow, TimelessClaim)> = claims.collect();
        let asked = claims.iter().map(|(_, claim)| claim.fingerprint.clone());
        let asked: Vec<String> = asked.collect();
        let (config, universe) = (self.harness.config_hash(), self.harness.sim_hash());
        let proved = self.store.proved_claims(&asked, config, universe).await?;
        let keys = claims.into_iter().filter_map(|(law, claim)| {
            let proof = proved.get(&claim.fingerprint)?;
            (proof.proved_h <= claim.h).then(|| proof.decides(law.law_fingerprint.clone()))
        });
        Ok(keys.collect())
    }

    /// Ranks the waiting laws and queues the best ones.
    async fn choose(
        &mut self,
        plan: &mut Pool,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Ranked>, Vec<Selected>), Error> {
        let query = Query::newest(&self.run, None, REMEMBERED);
        let mut tested = self.store.findings(query).await?;
        let (ranker, harness, moved) = (&mut self.ranker, &self.harness, &mut plan.moved);
        let mut is_law = |law: &LawRow| match ranker.read(law, harness) {
            Ok(()) => true,
            Err(error) => {
                observer.event(Event::Unreadable { law, error: &error });
                moved.push((law.id, LawStatus::RejectedSchema));
                false
            }
        };
        tested.retain(|finding| is_law(&finding.law));
        plan.waiting.retain(is_law);
        let waiting: Vec<&LawRow> = plan.candidates().collect();
        let weights = &self.config.weights;
        let ranking = self
            .ranker
            .rank(&waiting, &tested, &self.harness, weights)?;
        let mut selected = Vec::new();
        let mut given_up = BTreeSet::new();
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
            } else {
                given_up.insert(ranked.law_fingerprint.as_str());
            }
        }
        plan.settle(&ranking, &selected, &given_up, &self.config);
        Ok((ranking, selected))
    }

    pub(super) async fn attempts_at(
        &mut self,
        law_fingerprint: &str,
    ) -> Result<Vec<Attempt>, Error> {
        let filter = AttemptFilter::Law {
            fingerprint: law_fingerprint,
            harness_config_hash: self.harness.config_hash(),
            sim_hash: self.harness.sim_hash(),
        };
        Ok(self.store.attempts(filter).await?)
    }
}

/// The laws of a run in its store.
struct LawsOfRun<'a, S> {
    store: &'a mut S,
    run_id: i64,
}

impl<S: Store> StoredLaws for LawsOfRun<'_, S> {
    fn known<'a>(
        &'a mut self,
        fingerprints: &'a [String],
    ) -> BoxFuture<'a, Result<BTreeSet<String>, StoreError>> {
        self.store
            .known_fingerprints(self.run_id, fingerprints)
            .boxed()
    }
}

/// Returns the first unused seed, counted from the seed of the configuration.
pub(super) fn next_seed(first: u64, made: &[Attempt]) -> u64 {
    let mut seed = first;
    while made.iter().any(|attempt| attempt.seed == seed) {
        seed = seed.wrapping_add(1);
    }
    seed
}
