//! Encode, decode in a fresh context, judge: the calls, in order, and what they come to.

mod assembly;
mod experiment;
mod pricing;
mod roles;
mod score;
mod stage;
mod tokens;

pub use experiment::run_experiment;
pub use pricing::{PriceList, Pricing};
pub use roles::{
    Encoded, RoleConfig, decode, encode, execute, judge_implementability, judge_semantic,
};
pub use stage::{CallTotals, Failure, Stage};

use crate::store::SharedStore;
use crate::{Clock, LocalCounter, ModelPort};

/// What experiments work with.
pub struct Context<'a> {
    /// Who answers.
    pub port: &'a dyn ModelPort,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// Counts tokens where the provider does not.
    pub counter: &'a dyn LocalCounter,
    /// Where calls are kept, for [`crate::run_matrix`].
    pub store: &'a SharedStore,
    /// Requests under way at the same time, at least 1, for [`crate::run_matrix`].
    pub concurrency: usize,
    /// What prompts cost, for [`crate::Cost::per_1000_messages`].
    pub prices: &'a [PriceList],
    /// What costs are reckoned from; without it a result has none. [`crate::run_matrix`] measures it by itself.
    pub pricing: Option<&'a Pricing>,
}
