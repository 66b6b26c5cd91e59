//! The model client, the clock and the prices of experiments.

use crate::pipeline::{PriceList, Pricing};
use crate::{Clock, LocalCounter, ModelClient};

/// What experiments work with.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Context<'a> {
    /// Who answers.
    pub client: &'a dyn ModelClient,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// Counts tokens where the provider does not.
    pub counter: &'a dyn LocalCounter,
    /// What prompts cost, for [`crate::cost::Cost::per_1000_messages`].
    pub prices: &'a [PriceList],
    /// What costs are computed from; without it a result has none. A [`crate::Runner`] measures it by itself.
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
