//! What may be spent, checked before anything is sent.

use llm_client::Usd;
use pscale_blocks::{O200k, TokenCounter as _};

use crate::kernel::Inner;
use crate::{BrainRequest, Tier, tools, window};

/// A reply is reckoned to have at least so many tokens.
const REPLY: u64 = 1_000;

/// The tokens of a request by our own count; the provider counts differently.
pub(crate) fn tokens(request: &BrainRequest) -> u64 {
    let system = request.system.iter().filter_map(llm_client::Block::as_text);
    let system: usize = system.map(|text| O200k.count(text)).sum();
    let tools = O200k.count(&tools::as_sent(&request.tools));
    (system + tools + window::tokens(&request.messages, &O200k)) as u64
}

/// Why a request must not be sent, as a line for the person.
pub(crate) fn refuse(inner: &Inner, request: &BrainRequest) -> Option<String> {
    let info = inner.brain.info();
    let budgets = inner.config.settings.budgets;
    let usage = inner.usage();
    let prompt = tokens(request);
    if usage.turn.input.saturating_add(prompt) > budgets.input_tokens {
        return Some(format!(
            "stopped: this turn has sent {} tokens, the next request has about {prompt}, and {} are allowed (budgets.input_tokens)",
            usage.turn.input, budgets.input_tokens
        ));
    }
    if usage.turn.output >= budgets.output_tokens {
        return Some(format!(
            "stopped: this turn has taken {} tokens of replies, {} are allowed (budgets.output_tokens)",
            usage.turn.output, budgets.output_tokens
        ));
    }
    if info.offline.is_some() {
        return None;
    }
    let model = match request.tier {
        Tier::Default => &info.model,
        Tier::Fast => &info.fast,
    };
    let price = inner.prices.find(&info.provider, model);
    let next = price
        .and_then(|model| model.dearest(prompt, REPLY))
        .unwrap_or(Usd::ZERO);
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
    caps.into_iter().find_map(|(what, spent, cap, name)| {
        let cap = cap?;
        let over = spent.checked_add(next).is_none_or(|sum| sum > cap);
        over.then(|| {
            format!(
                "stopped: this {what} has cost {spent}, the next request about {next}, and {cap} are allowed ({name})"
            )
        })
    })
}
