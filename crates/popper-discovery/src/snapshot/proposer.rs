//! Who proposes laws.

use futures_util::future::BoxFuture;

use super::knowledge::Snapshot;
use crate::error::ProposeError;
use crate::rank::Candidate;
use crate::store::ModelCallRow;

/// A source of laws.
///
/// A proposer keeps nothing between two calls: all it may know is in the snapshot, so that a run which was killed goes on as if
/// it had not been.
pub trait Proposer: Send + Sync {
    /// What the run calls it: `enumerative`, or a model's id.
    fn id(&self) -> &str;

    /// Asks for about `k` laws. `calls` are the calls that this iteration has made so far, in order; a proposer that asks a
    /// model answers [`Step::Called`] for each new one, so that it is stored before it is read and never paid twice.
    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        k: usize,
        calls: &'a [ModelCallRow],
    ) -> BoxFuture<'a, Result<Step, ProposeError>>;
}

/// What a proposer answers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Step {
    /// A model was asked once more; store this and ask again.
    Called(Box<ModelCallRow>),
    /// The laws.
    Proposed(Proposal),
}

/// A batch of laws.
#[derive(Debug, Clone, Default)]
pub struct Proposal {
    /// The laws, in the proposer's order.
    pub candidates: Vec<Candidate>,
    /// sha256 of the first request, where a model was asked.
    pub prompt_hash: Option<String>,
    /// What the proposer notes for its next turn.
    pub research_log: Option<String>,
    /// What could not be read of the answer as a whole.
    pub problem: Option<String>,
}
