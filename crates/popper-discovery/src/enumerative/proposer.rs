//! The proposer, and the order in which kinds of laws follow each other.

use std::collections::BTreeSet;

use futures_util::future::{self, BoxFuture};
use serde_json::Value;

use super::draft::{LawDraft, read};
use super::grammar::{GrammarEnumerator, Stream};
use super::mutation;
use super::observations::ObservationMatrix;
use crate::error::ProposeError;
use crate::rank::Candidate;
use crate::snapshot::{Proposal, Proposer, Snapshot, Step};
use crate::store::ModelCallRow;

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

    /// Returns `k` proposals, or fewer if the grammar has no further law for the universe. They are a pure function of the
    /// snapshot, `k` and the seed.
    pub fn laws(&self, snapshot: &Snapshot, k: usize) -> Vec<Value> {
        let evidence = ObservationMatrix::of(snapshot);
        let grammar = GrammarEnumerator::new(&snapshot.contract, &evidence, self.seed);
        let mut filter = ProposalFilter {
            snapshot,
            evidence: &evidence,
            seen: BTreeSet::new(),
        };
        let mut streams: Vec<Stream<'_>> = Kind::ALL
            .iter()
            .map(|kind| kind.stream(&grammar, snapshot, &evidence))
            .collect();
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
                match filter.next(&mut streams[*kind as usize]) {
                    Some(law) => laws.push(law),
                    None => open.retain(|other| other != kind),
                }
            }
        }
        laws
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
    ) -> BoxFuture<'a, Result<Step, ProposeError>> {
        let laws = self.laws(snapshot, k);
        let proposal = Proposal {
            candidates: laws.into_iter().map(Candidate::new).collect(),
            ..Proposal::default()
        };
        Box::pin(future::ready(Ok(Step::Proposed(proposal))))
    }
}

/// The source of a law: a part of the grammar, or a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Invariant,
    Wide,
    Symmetry,
    Step,
    Bound,
    Monotone,
    State,
    Eventually,
    Weaker,
    Stronger,
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

/// The number of consecutive refuted laws after which a source is not used again for this batch.
const TRIES: usize = 200;

impl Kind {
    const ALL: [Self; 10] = [
        Self::Invariant,
        Self::Wide,
        Self::Symmetry,
        Self::Step,
        Self::Bound,
        Self::Monotone,
        Self::State,
        Self::Eventually,
        Self::Weaker,
        Self::Stronger,
    ];

    fn stream<'a>(
        self,
        grammar: &'a GrammarEnumerator<'a>,
        snapshot: &'a Snapshot,
        evidence: &'a ObservationMatrix,
    ) -> Stream<'a> {
        match self {
            Self::Invariant => grammar.invariants(),
            Self::Wide => grammar.wide_invariants(),
            Self::Symmetry => grammar.symmetries(),
            Self::Step => grammar.steps(),
            Self::Bound => grammar.bounds(),
            Self::Monotone => grammar.monotone(),
            Self::State => grammar.states(),
            Self::Eventually => grammar.eventually(),
            Self::Weaker => mutation::weaker(snapshot, evidence),
            Self::Stronger => mutation::stronger(snapshot, evidence),
        }
    }
}

/// The filter of proposals: a law passes if it is new and no observation refutes it.
struct ProposalFilter<'a> {
    snapshot: &'a Snapshot,
    evidence: &'a ObservationMatrix,
    seen: BTreeSet<String>,
}

impl ProposalFilter<'_> {
    /// Returns the next law of a stream that passes; `None` at the end of the stream, or after [`TRIES`] consecutive refuted laws.
    fn next(&mut self, stream: &mut Stream<'_>) -> Option<Value> {
        let mut refuted = 0;
        while refuted < TRIES {
            match self.pass(&stream.next()?) {
                Passage::New(law) => return Some(law),
                // Not counted: the number of known laws is limited by the number of proposed laws.
                Passage::Known => {}
                Passage::Broken => refuted += 1,
            }
        }
        None
    }

    fn pass(&mut self, draft: &LawDraft) -> Passage {
        let Some(law) = read(draft.law(&self.snapshot.contract.symbols)) else {
            return Passage::Broken;
        };
        let program = self.evidence.compile(&law);
        if program.is_some_and(|program| self.evidence.refutes(&program)) {
            return Passage::Broken;
        }
        let fingerprint = law.fingerprint();
        if self.snapshot.proposed.contains(&fingerprint) || !self.seen.insert(fingerprint) {
            return Passage::Known;
        }
        Passage::New(law.source().clone())
    }
}

/// The outcome of the filter for a law.
enum Passage {
    /// The law is new and not refuted.
    New(Value),
    /// The law was proposed before.
    Known,
    /// An observation refutes the law, or it cannot be read.
    Broken,
}
