use std::sync::Arc;

use llm_client::{ModelTable, Usd};

/// The shortest reply in tokens that must be affordable before a request is sent.
const REPLY: u32 = 1_000;

/// The spending limit of a request; a brain asks it before each attempt, with the model of that attempt.
///
/// The default allows everything.
#[derive(Debug, Clone, Default)]
pub struct Allowance(pub(crate) Option<Arc<Caps>>);

#[derive(Debug)]
pub(crate) struct Caps {
    pub provider: String,
    pub prices: Arc<ModelTable>,
    /// Tokens of the prompt by our own count.
    pub prompt: u64,
    pub each: Vec<Cap>,
    /// The cap of the run; a model without a known price is refused under it.
    pub run: Option<Usd>,
}

#[derive(Debug)]
pub(crate) struct Cap {
    pub what: &'static str,
    pub spent: Usd,
    pub most: Usd,
    /// The setting or flag that sets the cap.
    pub name: &'static str,
}

impl Allowance {
    /// The longest reply in tokens that `model` may be asked for where `wanted` would be asked; `charged` is what attempts
    /// for the same request have taken already.
    ///
    /// # Errors
    /// The request must not be sent; why, as a line for the person.
    pub fn reply(&self, model: &str, wanted: u32, charged: Usd) -> Result<u32, String> {
        match &self.0 {
            Some(caps) => caps.reply(model, wanted, charged),
            None => Ok(wanted),
        }
    }
}

impl Caps {
    fn reply(&self, model: &str, wanted: u32, charged: Usd) -> Result<u32, String> {
        let prompt = self.prompt;
        let known = self.prices.find(&self.provider, model);
        let Some(known) = known.filter(|known| known.price(prompt).is_some()) else {
            return match self.run {
                None => Ok(wanted),
                Some(cap) => Err(format!(
                    "stopped: the price of {model} is not known, so {cap} (--max-usd) cannot be kept: give its price in hermitcrab.toml"
                )),
            };
        };
        let least = REPLY.min(wanted);
        let cost = |reply: u32| known.max_cost(prompt, reply.into());
        let mut longest = wanted;
        for limit in &self.each {
            let Cap {
                what, name, most, ..
            } = limit;
            let spent = limit.spent.checked_add(charged).unwrap_or(Usd(i64::MAX));
            let left = Usd(most.0.saturating_sub(spent.0));
            let fits = |reply| cost(reply).is_none_or(|cost| cost <= left);
            if !fits(least) {
                let least = cost(least).unwrap_or(Usd::ZERO);
                return Err(format!(
                    "stopped: this {what} has cost {spent}, the next request takes up to {least}, and {most} are allowed ({name})"
                ));
            }
            // Half and half again: some reply between the least and the longest fits.
            while !fits(longest) {
                longest = (longest / 2).max(least);
            }
        }
        Ok(longest)
    }
}
