//! A proposer that needs no model: it walks the language from small to large.

use futures_util::future::{self, BoxFuture};
use serde_json::{Value, json};

use crate::proposer::{Candidate, Proposal, ProposeError, Proposer, Step};
use crate::row::Call;
use crate::snapshot::Snapshot;

/// Proposes without a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct EnumerativeProposer {
    /// Where its random choices come from.
    pub seed: u64,
}

impl EnumerativeProposer {
    /// What runs call it.
    pub const ID: &str = "enumerative";
}

impl Proposer for EnumerativeProposer {
    fn id(&self) -> &str {
        Self::ID
    }

    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        k: usize,
        _calls: &'a [Call],
    ) -> BoxFuture<'a, Result<Step, ProposeError>> {
        let first = (snapshot.iteration as usize - 1) * k;
        let candidates = (first..first + k)
            .map(|number| {
                let symbol = snapshot.contract.symbols[number % snapshot.contract.symbols.len()];
                Candidate::new(stub(symbol, number as u64 + 1))
            })
            .collect();
        let proposal = Proposal {
            candidates,
            ..Proposal::default()
        };
        Box::pin(future::ready(Ok(Step::Proposed(proposal))))
    }
}

fn stub(symbol: char, t: u64) -> Value {
    json!({
        "law_id": format!("count_{t}"), "template": "invariant", "quantifiers": {"T": t},
        "observables": [{"name": "f", "expr": format!("count('{symbol}')")}],
        "claim": "f(t) == f(0)", "forbidden": "a step that changes the count",
    })
}
