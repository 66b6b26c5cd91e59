//! The token counts and prices from which the saving of an encoding is computed.

use std::collections::HashMap;

use futures_util::future::{join, join_all};
use llm_types::Usd;

use super::tokens::count;
use crate::judge::score::TokenPair;
use crate::metrics::cost::{Cost, MoneySaved, OverheadSource, known_overhead_tokens};
use crate::model::CallTally;
use crate::plan::{Config, Costs, EncodingSystem};
use crate::text::setters::setters;
use crate::{Context, TokenCounter, TokenSource};

/// The price of a prompt at one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriceList {
    /// The provider, the model and the date of the prices.
    pub name: String,
    /// The price of a million prompt tokens.
    pub input: Usd,
    /// The model whose price it is; `None` for that of every encoder.
    pub model: Option<String>,
}

impl PriceList {
    /// Creates the list `name` with the price of a million prompt tokens.
    pub fn new(name: impl Into<String>, input: Usd) -> Self {
        Self {
            name: name.into(),
            input,
            model: None,
        }
    }

    setters! {
        model: Option<String>,
    }
}

/// The counts that the costs of a run are computed from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pricing {
    /// The counts of each encoder model.
    encoders: HashMap<String, EncoderCounts>,
    lists: Vec<PriceList>,
}

/// The counts of an encoder model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct EncoderCounts {
    /// The number of tokens of each set of rules, with the source of the count, by the SHA-256 of the rules.
    rules: HashMap<String, (u64, TokenSource)>,
    /// The tokens that a message adds to its text, if that is known.
    overhead: Option<u64>,
    overhead_source: OverheadSource,
}

impl Pricing {
    /// Counts the tokens of the rules with each encoder model, and measures the message overhead if the configuration asks for
    /// it. If the provider does not count, the count is an estimate with the source `local`. Without cost figures nothing is
    /// counted.
    ///
    /// After a failure that ends the run (a key, an account, a cap) the client sends no further request.
    pub(crate) async fn measure(
        ctx: &Context<'_>,
        config: &Config,
        encodings: &[EncodingSystem],
    ) -> Self {
        if config.cost == Costs::None {
            return Self::default();
        }
        let encoders = config.encoders().into_iter().map(async |encoder| {
            let counts = EncoderCounts::measure(ctx, config, encoder, encodings).await;
            (encoder.to_owned(), counts)
        });
        Self {
            encoders: join_all(encoders).await.into_iter().collect(),
            lists: ctx.prices.to_vec(),
        }
    }

    /// Returns the number of tokens of the rules with this hash for an encoder model, and the source of the count.
    pub(crate) fn rules_tokens(&self, sha256: &str, encoder: &str) -> Option<(u64, TokenSource)> {
        self.encoders.get(encoder)?.rules.get(sha256).copied()
    }

    /// Computes the saving of one experiment's encoding, with the tokens and the cost of its calls.
    pub(crate) fn cost(
        &self,
        sha256: &str,
        encoder: &str,
        pair: TokenPair,
        spent: &CallTally,
    ) -> Option<Cost> {
        let [o, e] = [pair.original, pair.encoded].map(|tokens| u64::try_from(tokens).unwrap_or(0));
        let usage = spent.usage.unwrap_or_default();
        let lists = self.lists.iter();
        let lists = lists.filter(|list| list.model.as_ref().is_none_or(|model| model == encoder));
        let per_1000_messages = lists
            .map(|list| MoneySaved::new(list.name.clone(), o, e, list.input))
            .collect();
        let (rules, source) = self.rules_tokens(sha256, encoder)?;
        let counts = self.encoders.get(encoder)?;
        Some(Cost {
            rules_tokens_source: Some(source),
            overhead_tokens_source: counts.overhead_source,
            tokens_spent: usage.input.saturating_add(usage.output),
            usd: spent.usd(),
            per_1000_messages,
            ..Cost::new(o, e, rules, counts.overhead)
        })
    }
}

impl EncoderCounts {
    async fn measure(
        ctx: &Context<'_>,
        config: &Config,
        encoder: &str,
        encodings: &[EncodingSystem],
    ) -> Self {
        let counted = async |wanted: bool, text: &str| {
            if wanted {
                count(ctx.client, config, encoder, text)
                    .await
                    .value
                    .ok()
                    .flatten()
            } else {
                None
            }
        };
        let rules = encodings.iter().map(|encoding| async {
            let tokens = counted(config.cost == Costs::Counted, &encoding.rules).await;
            let tokens = tokens.map_or_else(
                || {
                    let local = TokenCounter::of(encoder);
                    let tokens = local.message_tokens(&encoding.rules, ctx.counter);
                    (tokens, TokenSource::Local)
                },
                |tokens| (tokens, TokenSource::Api),
            );
            (encoding.sha256.clone(), tokens)
        });
        // One letter is one token.
        let (rules, message) = join(join_all(rules), counted(config.measure_overhead, "a")).await;
        let known = known_overhead_tokens(encoder);
        let (overhead, overhead_source) = match (message, known) {
            (Some(tokens), _) => (Some(tokens.saturating_sub(1)), OverheadSource::Measured),
            (None, Some(known)) => (Some(known), OverheadSource::Table),
            (None, None) => (None, OverheadSource::None),
        };
        Self {
            rules: rules.into_iter().collect(),
            overhead,
            overhead_source,
        }
    }
}
