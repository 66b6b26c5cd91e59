//! Which laws to test first.

use popper_harness::decide::{ConfigError, Harness};
use popper_harness::law::{Law, Program};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::row::LawRow;
use crate::store::Finding;

/// What counts how much. Each weight is `0..=1000`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// How much a law forbids.
    pub risk: f64,
    /// How far it is from what is accepted and tested, in text and in behaviour.
    pub novelty: f64,
    /// How much its verdict would tell between the laws that wait.
    pub discrimination: f64,
    /// How sure it is that a verdict will come of it.
    pub testability: f64,
    /// How much it repeats what is chosen before it; taken off.
    pub redundancy: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            risk: 1.0,
            novelty: 1.0,
            discrimination: 1.0,
            testability: 0.5,
            redundancy: 1.0,
        }
    }
}

impl Weights {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (field, weight) in [
            ("weights.risk", self.risk),
            ("weights.novelty", self.novelty),
            ("weights.discrimination", self.discrimination),
            ("weights.testability", self.testability),
            ("weights.redundancy", self.redundancy),
        ] {
            if !(0.0..=1000.0).contains(&weight) {
                return Err(ConfigError {
                    field,
                    message: format!("is {weight}, expected 0 to 1000"),
                });
            }
        }
        Ok(())
    }
}

/// What the rank of a law is made of, each `0..=1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Features {
    /// How much it forbids.
    pub risk: f64,
    /// How far it is from what is accepted and tested.
    pub novelty: f64,
    /// How much its verdict would tell between the laws that wait.
    pub discrimination: f64,
    /// How sure it is that a verdict will come of it.
    pub testability: f64,
    /// How much it repeats what stands before it.
    pub redundancy: f64,
}

/// A law in the ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The law.
    pub law_fingerprint: String,
    /// `Program::behaviour_hash`; none for a law that cannot be run.
    pub behaviour_hash: Option<String>,
    /// What its score is made of.
    pub features: Features,
    /// The weighted sum.
    pub score: f64,
}

/// A law that waits for its test.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// The law.
    pub law_fingerprint: String,
    /// The same, read.
    pub law: Law,
}

impl Waiting {
    /// From its row.
    ///
    /// # Errors
    /// [`Error::Row`] when the row is not one that a proposal became.
    pub fn of(row: &LawRow) -> Result<Self, Error> {
        Ok(Self {
            law_fingerprint: row.law_fingerprint.clone(),
            law: row.law()?,
        })
    }
}

/// Ranks the laws that wait, best first; equal scores keep their order.
///
/// # Errors
/// [`Error::Row`] when a tested law cannot be read.
pub fn rank(
    waiting: &[Waiting],
    _tested: &[Finding],
    harness: &Harness,
    _weights: &Weights,
) -> Result<Vec<Ranked>, Error> {
    Ok(waiting
        .iter()
        .map(|law| Ranked {
            law_fingerprint: law.law_fingerprint.clone(),
            behaviour_hash: Program::compile(&law.law, harness.universe())
                .ok()
                .map(|program| program.behaviour_hash(harness.universe())),
            features: Features::default(),
            score: 0.0,
        })
        .collect())
}
