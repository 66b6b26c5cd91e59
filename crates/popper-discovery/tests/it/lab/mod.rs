//! The lab: sealed universes, episodes and their scores.

mod baselines;
mod brute;
mod laws;
mod lines;
mod replay;
mod scores;
mod sealed;

use popper_discovery::lab::{Episode, LabAnswer, LabTier, SealedUniverse, log_entry};
use serde_json::{Value, json};

/// An episode with its log, as a program keeps it.
pub(crate) struct Recorded {
    pub sealed: SealedUniverse,
    pub episode: Episode,
    pub log: String,
}

impl Recorded {
    pub fn new(tier: LabTier, seed: u64) -> Self {
        let sealed = SealedUniverse::from_seed(tier, seed).unwrap();
        let episode = Episode::new(sealed.clone());
        let log = episode.contract().line() + "\n";
        Self {
            sealed,
            episode,
            log,
        }
    }

    pub fn ask(&mut self, line: impl AsRef<[u8]>) -> LabAnswer {
        let answer = self.episode.line(line.as_ref());
        self.log += &log_entry(line, &answer);
        self.log += "\n";
        answer
    }

    /// The answer to a request that is accepted.
    #[track_caller]
    pub fn accepted(&mut self, request: &Value) -> Value {
        let answer = self.ask(request.to_string());
        assert!(!answer.is_error, "{}", answer.line);
        serde_json::from_str(&answer.line).unwrap()
    }
}

/// A small generator of numbers, so that a test shares no random numbers with the lab.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    pub fn ring(&mut self, cells: usize, symbols: &str) -> String {
        let symbols: Vec<char> = symbols.chars().collect();
        (0..cells)
            .map(|_| symbols[self.below(symbols.len())])
            .collect()
    }
}

/// The law that an expression never changes.
pub(crate) fn invariant(name: &str, expr: &str, horizon: u64) -> Value {
    json!({
        "law_id": name, "template": "invariant", "quantifiers": {"T": horizon},
        "observables": [{"name": "f", "expr": expr}],
        "claim": "f(t) == f(0)", "forbidden": "a step that changes it",
    })
}

/// The law that a transform commutes with the steps.
pub(crate) fn commutes(transform: &str) -> Value {
    json!({
        "law_id": transform, "template": "symmetry_commutation", "quantifiers": {"T": 10},
        "observables": [], "transform": transform, "claim": format!("commutes('{transform}')"),
        "forbidden": "a start whose image goes elsewhere",
    })
}
