//! The model client, the clock and the prices of experiments.

use llm_types::Clock;

use crate::run::pipeline::{PriceList, Pricing};
use crate::{LocalCounter, ModelClient};

/// The model client, clock, tokenizer and prices of experiments.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Context<'a> {
    /// The client that the roles are asked through.
    pub client: &'a dyn ModelClient,
    /// The time, for the record.
    pub clock: &'a dyn Clock,
    /// Counts tokens where the provider does not.
    pub counter: &'a dyn LocalCounter,
    /// The prices of prompts, for [`crate::metrics::cost::Cost::per_1000_messages`].
    pub prices: &'a [PriceList],
    /// The counts that costs are computed from; without it a result has no cost. A [`crate::Runner`] measures it.
    pub pricing: Option<&'a Pricing>,
}

impl<'a> Context<'a> {
    /// Works without prices.
    pub fn new(
        client: &'a dyn ModelClient,
        clock: &'a dyn Clock,
        counter: &'a dyn LocalCounter,
    ) -> Self {
        Self {
            client,
            clock,
            counter,
            prices: &[],
            pricing: None,
        }
    }

    /// Computes costs by these prices.
    #[must_use]
    pub fn prices(mut self, prices: &'a [PriceList]) -> Self {
        self.prices = prices;
        self
    }
}
