//! The tests of an iteration: an evaluator decides laws, and decisions are stored in small groups in the order of choice.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::StreamExt as _;
use popper_harness::decide::Verdict;

use super::decision::{Period, timestamp};
use super::observer::{Event, Observer};
use super::run_loop::Discovery;
use crate::error::{Error, EvaluatorError};
use crate::evaluator::{Batch, BatchLaw, Evaluator, InOrder};
use crate::snapshot::{Selected, Verdicts};
use crate::store::{AttemptFilter, DecisionRow, LawFilter, LawRow, Store};

/// The most decisions of a group.
const GROUP_ROWS: usize = 1000;
/// The longest time that a decision waits to be stored after those before it. A kill loses at most one group, and the outcomes that
/// wait for an earlier law.
const GROUP_TIME: Duration = Duration::from_millis(50);

impl<S: Store, E: Evaluator> Discovery<S, E> {
    /// Decides the selected laws that are not decided yet. `None` if the observer stopped it.
    pub(super) async fn test(
        &mut self,
        iteration_id: i64,
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
        let mut open = Vec::new();
        for chosen in selected {
            let Some(&law) = laws.get(chosen.law_fingerprint.as_str()) else {
                continue;
            };
            let attempt = (law.id, chosen.seed);
            match made.iter().find(|made| (made.law_id, made.seed) == attempt) {
                Some(made) => verdicts.count(made.status),
                None => open.push((law, chosen.seed)),
            }
        }
        let is_done = self
            .decide(Some(iteration_id), &open, observer, |verdict| {
                verdicts.count(verdict.status);
            })
            .await?;
        Ok(is_done.then_some(verdicts))
    }

    /// Decides laws and stores the decisions. Returns `false` if the observer stopped it.
    pub(super) async fn decide(
        &mut self,
        iteration_id: Option<i64>,
        laws: &[(&LawRow, u64)],
        observer: &mut dyn Observer,
        mut on_verdict: impl FnMut(&Verdict),
    ) -> Result<bool, Error> {
        let Self {
            store,
            evaluator,
            harness,
            config,
            clock,
            run,
            ranker,
        } = self;
        let batch: Vec<BatchLaw<'_>> = laws
            .iter()
            .map(|&(row, seed)| {
                let law = ranker.law(row)?;
                Ok(BatchLaw { row, law, seed })
            })
            .collect::<Result<_, Error>>()?;
        let mut evaluated = pin!(evaluator.evaluate(Batch {
            run_id: run.id,
            iteration_id,
            harness,
            clock,
            laws: &batch,
            wall_limit_ms: config.wall_limit_ms,
        }));
        let mut stopped = observer.stopped();
        let mut group = Group::default();
        let mut outcomes = InOrder::default();
        while outcomes.taken() < batch.len() {
            let begun = clock.elapsed();
            let next = if observer.stop() {
                None
            } else {
                match select(evaluated.next(), &mut stopped).await {
                    Either::Left((next, _)) => Some(next),
                    Either::Right(_) => None,
                }
            };
            let Some(next) = next else {
                group.commit(store, observer).await?;
                return Ok(false);
            };
            let next = next.ok_or(EvaluatorError::Incomplete {
                outcomes: outcomes.taken(),
                laws: batch.len(),
            });
            outcomes.add(next.and_then(|it| it)?);
            while let Some((index, outcome)) = outcomes.pop() {
                let BatchLaw { row, seed, .. } = batch[index];
                let harness = harness.with_seed(seed);
                let (verdict, cut) = outcome.verdict(&row.law_id, &row.law_fingerprint, &harness);
                let completed_at = timestamp(clock.as_ref());
                let runtime = Duration::from_millis(verdict.runtime_ms);
                let period = Period {
                    started_at: completed_at.checked_sub(runtime).unwrap_or(completed_at),
                    completed_at,
                    runtime_ms: verdict.runtime_ms,
                };
                let decision = DecisionRow::new(row, &harness, &verdict, period, cut);
                observer.event(Event::Decided(&verdict));
                on_verdict(&verdict);
                group.add(decision, begun);
            }
            if group.is_due(clock.elapsed()) {
                group.commit(store, observer).await?;
            }
        }
        group.commit(store, observer).await?;
        Ok(true)
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
