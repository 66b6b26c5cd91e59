//! The calls of an experiment in order (encode, decode in a fresh context, judge) and their result.

mod assembly;
mod experiment;
mod own;
mod pricing;
mod roles;
mod score;
mod stage;
mod tokens;

pub use experiment::run_experiment;
pub use pricing::{PriceList, Pricing};
pub use roles::{EncodedText, decode, encode, execute, judge_implementability, judge_semantic};
pub use stage::{Stage, StageFailure};
