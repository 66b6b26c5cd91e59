//! The interface of proposers.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{self, BoxFuture};

use super::knowledge::Snapshot;
use crate::error::ProposeError;
use crate::rank::Candidate;
use crate::store::{ModelCallRow, StoreError};

/// The position of a proposer: one for each of its lists of laws, by name.
pub(crate) type Cursor = BTreeMap<String, u64>;

/// The laws that a run has stored, for proposers that compute fingerprints.
pub trait StoredLaws: Send {
    /// Returns those of the fingerprints that a law of the run has.
    fn known<'a>(
        &'a mut self,
        fingerprints: &'a [String],
    ) -> BoxFuture<'a, Result<BTreeSet<String>, StoreError>>;
}

/// The fingerprints themselves, for those who have no store.
impl StoredLaws for BTreeSet<String> {
    fn known<'a>(
        &'a mut self,
        fingerprints: &'a [String],
    ) -> BoxFuture<'a, Result<BTreeSet<String>, StoreError>> {
        let known = fingerprints.iter().filter(|law| self.contains(*law));
        Box::pin(future::ready(Ok(known.cloned().collect())))
    }
}

/// A source of laws.
///
/// A proposer keeps no state between two calls: all it may know is in the snapshot and among the stored laws. So a run that was killed continues as if
/// it had not been interrupted.
pub trait Proposer: Send + Sync {
    /// The proposer's id in the row of a run: `enumerative`, or a model's id.
    fn id(&self) -> &str;

    /// Asks for about `k` laws. `calls` are the model calls of this iteration so far, in order. A proposer that calls a model
    /// returns [`Step::Called`] for each new call, so that the call is stored before it is read and never paid twice.
    /// `stored` are the laws of the run.
    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        k: usize,
        calls: &'a [ModelCallRow],
        stored: &'a mut dyn StoredLaws,
    ) -> BoxFuture<'a, Result<Step, ProposeError>>;
}

/// The result of a step of a proposer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Step {
    /// A model was called once more: store the call and ask the proposer again.
    Called(Box<ModelCallRow>),
    /// The proposal is complete.
    Proposed(Proposal),
}

/// A batch of proposed laws.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Proposal {
    /// The laws, in the proposer's order.
    pub candidates: Vec<Candidate>,
    /// sha256 of the first request, where a model was asked.
    pub prompt_hash: Option<String>,
    /// The proposer's notes for its next turn.
    pub research_log: Option<String>,
    /// The problem with the reply as a whole, if there is one.
    pub problem: Option<String>,
    /// The position of the proposer, at most 4 kB as JSON; it is in the snapshot of the next iteration.
    pub cursor: BTreeMap<String, u64>,
}
