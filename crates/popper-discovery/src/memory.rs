//! A store in memory, for tests and short experiments. The database is tested against it.

use std::collections::{BTreeMap, BTreeSet};

use popper_harness::decide::Status;

use crate::discovery::status_text;
use crate::store::{
    Attempt, AttemptFilter, CallRow, CapabilityRow, CounterexampleRow, DecisionRow, EvaluationRow,
    Iteration, IterationPlan, IterationState, LawFilter, LawRow, LawStatus, Pick, ProvedClaim,
    Query, RunRow, Store, StoreError, TestedLaw, VerdictCounts, VerdictKey,
};

/// All tables as lists; the key of a row is its number in the list, from 1.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct MemoryStore {
    /// The table `runs`.
    pub runs: Vec<RunRow>,
    /// The table `iterations`.
    pub iterations: Vec<Iteration>,
    /// The table `laws`.
    pub laws: Vec<LawRow>,
    /// The table `law_evaluations`.
    pub evaluations: Vec<EvaluationRow>,
    /// The table `counterexamples`.
    pub counterexamples: Vec<CounterexampleRow>,
    /// The table `capability_snapshots`.
    pub capabilities: Vec<CapabilityRow>,
    /// The table `llm_calls`.
    pub calls: Vec<CallRow>,
    /// The table `verdict_keys`, by law, configuration and universe.
    pub keys: BTreeMap<(String, String, String), VerdictKey>,
    /// The table `proved_claims`, by claim, configuration and universe.
    pub claims: BTreeMap<(String, String, String), ProvedClaim>,
}

/// The hashes of a law, a configuration and a universe.
type Triple = (String, String, String);

/// The key of the row that is pushed next.
fn next_id<T>(rows: &[T]) -> i64 {
    rows.len() as i64 + 1
}

fn get<T>(rows: &[T], id: i64) -> Option<&T> {
    rows.get(usize::try_from(id - 1).ok()?)
}

fn get_mut<T>(rows: &mut [T], id: i64) -> Option<&mut T> {
    rows.get_mut(usize::try_from(id - 1).ok()?)
}

/// The last `newest` rows of a list, or all of them.
fn newest<T>(mut rows: Vec<T>, newest: Option<u32>) -> Vec<T> {
    if let Some(newest) = newest {
        let skip = rows.len().saturating_sub(newest as usize);
        rows.drain(..skip);
    }
    rows
}

impl MemoryStore {
    /// The law of a run with its verdict. `None` if it has none.
    fn finding(&self, run: &RunRow, law: &LawRow) -> Option<TestedLaw> {
        let key = (
            law.law_fingerprint.clone(),
            run.harness_hash.clone(),
            run.sim_hash.clone(),
        );
        let key = self.keys.get(&key)?;
        let evaluation = get(&self.evaluations, key.evaluation_id)?;
        Some(self.attempt(law, evaluation))
    }

    fn attempt(&self, law: &LawRow, evaluation: &EvaluationRow) -> TestedLaw {
        let counterexample = evaluation.counterexample_id;
        TestedLaw {
            law: law.clone(),
            evaluation: evaluation.clone(),
            counterexample: counterexample
                .and_then(|id| get(&self.counterexamples, id))
                .cloned(),
        }
    }

