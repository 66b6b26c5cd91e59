//! What may be spent, checked before anything is sent.

use llm_client::Usd;
use pscale_blocks::{O200k, TokenCounter as _};

use crate::brain::MAX_TOKENS;
use crate::kernel::Inner;
use crate::{BrainRequest, tools, window};

/// A request is only sent if a reply of so many tokens can be paid.
const REPLY: u64 = 1_000;

/// The tokens of a request by our own count; the provider counts differently.
pub(crate) fn tokens(request: &BrainRequest) -> u64 {
    let system = request.system.iter().filter_map(llm_client::Block::as_text);
    let system: usize = system.map(|text| O200k.count(text)).sum();
    let tools = O200k.count(&tools::as_sent(&request.tools));
    (system + tools + window::tokens(&request.messages, &O200k)) as u64
}

/// The longest reply that the caps leave room for, if they are near; or why the request must not be sent, as a line for
/// the person.
pub(crate) fn allow(inner: &Inner, request: &BrainRequest) -> Result<Option<u32>, String> {
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
    let model = info.asked(request);
    if info.offline.is_some() {
        return Ok(request.max_tokens);
    }
    let known = inner.prices.find(&info.provider, model);
    let Some(known) = known.filter(|known| known.price(prompt).is_some()) else {
        return match inner.config.max_usd {
            None => Ok(request.max_tokens),
            Some(cap) => Err(format!(
                "stopped: the price of {model} is not known, so {cap} (--max-usd) cannot be kept: give its price in hermitcrab.toml"
            )),
        };
    };
    let dollars = |amount| Usd::from_dollars(amount).unwrap_or(Usd(i64::MAX));
    let caps = [
        (
            "turn",
            usage.turn.usd,
            Some(dollars(budgets.turn_usd)),
            "budgets.turn_usd",
        ),
        (
            "day",
            usage.day.usd,
            Some(dollars(budgets.day_usd)),
            "budgets.day_usd",
        ),
        ("run", usage.run.usd, inner.config.max_usd, "--max-usd"),
    ];
    let specs = &inner.config.settings;
    let mut specs = specs.models.iter().chain([&specs.fast]);
    let set = specs
        .find(|spec| spec.id == model)
        .and_then(|spec| spec.max_tokens);
    let wanted = u64::from(request.max_tokens.or(set).unwrap_or(MAX_TOKENS));
    let mut longest = wanted;
    for (what, spent, cap, name) in caps {
        let Some(cap) = cap else { continue };
        let left = Usd(cap.0.saturating_sub(spent.0));
        let fits = |reply: u64| known.dearest(prompt, reply).is_none_or(|cost| cost <= left);
        if !fits(REPLY.min(wanted)) {
            let least = known
                .dearest(prompt, REPLY.min(wanted))
                .unwrap_or(Usd::ZERO);
            return Err(format!(
                "stopped: this {what} has cost {spent}, the next request takes up to {least}, and {cap} are allowed ({name})"
            ));
        }
        // Half and half again: some reply between the least and the longest fits.
        while !fits(longest) {
            longest = (longest / 2).max(REPLY);
        }
    }
    let longest = u32::try_from(longest).unwrap_or(u32::MAX);
    Ok(if u64::from(longest) < wanted {
        Some(longest)
    } else {
        request.max_tokens
    })
}
