//! The pool: the laws that wait for a test. It is bounded; the laws beyond the bound are shelved.
//!
//! A law that waits is `proposed` in the table, and a shelved one `queued`, as one that was selected. Between two iterations no law
//! is selected, so every `queued` law is a shelved one then.

use std::collections::BTreeSet;

use super::run_loop::Discovery;
use crate::error::Error;
use crate::rank::Ranked;
use crate::snapshot::{LoopConfig, Selected};
use crate::store::{LawFilter, LawRow, LawStatus, Store, VerdictKey};

/// The most laws that wait, whatever the configuration asks for, and the most shelved ones that come back at once.
const MOST_WAITING: u32 = 1000;

/// The laws that an iteration stores.
pub(super) struct Pool {
    /// The new proposals.
    pub laws: Vec<LawRow>,
    /// Laws of earlier iterations that are not tested yet: those that waited, and shelved ones that came back.
    pub waiting: Vec<LawRow>,
    /// Changes of status of stored laws.
    pub moved: Vec<(i64, LawStatus)>,
    /// Keys of laws that a stored proof decides.
    pub keys: Vec<VerdictKey>,
}

impl<S: Store, E> Discovery<S, E> {
    /// The pool of an iteration with these new laws. A shelved law comes back when it is proposed again (`again`, by fingerprint), or
    /// when fewer laws wait than an iteration tests.
    pub(super) async fn pool(
        &mut self,
        laws: Vec<LawRow>,
        again: &[String],
    ) -> Result<Pool, Error> {
        let mut waiting = self.laws_that(LawStatus::Proposed).await?;
        let open = laws
            .iter()
            .filter(|law| law.status == LawStatus::Proposed)
            .count();
        if waiting.len() + open < self.config.test {
            waiting.extend(self.laws_that(LawStatus::Queued).await?);
        } else if !again.is_empty() {
            let filter = LawFilter::Fingerprints(again);
            let again = self.store.laws(self.run.id, filter).await?.into_iter();
            waiting.extend(again.filter(|law| law.status == LawStatus::Queued));
        }
        waiting.sort_by_key(|law| law.id);
        Ok(Pool {
            laws,
            waiting,
            moved: Vec::new(),
            keys: Vec::new(),
        })
    }

    async fn laws_that(&mut self, status: LawStatus) -> Result<Vec<LawRow>, Error> {
        let filter = LawFilter::Statuses {
            statuses: &[status],
            newest: Some(MOST_WAITING),
        };
        Ok(self.store.laws(self.run.id, filter).await?)
    }
}

impl Pool {
    /// Returns the laws that can be tested.
    pub(super) fn candidates(&self) -> impl Iterator<Item = &LawRow> {
        let open = |law: &&LawRow| matches!(law.status, LawStatus::Proposed | LawStatus::Queued);
        self.waiting.iter().chain(self.laws.iter().filter(open))
    }

    /// Queues the selected laws, lets the best of the others wait, and shelves the rest and the laws that are given up.
    pub(super) fn settle(
        &mut self,
        ranking: &[Ranked],
        selected: &[Selected],
        given_up: &BTreeSet<&str>,
        config: &LoopConfig,
    ) {
        let chosen: BTreeSet<&str> = selected
            .iter()
            .map(|selected| selected.law_fingerprint.as_str())
            .collect();
        let waiting: BTreeSet<&str> = ranking
            .iter()
            .map(|ranked| ranked.law_fingerprint.as_str())
            .filter(|law| !chosen.contains(law) && !given_up.contains(law))
            .take(config.pool.min(MOST_WAITING) as usize)
            .collect();
        let status = |law: &LawRow| {
            if waiting.contains(law.law_fingerprint.as_str()) {
                LawStatus::Proposed
            } else {
                LawStatus::Queued
            }
        };
        for law in &mut self.laws {
            if law.status == LawStatus::Proposed {
                law.status = status(law);
            }
        }
        let stored = self.waiting.iter().map(|law| (law, status(law)));
        let changed = stored.filter(|(law, status)| law.status != *status);
        self.moved
            .extend(changed.map(|(law, status)| (law.id, status)));
    }
}