    fn store(&mut self, decision: &DecisionRow, undo: &mut Undo) -> Result<(), StoreError> {
        let new = &decision.evaluation;
        let same = |row: &&EvaluationRow| {
            (row.run_id, row.law_id, row.seed) == (new.run_id, new.law_id, new.seed)
                && row.harness_config_hash == new.harness_config_hash
        };
        if let Some(stored) = self.evaluations.iter().find(same) {
            return decision.agrees_with(&stored.artifacts_json);
        }
        let id = next_id(&self.evaluations);
        let mut evaluation = EvaluationRow { id, ..new.clone() };
        if let Some(counterexample) = &decision.counterexample {
            let row = CounterexampleRow {
                id: next_id(&self.counterexamples),
                law_evaluation_id: id,
                ..counterexample.clone()
            };
            evaluation.counterexample_id = Some(row.id);
            self.counterexamples.push(row);
        }
        self.evaluations.push(evaluation);
        if let Some(law) = get_mut(&mut self.laws, new.law_id) {
            undo.laws.push((law.id, law.status));
            law.status = decision.law_status;
        }
        if let Some(key) = &decision.key {
            let key = VerdictKey {
                evaluation_id: id,
                ..key.clone()
            };
            undo.keys.extend(self.set_key(key));
        }
        if let Some(claim) = &decision.claim {
            let triple = (
                claim.claim_fingerprint.clone(),
                claim.harness_config_hash.clone(),
                claim.sim_hash.clone(),
            );
            let old = self.claims.get(&triple);
            if old.is_none_or(|old| claim.proved_h < old.proved_h) {
                let claim = ProvedClaim {
                    evaluation_id: id,
                    ..claim.clone()
                };
                let old = self.claims.insert(triple.clone(), claim);
                undo.claims.push((triple, old));
            }
        }
        Ok(())
    }

    /// Stores a key, unless it would replace that of a refutation. Returns what it replaced.
    fn set_key(&mut self, key: VerdictKey) -> Option<(Triple, Option<VerdictKey>)> {
        let triple = (
            key.law_fingerprint.clone(),
            key.harness_config_hash.clone(),
            key.sim_hash.clone(),
        );
        let old = self.keys.get(&triple);
        let old = old.and_then(|old| get(&self.evaluations, old.evaluation_id));
        if old.is_some_and(|old| old.status == Status::Fail) {
            return None;
        }
        let old = self.keys.insert(triple.clone(), key);
        Some((triple, old))
    }
}

/// The changes of a group of decisions, to be reverted.
struct Undo {
    evaluations: usize,
    counterexamples: usize,
    laws: Vec<(i64, LawStatus)>,
    keys: Vec<(Triple, Option<VerdictKey>)>,
    claims: Vec<(Triple, Option<ProvedClaim>)>,
}

