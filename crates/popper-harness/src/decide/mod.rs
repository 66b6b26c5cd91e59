//! The decision of a law: prove, exhaust, sample, search, shrink.

mod adversarial;
mod arithmetic;
mod behaviour;
mod budget;
mod config;
mod constants;
mod content;
mod evaluation;
mod evaluator;
mod exhaustive;
mod failing;
mod generators;
mod harness;
mod judge;
mod minimize;
mod mutants;
mod power;
mod rng;
mod sampled;
mod shrink;
mod tautology;
mod verdict;

pub use behaviour::{behaviour_hash, behaviour_hash_with_stop};
pub use budget::Stop;
pub use config::{Config, ConfigError};
pub use content::EmpiricalContent;
pub use generators::CaseFamily;
pub use harness::{EVALUATION_SEMANTICS, Harness, HarnessError};
pub use verdict::{
    Evidence, HorizonNote, Mutation, Power, RingPower, Status, Strength, UnknownReason,
    VERDICT_VERSION, Verdict,
};
