//! What has to be known before it can be said what an encoding saves.

use std::collections::HashMap;

use super::Context;
use super::stage::Tally;
use super::tokens::count;
use crate::plan::{Costs, Plan};
use crate::{Cost, MoneySaved, TokenPair, estimated_message_tokens, known_wrapper_tokens};

/// What a prompt costs at one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceList {
    /// Whose prices, and of when.
    pub name: String,
    /// Nano-dollars for a million tokens of a prompt.
    pub input_nanos: i64,
}

/// What the costs of a run are reckoned from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pricing {
    /// Tokens of each set of rules, by their SHA-256.
    rules: HashMap<String, u64>,
    /// What a message adds to its text, if that is known.
    wrapper: Option<u64>,
    lists: Vec<PriceList>,
}

impl Pricing {
    /// Counts the rules of `plan`, and what a message adds if that is to be measured. Where the provider does not count, an
    /// estimate stands in its place. Nobody is asked unless the plan says so.
    pub(crate) async fn measure(ctx: &Context<'_>, plan: &Plan) -> Self {
        let config = &plan.config;
        let mut rules = HashMap::new();
        // An estimate takes a tokenizer, which takes longer to load than a short run takes.
        let priced = config.cost != Costs::None;
        for encoding in plan.encodings.iter().filter(|_| priced) {
            let counted = if config.cost == Costs::Counted {
                count(ctx.port, config, &encoding.rules)
                    .await
                    .value
                    .ok()
                    .flatten()
            } else {
                None
            };
            let tokens =
                counted.unwrap_or_else(|| estimated_message_tokens(&encoding.rules, ctx.counter));
            rules.insert(encoding.sha256.clone(), tokens);
        }
        let measured = if config.measure_wrapper {
            // One letter is one token.
            count(ctx.port, config, "a").await.value.ok().flatten()
        } else {
            None
        };
        Self {
            rules,
            wrapper: measured
                .map(|tokens| tokens.saturating_sub(1))
                .or_else(|| known_wrapper_tokens(&config.models.encoder)),
            lists: ctx.prices.to_vec(),
        }
    }

    /// Tokens of the rules with this hash.
    pub(crate) fn rules_tokens(&self, sha256: &str) -> Option<u64> {
        self.rules.get(sha256).copied()
    }

    /// What one experiment says of its encoding, and what it took.
    pub(crate) fn cost(&self, sha256: &str, pair: TokenPair, spent: &Tally) -> Option<Cost> {
        let [o, e] = [pair.original, pair.encoded].map(|tokens| u64::try_from(tokens).unwrap_or(0));
        let usage = spent.usage.unwrap_or_default();
        let per_1000_messages = (self.lists.iter())
            .map(|list| MoneySaved::new(list.name.clone(), o, e, list.input_nanos))
            .collect();
        Some(Cost {
            tokens_spent: usage.input.saturating_add(usage.output),
            usd: spent.usd(),
            per_1000_messages,
            ..Cost::new(o, e, self.rules_tokens(sha256)?, self.wrapper)
        })
    }
}
