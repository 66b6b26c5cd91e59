//! The check of budgets before a request is sent.

use std::sync::Arc;

use llm_client::Usd;
use pscale_blocks::{O200k, TokenCounter as _};

use crate::brain::{Cap, Caps};
use crate::conversation::window;
use crate::{Allowance, BrainInfo, BrainRequest, table};

use super::meter::SpendMeter;

/// The tokens of a request by our own count; the provider counts differently.
fn tokens(request: &BrainRequest) -> u64 {
    let system = request.system.iter().filter_map(llm_client::Block::as_text);
    let system: usize = system.map(|text| O200k.count(text)).sum();
    let tools = O200k.count(&table::as_sent(&request.tools));
    (system + tools + window::tokens(&request.messages, &O200k)) as u64
}

/// The spending limit of a request, or a line for the person why it must not be sent.
pub(super) fn allow(
    meter: &SpendMeter,
    info: &BrainInfo,
    request: &BrainRequest,
) -> Result<Allowance, String> {
    let budgets = meter.budgets;
    let usage = meter.usage();
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
    let run = meter.max_usd;
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
        provider: info.provider.clone(),
        prices: meter.prices.clone(),
        prompt,
        each: caps.collect(),
        run,
    };
    Ok(Allowance(Some(Arc::new(caps))))
}
