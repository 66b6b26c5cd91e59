//! What may be spent, checked before anything is sent.

use std::sync::Arc;

use llm_client::{ModelTable, Usd};
use pscale_blocks::{O200k, TokenCounter as _};

use crate::kernel::Inner;
use crate::{BrainRequest, tools, window};

/// A request is only sent if a reply of so many tokens can be paid.
const REPLY: u32 = 1_000;

/// The tokens of a request by our own count; the provider counts differently.
pub(crate) fn tokens(request: &BrainRequest) -> u64 {
    let system = request.system.iter().filter_map(llm_client::Block::as_text);
    let system: usize = system.map(|text| O200k.count(text)).sum();
    let tools = O200k.count(&tools::as_sent(&request.tools));
    (system + tools + window::tokens(&request.messages, &O200k)) as u64
}

/// What a brain may spend on a request: it asks before each attempt, with the model of that attempt.
///
/// The default allows everything.
#[derive(Debug, Clone, Default)]
pub struct Allowance(Option<Arc<Caps>>);

#[derive(Debug)]
struct Caps {
    provider: String,
    prices: Arc<ModelTable>,
    /// Tokens of the prompt by our own count.
    prompt: u64,
    each: Vec<Cap>,
    /// Of the run: without a price nothing says that it is kept.
    run: Option<Usd>,
}

#[derive(Debug)]
struct Cap {
    what: &'static str,
    spent: Usd,
    most: Usd,
    /// The setting or flag that it comes from.
    name: &'static str,
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
        let cost = |reply: u32| known.dearest(prompt, reply.into());
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

/// What may be spent on a request, or why it must not be sent, as a line for the person.
pub(crate) fn allow(inner: &Inner, request: &BrainRequest) -> Result<Allowance, String> {
    let info = inner.brain.info();
    let budgets = inner.config.settings.budgets;
    let usage = inner.usage();
    let prompt = tokens(request);
    if usage.turn.input.saturating_add(prompt) > budgets.input_tokens {
        return Err(format!(
            "stopped: this turn has sent {} tokens, the next request has about {prompt}, and {} are allowed (budgets.input_tokens)",
            usage.turn.input, budgets.input_tokens
        ));
    }
    if usage.turn.output >= budgets.output_tokens {
        return Err(format!(
            "stopped: this turn has taken {} tokens of replies, {} are allowed (budgets.output_tokens)",
            usage.turn.output, budgets.output_tokens
        ));
    }
    if info.offline.is_some() {
        return Ok(Allowance::default());
    }
    let dollars = |amount| Some(Usd::from_dollars(amount).unwrap_or(Usd(i64::MAX)));
    let run = inner.config.max_usd;
    let caps = [
        (
            "turn",
            usage.turn.usd,
            dollars(budgets.turn_usd),
            "budgets.turn_usd",
        ),
        (
            "day",
            usage.day.usd,
            dollars(budgets.day_usd),
            "budgets.day_usd",
        ),
        ("run", usage.run.usd, run, "--max-usd"),
    ];
    let caps = caps.into_iter().filter_map(|(what, spent, cap, name)| {
        Some(Cap {
            what,
            spent,
            most: cap?,
            name,
        })
    });
    let caps = Caps {
        provider: info.provider,
        prices: inner.prices.clone(),
        prompt,
        each: caps.collect(),
        run,
    };
    Ok(Allowance(Some(Arc::new(caps))))
}
