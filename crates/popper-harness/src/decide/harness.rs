//! The harness, which decides laws of one universe.

use std::sync::Arc;

use super::budget::{Budget, Stop};
use super::config::{Config, ConfigError};
use super::evaluation::Evaluation;
use super::evaluator::CompiledUniverse;
use super::generators::{CaseFamily, knows_transform};
use super::judge;
use super::verdict::{HorizonNote, UnknownReason, Verdict};
use crate::bitslice::Circuit;
use crate::law::{Law, Missing, Program, Unfit};
use crate::proof::RuleFacts;
use crate::universe::{Tabulated, Universe, UniverseError};

/// A text that changes with everything that can change a verdict besides universe, configuration, law and seed: the versions of
/// the harness, of universes, of verdicts and of proofs.
pub const EVALUATION_SEMANTICS: &str = "popper-harness/4;popper-universe/1;2.0.0;1.1.0";

/// A reason why a harness cannot be made for a universe and a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// A field of the configuration is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The universe is invalid.
    #[error("universe: {0}")]
    Universe(#[from] UniverseError),
}

/// A harness, which decides laws of one universe.
///
/// It is pure: the same universe, configuration, law and seed give the same verdict, for any number of threads, on any
/// machine.
pub struct Harness {
    universe: Arc<Tabulated>,
    config: Config,
    sim_hash: String,
    config_hash: String,
    circuit: Arc<Circuit>,
    facts: Arc<RuleFacts>,
}

impl Harness {
    /// Creates a harness for a universe, which is tabulated once.
    ///
    /// # Errors
    /// [`HarnessError`] when a field of the configuration is out of range or the universe is invalid.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the harness keeps the universe as a table, so a caller need not keep it"
    )]
    pub fn new(universe: impl Universe, config: Config) -> Result<Self, HarnessError> {
        config.check()?;
        let universe = Tabulated::of(&universe)?;
        Ok(Self {
            sim_hash: universe.definition_hash(),
            config_hash: config.hash(),
            circuit: Arc::new(Circuit::new(universe.rule())),
            facts: Arc::default(),
            universe: Arc::new(universe),
            config,
        })
    }

    /// Returns the same harness with another seed.
    ///
    /// The hash of the configuration does not change, since the seed is not part of it.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self {
            universe: Arc::clone(&self.universe),
            config: self.config.clone().seed(seed),
            sim_hash: self.sim_hash.clone(),
            config_hash: self.config_hash.clone(),
            circuit: Arc::clone(&self.circuit),
            facts: Arc::clone(&self.facts),
        }
    }

    /// Returns the universe whose laws are decided.
    pub fn universe(&self) -> &Tabulated {
        &self.universe
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the sha256 of the universe's definition, 64 hex digits.
    pub fn sim_hash(&self) -> &str {
        &self.sim_hash
    }

    /// Returns the sha256 of the configuration without its seed, 64 hex digits.
    pub fn config_hash(&self) -> &str {
        &self.config_hash
    }

    /// Decides a law.
    pub fn evaluate(&self, law: &Law) -> Verdict {
        self.evaluate_with_stop(law, &|| false)
    }

    /// Decides a law, unless `stop` returns `true` before the end.
    ///
    /// If `stop` returned `true`, the verdict is UNKNOWN `resource_limit`. If a counterexample was found before, it is FAIL with
    /// a counterexample that can be derived again and is neither `minimized` nor `minimal`. Otherwise the verdict is that of
    /// [`evaluate`](Self::evaluate), byte for byte.
    pub fn evaluate_with_stop(&self, law: &Law, stop: Stop<'_>) -> Verdict {
        let fingerprint = law.fingerprint();
        let mut verdict = Verdict::new(
            law.id.clone(),
            fingerprint.clone(),
            self.sim_hash.clone(),
            self.config_hash.clone(),
            self.config.seed,
        );
        verdict.evidence.horizon = HorizonNote {
            t: law.quantifiers.t,
            h: law.quantifiers.h,
            ..HorizonNote::default()
        };
        match self.resolve(law) {
            Err((reason, note)) => {
                verdict.reason_code = Some(reason);
                verdict.notes.push(note);
                verdict
            }
            Ok(program) => {
                let budget = Budget::new(stop);
                let compiled = CompiledUniverse {
                    universe: self.universe.as_ref(),
                    circuit: &self.circuit,
                    max_t: self.config.max_t,
                };
                let evaluation = Evaluation::new(
                    &self.config,
                    compiled,
                    law,
                    &program,
                    &fingerprint,
                    &self.facts,
                    &budget,
                );
                judge::verdict(&evaluation, &verdict)
            }
        }
    }

    /// Compiles the law, or returns the first reason why that fails, in the order in which reasons count.
    fn resolve(&self, law: &Law) -> Result<Program, (UnknownReason, String)> {
        let compiled = Program::compile(law, self.universe.as_ref());
        let lacks = &law.capabilities;
        let observable = lacks
            .missing_observables
            .iter()
            .find(|name| !self.has_observable(law, name));
        let transform = lacks
            .missing_transforms
            .iter()
            .find(|name| !knows_transform(self.universe.as_ref(), name));
        let generator = lacks
            .missing_generators
            .iter()
            .find(|name| CaseFamily::by_name(name).is_none());
        let declared =
            |name: &String| format!("the law declares that `{name}` is missing, and it is");
        match (&compiled, observable, transform, generator) {
            (Err(Unfit::Missing(missing)), ..) if !matches!(missing, Missing::Transform { .. }) => {
                Err((UnknownReason::MissingObservable, missing.to_string()))
            }
            (_, Some(name), ..) => Err((UnknownReason::MissingObservable, declared(name))),
            (Err(Unfit::Missing(missing)), ..) => {
                Err((UnknownReason::MissingTransform, missing.to_string()))
            }
            (_, _, Some(name), _) => Err((UnknownReason::MissingTransform, declared(name))),
            (_, _, _, Some(name)) => Err((UnknownReason::MissingGenerator, declared(name))),
            (Err(Unfit::Ambiguous(ambiguity)), ..) => {
                Err((UnknownReason::AmbiguousClaim, ambiguity.to_string()))
            }
            (Ok(_), ..) => {
                compiled.map_err(|unfit| (UnknownReason::AmbiguousClaim, unfit.to_string()))
            }
        }
    }

    /// Whether an observable that a law declares missing exists.
    fn has_observable(&self, law: &Law, name: &str) -> bool {
        let declared = law
            .observables
            .iter()
            .find(|observable| observable.name == name);
        let expr = declared.map_or(name, |observable| observable.expr.as_str());
        Program::measures(expr, self.universe.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::EVALUATION_SEMANTICS;
    use crate::decide::VERDICT_VERSION;
    use crate::decide::config::SEMANTICS;
    use crate::{proof, universe};

    #[test]
    fn the_semantics_of_an_evaluation_have_every_version() {
        let parts = [
            SEMANTICS,
            universe::SEMANTICS,
            VERDICT_VERSION,
            proof::SCHEMA_VERSION,
        ];
        assert_eq!(EVALUATION_SEMANTICS, parts.join(";"));
    }
}
