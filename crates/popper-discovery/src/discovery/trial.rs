//! The tests of an iteration: the harness decides laws, and decisions are stored in small groups.

use std::collections::BTreeMap;
use std::time::Duration;

use popper_harness::decide::Verdict;

use super::decision::{Period, timestamp};
use super::observer::{Event, Observer};
use super::run_loop::Discovery;
use crate::error::Error;
use crate::snapshot::{Selected, Verdicts};
use crate::store::{AttemptFilter, DecisionRow, LawFilter, LawRow, Store};

/// The most decisions of a group.
const GROUP_ROWS: usize = 1000;
/// The longest time that a decision waits to be stored. A kill loses at most one group.
const GROUP_TIME: Duration = Duration::from_millis(50);

impl<S: Store> Discovery<S> {
    /// Decides the selected laws that are not decided yet. `None` if the observer stopped it.
    pub(super) async fn test(
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
            .laws(self.run.id, LawFilter::Fingerprints(&fingerprints))
            .await?;
        let laws: BTreeMap<&str, &LawRow> = laws
            .iter()
            .map(|law| (law.law_fingerprint.as_str(), law))
            .collect();
        let ids: Vec<i64> = laws.values().map(|law| law.id).collect();
        let filter = AttemptFilter::Run {
            run_id: self.run.id,
            law_ids: &ids,
            harness_config_hash: self.harness.config_hash(),
        };
        let made = self.store.attempts(filter).await?;
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

    /// Evaluates a law in the harness.
    pub(super) fn decide(&self, law: &LawRow, seed: u64) -> Result<(DecisionRow, Verdict), Error> {
        let reseeded;
        let harness = if seed == self.harness.config().seed {
            &self.harness
        } else {
            reseeded = self.harness.with_seed(seed);
            &reseeded
        };
        let parsed = self.ranker.law(law)?;
        let clock = self.clock.as_ref();
        let started_at = timestamp(clock);
        let begun = clock.elapsed();
        let limit = self.config.wall_limit_ms.map(Duration::from_millis);
        let stop = || limit.is_some_and(|limit| clock.elapsed().saturating_sub(begun) > limit);
        let mut verdict = harness.evaluate_with_stop(&parsed, &stop);
        let stopped = stop();
        verdict.runtime_ms = clock.elapsed().saturating_sub(begun).as_millis() as u64;
        let period = Period {
            started_at,
            completed_at: timestamp(clock),
            runtime_ms: verdict.runtime_ms,
        };
        let decision = DecisionRow::new(law, harness, &verdict, period, stopped);
        Ok((decision, verdict))
    }
}

/// Decisions that are stored together.
#[derive(Default)]
struct Group {
    decisions: Vec<DecisionRow>,
    since: Duration,
}

impl Group {
    fn add(&mut self, decision: DecisionRow, begun: Duration) {
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
