//! The proposer, and the order in which kinds of laws follow each other.

use std::collections::BTreeSet;

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::Value;

use super::grammar::GrammarEnumerator;
use super::observations::ObservationMatrix;
use super::source::{Ahead, Kind, Source};
use crate::error::ProposeError;
use crate::rank::Candidate;
use crate::snapshot::{Cursor, Proposal, Proposer, Snapshot, Step, StoredLaws};
use crate::store::{ModelCallRow, StoreError};

/// A proposer that enumerates laws without a model.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct EnumerativeProposer {
    /// The random seed: it decides the order of laws of equal size, and nothing else.
    pub seed: u64,
}

impl EnumerativeProposer {
    /// The proposer's id in the row of a run.
    pub const ID: &str = "enumerative";

    /// Returns a proposer with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns `k` laws, or fewer if the grammar has no further law for the universe, and how far the walk came. They are a pure
    /// function of the snapshot, the stored laws, `k` and the seed.
    async fn laws(
        &self,
        snapshot: &Snapshot,
        k: usize,
        stored: &mut dyn StoredLaws,
    ) -> Result<(Vec<Value>, Cursor), StoreError> {
        let evidence = ObservationMatrix::of(snapshot);
        let grammar = GrammarEnumerator::new(&snapshot.contract, &evidence, self.seed);
        let mut filter = ProposalFilter {
            evidence: &evidence,
            seen: BTreeSet::new(),
            stored,
        };
        let mut sources = Kind::ALL.map(|kind| Source::new(kind, &grammar, snapshot, &evidence));
        let mut laws = Vec::new();
        let mut open = Kind::ALL.to_vec();
        while laws.len() < k && !open.is_empty() {
            for kind in ROUND {
                if laws.len() == k {
                    break;
                }
                if !open.contains(kind) {
                    continue;
                }
                match filter.next(&mut sources[*kind as usize]).await? {
                    Some(law) => laws.push(law),
                    None => open.retain(|other| other != kind),
                }
            }
        }
        let mut cursor = snapshot.cursor.clone();
        for source in &sources {
            source.mark(&mut cursor);
        }
        Ok((laws, cursor))
    }
}

impl Proposer for EnumerativeProposer {
    fn id(&self) -> &str {
        Self::ID
    }

    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        k: usize,
        _calls: &'a [ModelCallRow],
        stored: &'a mut dyn StoredLaws,
    ) -> BoxFuture<'a, Result<Step, ProposeError>> {
        async move {
            let (laws, cursor) = self.laws(snapshot, k, stored).await?;
            Ok(Step::Proposed(Proposal {
                candidates: laws.into_iter().map(Candidate::new).collect(),
                cursor,
                ..Proposal::default()
            }))
        }
        .boxed()
    }
}

/// The order of the sources, in which the first few laws use most of the language.
const ROUND: &[Kind] = &[
    Kind::Invariant,
    Kind::Symmetry,
    Kind::Step,
    Kind::Invariant,
    Kind::Bound,
    Kind::Weaker,
    Kind::Symmetry,
    Kind::Invariant,
    Kind::State,
    Kind::Stronger,
    Kind::Monotone,
    Kind::Invariant,
    Kind::Eventually,
    Kind::Symmetry,
    Kind::Step,
    Kind::Weaker,
    Kind::Invariant,
    Kind::Bound,
    Kind::Symmetry,
    Kind::Stronger,
    Kind::State,
    Kind::Invariant,
    Kind::Monotone,
    Kind::Step,
    Kind::Wide,
];

/// The number of consecutive drafts without a law to propose after which a source is not used again for this batch.
const TRIES: usize = 200;

/// The filter of proposals: a law passes if it is new and no observation refutes it.
struct ProposalFilter<'a> {
    evidence: &'a ObservationMatrix,
    seen: BTreeSet<String>,
    stored: &'a mut dyn StoredLaws,
}

impl ProposalFilter<'_> {
    /// Returns the next law of a source that passes; `None` at its end, or after [`TRIES`] consecutive drafts that observations refute or leave out.
    async fn next(&mut self, source: &mut Source<'_>) -> Result<Option<Value>, StoreError> {
        let mut refuted = 0;
        while refuted < TRIES {
            let Some(draft) = source.next(self.stored).await? else {
                return Ok(None);
            };
            match self.pass(draft) {
                Passage::New(law) => return Ok(Some(law)),
                // Not counted: the number of known laws is limited by the number of proposed laws.
                Passage::Known => {}
                Passage::Broken => refuted += 1,
            }
        }
        Ok(None)
    }

    fn pass(&mut self, draft: Ahead) -> Passage {
        if draft.is_known || self.seen.contains(&draft.fingerprint) {
            return Passage::Known;
        }
        let Some(law) = draft.law else {
            return Passage::Broken;
        };
        let program = self.evidence.compile(&law);
        if program.is_some_and(|program| self.evidence.refutes(&program)) {
            return Passage::Broken;
        }
        self.seen.insert(draft.fingerprint);
        Passage::New(law.source().clone())
    }
}

/// The outcome of the filter for a law.
enum Passage {
    /// The law is new and not refuted.
    New(Value),
    /// The law was proposed before.
    Known,
    /// An observation refutes the law or leaves it out, or it cannot be read.
    Broken,
}
