//! The configuration of a run.

use popper_harness::counterexample::universe_value;
use popper_harness::decide::{Config, ConfigError, Harness};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rank::Weights;

/// The most proposals or tests of one iteration.
const MAX_LAWS: usize = 10_000;

/// The configuration of the loop. Every field has a default, so that `{}` is the default configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LoopConfig {
    /// The number of laws to ask for in an iteration (K), `1..=10000`.
    pub propose: usize,
    /// The number of laws to test in an iteration (M), `1..=10000`.
    pub test: usize,
    /// Whether a model sees neutral symbols and names instead of those of the universe.
    pub blind: bool,
    /// The number of repair turns, at most 10: calls that tell a model the problem with its reply.
    pub repairs: u32,
    /// The most laws that wait for a test after an iteration, at most 1000: the best ranked ones. The others are shelved until they
    /// are proposed again, or until fewer laws wait than an iteration tests.
    pub pool: u32,
    /// The number of accepted laws in a snapshot.
    pub accepted: u32,
    /// The number of refuted laws in a snapshot.
    pub falsified: u32,
    /// The number of undecided laws in a snapshot.
    pub unknown: u32,
    /// The number of counterexamples in a snapshot.
    pub gallery: u32,
    /// The wall-clock limit of an evaluation in milliseconds. A law that reaches it without a counterexample is UNKNOWN
    /// `resource_limit` and does not count as tested. With a limit the results depend on the machine, so the default is `None`.
    pub wall_limit_ms: Option<u64>,
    /// The weights of the ranking.
    pub weights: Weights,
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self {
            propose: 20,
            test: 10,
            blind: true,
            repairs: 2,
            pool: 200,
            accepted: 30,
            falsified: 20,
            unknown: 20,
            gallery: 20,
            wall_limit_ms: None,
            weights: Weights::default(),
        }
    }
}

impl LoopConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// [`ConfigError`] names the first field that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let fail = |field, message| Err(ConfigError::new(field, message));
        for (field, laws) in [("propose", self.propose), ("test", self.test)] {
            if !(1..=MAX_LAWS).contains(&laws) {
                return fail(field, format!("is {laws}, expected 1 to {MAX_LAWS}"));
            }
        }
        if self.repairs > 10 {
            return fail(
                "repairs",
                format!("is {}, expected at most 10", self.repairs),
            );
        }
        if self.wall_limit_ms == Some(0) {
            return fail("wall_limit_ms", "is 0, expected at least 1".into());
        }
        self.weights.check()
    }
}

/// The identity of a run, stored in `runs.config_json`. A run continues only under an equal configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RunConfig {
    /// The version of the program that began the run, which is ignored in comparisons.
    pub version: String,
    /// The id of the built-in universe, or a whole definition.
    pub universe: Value,
    /// The configuration of the harness.
    pub harness: Config,
    /// The configuration of the loop.
    #[serde(rename = "loop")]
    pub discovery: LoopConfig,
    /// The proposer's id: `enumerative`, or a model's id.
    pub proposer: String,
    /// The number of iterations in all that the run was last asked for, which is ignored in comparisons. `None` in the rows of older
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
}

impl RunConfig {
    /// Returns the configuration of a new run.
    pub fn new(harness: &Harness, discovery: LoopConfig, proposer: String) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            universe: universe_value(harness.universe()),
            harness: harness.config().clone(),
            discovery,
            proposer,
            iterations: None,
        }
    }

    /// Whether a run with one configuration may continue under the other: they differ in the version and the number of iterations at
    /// most.
    pub fn continues(&self, other: &Self) -> bool {
        let compared = |config: &Self| Self {
            version: String::new(),
            iterations: None,
            ..config.clone()
        };
        compared(self) == compared(other)
    }
}