impl Undo {
    fn new(store: &MemoryStore) -> Self {
        Self {
            evaluations: store.evaluations.len(),
            counterexamples: store.counterexamples.len(),
            laws: Vec::new(),
            keys: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// The latest change first.
    fn revert(self, store: &mut MemoryStore) {
        store.evaluations.truncate(self.evaluations);
        store.counterexamples.truncate(self.counterexamples);
        for (id, status) in self.laws.into_iter().rev() {
            if let Some(law) = get_mut(&mut store.laws, id) {
                law.status = status;
            }
        }
        restore(&mut store.keys, self.keys);
        restore(&mut store.claims, self.claims);
    }
}

/// Gives keys of a table the values that they had.
fn restore<V>(table: &mut BTreeMap<Triple, V>, old: Vec<(Triple, Option<V>)>) {
    for (triple, value) in old.into_iter().rev() {
        match value {
            Some(value) => table.insert(triple, value),
            None => table.remove(&triple),
        };
    }
}

impl Store for MemoryStore {
    async fn create_run(&mut self, run: &RunRow) -> Result<i64, StoreError> {
        let id = next_id(&self.runs);
        self.runs.push(RunRow { id, ..run.clone() });
        Ok(id)
    }

    async fn set_run_config(&mut self, run_id: i64, config_json: &str) -> Result<(), StoreError> {
        if let Some(run) = get_mut(&mut self.runs, run_id) {
            config_json.clone_into(&mut run.config_json);
        }
        Ok(())
    }

    async fn runs(&mut self) -> Result<Vec<RunRow>, StoreError> {
        Ok(self.runs.iter().rev().cloned().collect())
    }

    async fn iterations(&mut self, run_id: i64, pick: Pick) -> Result<Vec<Iteration>, StoreError> {
        let of_run = self.iterations.iter().filter(|row| row.run_id == run_id);
        let all: Vec<Iteration> = of_run.cloned().collect();
        Ok(match pick {
            Pick::All => all,
            Pick::Last => newest(all, Some(1)),
            Pick::Index(index) => {
                let mut all = all.into_iter();
                all.find(|row| row.iteration_index == index)
                    .into_iter()
                    .collect()
            }
        })
    }

    async fn begin_iteration(
        &mut self,
        iteration: &Iteration,
        capabilities: &CapabilityRow,
    ) -> Result<i64, StoreError> {
        let id = next_id(&self.iterations);
        self.iterations.push(Iteration {
            id,
            ..iteration.clone()
        });
        let of_run = |row: &&CapabilityRow| row.run_id == iteration.run_id;
        let last = self.capabilities.iter().rev().find(of_run);
        if last.is_none_or(|last| !last.says_the_same(capabilities)) {
            self.capabilities.push(CapabilityRow {
                id: next_id(&self.capabilities),
                iteration_id: id,
                ..capabilities.clone()
            });
        }
        Ok(id)
    }

    async fn set_iteration(
        &mut self,
        iteration_id: i64,
        state: &IterationState,
    ) -> Result<(), StoreError> {
        if let Some(row) = get_mut(&mut self.iterations, iteration_id) {
            row.status = state.status;
            row.completed_at = state.completed_at.or(row.completed_at);
            if let Some(summary_json) = &state.summary_json {
                row.summary_json = Some(summary_json.clone());
            }
        }
        Ok(())
    }

    async fn plan_iteration(&mut self, plan: &IterationPlan) -> Result<(), StoreError> {
        for law in &plan.laws {
            let id = next_id(&self.laws);
            self.laws.push(LawRow { id, ..law.clone() });
        }
        for &(id, status) in &plan.moved {
            if let Some(law) = get_mut(&mut self.laws, id) {
                law.status = status;
            }
        }
        for key in &plan.keys {
            self.set_key(key.clone());
        }
        if let Some(row) = get_mut(&mut self.iterations, plan.iteration_id) {
            row.prompt_hash.clone_from(&plan.prompt_hash);
            row.summary_json = Some(plan.summary_json.clone());
        }
        Ok(())
    }

    async fn add_call(&mut self, call: &CallRow) -> Result<(), StoreError> {
        let id = next_id(&self.calls);
        self.calls.push(CallRow { id, ..call.clone() });
        Ok(())
    }

    async fn calls(
        &mut self,
        run_id: i64,
        iteration_id: Option<i64>,
    ) -> Result<Vec<CallRow>, StoreError> {
        let wanted = |row: &&CallRow| {
            row.run_id == run_id && iteration_id.is_none_or(|id| row.iteration_id == id)
        };
        Ok(self.calls.iter().filter(wanted).cloned().collect())
    }

    async fn known_fingerprints(
        &mut self,
        run_id: i64,
        fingerprints: &[String],
    ) -> Result<BTreeSet<String>, StoreError> {
        let of_run = self.laws.iter().filter(|row| row.run_id == run_id);
        let asked = of_run.filter(|row| fingerprints.contains(&row.law_fingerprint));
        Ok(asked.map(|row| row.law_fingerprint.clone()).collect())
    }

    async fn laws(
        &mut self,
        run_id: i64,
        filter: LawFilter<'_>,
    ) -> Result<Vec<LawRow>, StoreError> {
        let of_run = self.laws.iter().filter(|row| row.run_id == run_id);
        Ok(match filter {
            LawFilter::Fingerprints(fingerprints) => of_run
                .filter(|row| fingerprints.contains(&row.law_fingerprint))
                .cloned()
                .collect(),
            LawFilter::Beginning(beginning) => of_run
                .filter(|row| row.law_fingerprint.starts_with(beginning))
                .cloned()
                .collect(),
            LawFilter::Statuses {
                statuses,
                newest: limit,
            } => {
                let wanted = of_run.filter(|row| statuses.contains(&row.status));
                newest(wanted.cloned().collect(), limit)
            }
        })
    }

    async fn known(
        &mut self,
        fingerprints: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> Result<BTreeMap<String, VerdictKey>, StoreError> {
        let key = |law: &String| {
            let triple = (law.clone(), harness_config_hash.into(), sim_hash.into());
            self.keys.get(&triple).cloned()
        };
        let found = fingerprints
            .iter()
            .filter_map(|law| key(law).map(|key| (law.clone(), key)));
        Ok(found.collect())
    }

    async fn proved_claims(
        &mut self,
        claims: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> Result<BTreeMap<String, ProvedClaim>, StoreError> {
        let proved = |claim: &String| {
            let triple = (claim.clone(), harness_config_hash.into(), sim_hash.into());
            self.claims.get(&triple).cloned()
        };
        let found = claims
            .iter()
            .filter_map(|claim| proved(claim).map(|proof| (claim.clone(), proof)));
        Ok(found.collect())
    }

    async fn attempts(&mut self, filter: AttemptFilter<'_>) -> Result<Vec<Attempt>, StoreError> {
        let made = self.evaluations.iter().filter(|row| match filter {
            AttemptFilter::Law {
                fingerprint,
                harness_config_hash,
                sim_hash,
            } => {
                row.harness_config_hash == harness_config_hash
                    && get(&self.runs, row.run_id).is_some_and(|run| run.sim_hash == sim_hash)
                    && get(&self.laws, row.law_id)
                        .is_some_and(|law| law.law_fingerprint == fingerprint)
            }
            AttemptFilter::Run {
                run_id,
                law_ids,
                harness_config_hash,
            } => {
                row.run_id == run_id
                    && law_ids.contains(&row.law_id)
                    && row.harness_config_hash == harness_config_hash
            }
        });
        Ok(made.map(Attempt::of).collect())
    }

    async fn commit(&mut self, decisions: &[DecisionRow]) -> Result<(), StoreError> {
        // All or none: a group that fails half-way is reverted.
        let mut undo = Undo::new(self);
        for decision in decisions {
            if let Err(error) = self.store(decision, &mut undo) {
                undo.revert(self);
                return Err(error);
            }
        }
        Ok(())
    }

    async fn findings(&mut self, query: Query<'_>) -> Result<Vec<TestedLaw>, StoreError> {
        Ok(match query {
            Query::Tested {
                run,
                status,
                newest: limit,
            } => {
                let tested = self
                    .laws
                    .iter()
                    .filter(|law| law.run_id == run.id && law.status == LawStatus::Tested);
                let mut found: Vec<_> = tested.filter_map(|law| self.finding(run, law)).collect();
                found.retain(|it| status.is_none_or(|status| it.evaluation.status == status));
                newest(found, limit)
            }
            Query::Attempts { run, after, limit } => {
                let of_run = self.evaluations.iter().filter(|row| row.run_id == run.id);
                let made = of_run
                    .filter(|row| row.id > after)
                    .filter_map(|row| Some(self.attempt(get(&self.laws, row.law_id)?, row)));
                made.take(limit as usize).collect()
            }
        })
    }

    async fn tally(&mut self, run: &RunRow) -> Result<VerdictCounts, StoreError> {
        let mut tally = VerdictCounts::default();
        for law in self.laws.iter().filter(|law| law.run_id == run.id) {
            *tally.laws.entry(law.status).or_default() += 1;
        }
        for finding in self.findings(Query::all(run)).await? {
            let reason = finding.evaluation.reason_code;
            let status = status_text(finding.evaluation.status).to_owned();
            *tally.verdicts.entry((status, reason)).or_default() += 1;
        }
        let made = self.evaluations.iter().filter(|row| row.run_id == run.id);
        tally.evaluations = made.count() as u64;
        Ok(tally)
    }
}

impl Attempt {
    fn of(row: &EvaluationRow) -> Self {
        Self {
            law_id: row.law_id,
            seed: row.seed,
            status: row.status,
        }
    }
}
