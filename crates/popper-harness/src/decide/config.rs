//! The configuration of the harness: budgets in counts, thresholds, extensions.

use serde::{Deserialize, Serialize};

use crate::json::hash;
use crate::law::{Extensions, MAX_RING};

/// The semantics version, which is hashed before the canonical JSON; it changes when the same fields may give another verdict.
pub(super) const SEMANTICS: &str = "popper-harness/4";

/// A configuration. Every field has a default and a setter, such as `Config::default().max_t(50)`.
///
/// As JSON, `{}` is the default configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// The seed of all randomness. It is not part of the hash; verdicts name it separately.
    pub seed: u64,
    /// The longest simulated horizon, in steps, where no period makes it exact.
    pub max_t: u64,
    /// The size of the largest rings that are exhausted, `0..=20` cells.
    pub exhaustive_n: usize,
    /// The largest cost of exhausting one ring size; more expensive rings are left to sampling.
    ///
    /// The unit is one operation on one cell of one universe; a core does about 1e11 of them a second.
    pub exhaustive_budget: u64,
    /// The largest cost of 512 sampled cases on one ring size, in the same unit; more expensive rings are left out.
    pub sampled_budget: u64,
    /// The ring size, `0..=20`, below which a counterexample is minimal only after everything smaller is exhausted.
    pub minimal_n: usize,
    /// The sampled ring sizes, ascending, each `1..=4096`.
    pub ladder: Vec<usize>,
    /// The number of batches of 512 cases for each ring of the ladder, `1..=64`.
    pub rounds: u32,
    /// The most cases that a law's `proposed_tests` may add in all.
    pub proposed_cases: u64,
    /// Whether the mutation search runs after sampling.
    pub adversarial: bool,
    /// The number of generations of 512 mutants for each ring of the mutation search.
    pub generations: u32,
    /// The number of states that must meet the preconditions before a law may pass.
    pub min_cases: u64,
    /// The number of times that the antecedent must hold before a law may pass.
    pub min_triggers: u64,
    /// The number of case families in which the antecedent must hold.
    pub min_trigger_families: usize,
    /// The extensions of the claim language that are on; the only one is `local_transition`.
    pub extensions: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 0,
            max_t: 1000,
            exhaustive_n: 10,
            exhaustive_budget: 1_000_000_000_000,
            sampled_budget: 20_000_000_000,
            minimal_n: 14,
            ladder: (1..=33).chain([64, 128, 256]).collect(),
            rounds: 1,
            proposed_cases: 4096,
            adversarial: true,
            generations: 16,
            min_cases: 50,
            min_triggers: 20,
            min_trigger_families: 2,
            extensions: Vec::new(),
        }
    }
}

/// Makes a setter of each field.
macro_rules! setters {
    ($($field:ident: $type:ty),*) => {
        impl Config {
            $(
                #[doc = concat!("Sets the field `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

setters! {
    seed: u64,
    max_t: u64,
    exhaustive_n: usize,
    exhaustive_budget: u64,
    sampled_budget: u64,
    minimal_n: usize,
    ladder: Vec<usize>,
    rounds: u32,
    proposed_cases: u64,
    adversarial: bool,
    generations: u32,
    min_cases: u64,
    min_triggers: u64,
    min_trigger_families: usize,
    extensions: Vec<String>
}

/// A field of a configuration that is out of range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("config field `{field}`: {message}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The name of the field.
    pub field: &'static str,
    /// The value that is wrong and the expected range.
    pub message: String,
}

impl ConfigError {
    /// The field with this name has a wrong value, which the message names.
    pub fn new(field: &'static str, message: String) -> Self {
        Self { field, message }
    }
}

/// The name of the extension in configurations and on the command line.
const LOCAL_TRANSITION: &str = "local_transition";

impl Config {
    /// Checks every field.
    ///
    /// # Errors
    /// [`ConfigError`] names the first field that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let fail = |field, message: String| Err(ConfigError { field, message });
        for (field, n) in [
            ("exhaustive_n", self.exhaustive_n),
            ("minimal_n", self.minimal_n),
        ] {
            if n > 20 {
                return fail(field, format!("is {n}, expected at most 20"));
            }
        }
        if self.max_t == 0 || self.max_t > 100_000 {
            return fail("max_t", format!("is {}, expected 1 to 100000", self.max_t));
        }
        if !self.ladder.is_sorted_by(|a, b| a < b)
            || self.ladder.iter().any(|&n| n == 0 || n as u64 > MAX_RING)
        {
            return fail(
                "ladder",
                format!("expected ascending ring sizes from 1 to {MAX_RING}"),
            );
        }
        if !(1..=64).contains(&self.rounds) {
            return fail("rounds", format!("is {}, expected 1 to 64", self.rounds));
        }
        if self.generations > 10_000 {
            return fail(
                "generations",
                format!("is {}, expected at most 10000", self.generations),
            );
        }
        if self.proposed_cases > 1_000_000 {
            return fail(
                "proposed_cases",
                format!("is {}, expected at most 1000000", self.proposed_cases),
            );
        }
        match self
            .extensions
            .iter()
            .find(|name| *name != LOCAL_TRANSITION)
        {
            Some(name) => fail(
                "extensions",
                format!("`{name}` is not known, expected `{LOCAL_TRANSITION}`"),
            ),
            None => Ok(()),
        }
    }

    /// Returns the extensions that are on.
    pub fn language(&self) -> Extensions {
        Extensions {
            local_transition: self.extensions.iter().any(|name| name == LOCAL_TRANSITION),
        }
    }

    /// Returns the sha256 of the semantics version and every field but the seed that differs from its default.
    ///
    /// The fields are in the order of their names. A new field therefore changes the hash of no configuration that leaves it at
    /// its default.
    pub fn hash(&self) -> String {
        let mut canonical = self.clone();
        canonical.seed = Self::default().seed;
        canonical.extensions.sort();
        canonical.extensions.dedup();
        let (mut fields, defaults) = (hash::fields(&canonical), hash::fields(&Self::default()));
        fields.retain(|name, value| defaults.get(name) != Some(value));
        hash::of(&format!("{SEMANTICS}\n{}", hash::json(&fields)))
    }
}
