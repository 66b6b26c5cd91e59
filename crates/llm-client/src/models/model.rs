use std::collections::BTreeMap;

use jiff::civil::Date;
use llm_types::{Cost, CostSource, Usage, Usd};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::price::{Factor, Sum};
use super::{Price, Tier};

/// The facts about one model at one provider.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the abilities of a model come in any combination"
)]
pub struct Model {
    /// The provider's name, as in [`crate::provider::Provider::name`].
    pub provider: String,
    /// The model's id at the provider. A `*` at the end matches any further text.
    pub id: String,
    /// Other ids of the model, in the same form.
    pub aliases: Vec<String>,
    /// Whether the model is still served.
    pub status: ModelStatus,
    /// The day of its retirement, past or planned.
    pub retired_at: Option<Date>,
    /// The day of the table that gives the status.
    pub status_on: Option<Date>,
    /// The context window for prompt and reply, in tokens.
    pub context: Option<u64>,
    /// The longest reply in tokens.
    pub max_output: Option<u32>,
    /// The ways to make it think.
    pub thinking: ModelThinking,
    /// The efforts that it supports. Empty if unknown; then any is sent.
    pub effort: Vec<String>,
    /// Whether it supports `temperature`, `top_p` and `top_k`, if the protocol does.
    pub sampling: bool,
    /// Whether it can be forced to call a tool.
    pub forced_tools: bool,
    /// Whether the last message may be the start of its answer.
    pub prefill: bool,
    /// Whether it supports a JSON schema for its reply.
    pub structured: bool,
    /// The prices, for the shortest prompts first; empty if unknown.
    pub tiers: Vec<Tier>,
    /// The day of the table that holds the prices.
    pub priced_on: Option<Date>,
    /// The price of one call of a provider's tool, by its name in [`Usage::server_tools`].
    pub server_tools: BTreeMap<String, Usd>,
    /// Factors on the prices of tokens by `KEY=VALUE` in [`crate::Request::extra`], in billionths: 6,000,000,000 for
    /// `speed=fast` is six times the price.
    pub multipliers: BTreeMap<String, u64>,
    /// Whether the provider reports the cost of each call, which overrides these prices.
    pub reports_cost: bool,
    /// The source of these facts.
    pub source: String,
    /// Whether the facts were read there; if not, some are assumed.
    pub verified: bool,
}

/// Whether a model is still served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelStatus {
    /// The model is served.
    Active,
    /// The model is served, but another is recommended.
    Legacy,
    /// The model is not served.
    Retired,
    /// The status is not known.
    #[default]
    Unknown,
}

/// The ways to make a model think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelThinking {
    /// The model does not think.
    None,
    /// A number of tokens.
    Budget,
    /// A number of tokens, or the model decides. Also for an unknown model: any setting is sent.
    #[default]
    Both,
    /// The model decides; thinking can be turned off.
    Adaptive,
    /// The model decides; thinking cannot be turned off.
    AdaptiveOnly,
}

/// Keys of [`crate::Request::extra`] that change the price of a call.
const PRICED_KEYS: [&str; 3] = ["speed", "service_tier", "inference_geo"];

impl Model {
    /// A model that is not in a table: every setting is sent, and the cost is unknown.
    pub fn unknown(provider: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            id: id.into(),
            aliases: Vec::new(),
            status: ModelStatus::default(),
            retired_at: None,
            status_on: None,
            context: None,
            max_output: None,
            thinking: ModelThinking::default(),
            effort: Vec::new(),
            sampling: true,
            forced_tools: true,
            prefill: true,
            structured: true,
            tiers: Vec::new(),
            priced_on: None,
            server_tools: BTreeMap::new(),
            multipliers: BTreeMap::new(),
            reports_cost: false,
            source: String::new(),
            verified: false,
        }
    }

    /// The price for a prompt of this many tokens, all three inputs added.
    pub fn price(&self, prompt_tokens: u64) -> Option<&Price> {
        self.tiers_from(prompt_tokens).next()
    }

    /// The cost of `usage`, computed exactly and rounded up to the nano-dollar once, at the end.
    ///
    /// `None` if a price is unknown, or the sum is above 9.2 billion dollars.
    pub fn cost(&self, usage: &Usage) -> Option<Usd> {
        self.cost_at(usage, Factor::ONE)
    }

    fn cost_at(&self, usage: &Usage, factor: Factor) -> Option<Usd> {
        let price = self.price(usage.prompt())?;
        let mut sum = Sum::at(factor);
        sum.tokens(usage.input, Some(price.input));
        sum.tokens(usage.cache_write_5m, price.cache_write_5m);
        sum.tokens(usage.cache_write_1h, price.cache_write_1h);
        sum.tokens(usage.cache_read, price.cache_read);
        sum.tokens(usage.output, Some(price.output));
        for (tool, calls) in &usage.server_tools {
            sum.calls(*calls, self.server_tools.get(tool).copied());
        }
        sum.total()
    }

    /// The factor on all prices of tokens in a request with these `extra` fields, or the first field without a factor in the
    /// table.
    pub(crate) fn factor(&self, extra: &Map<String, Value>) -> Result<Factor, &'static str> {
        let mut product = Factor::ONE;
        for key in PRICED_KEYS {
            let factor = match extra.get(key) {
                None | Some(Value::Null) => continue,
                Some(Value::String(value)) => self.multipliers.get(&format!("{key}={value}")),
                Some(value) => self.multipliers.get(&format!("{key}={value}")),
            };
            let factor = factor.and_then(|factor| product.and(Factor(*factor)));
            product = factor.ok_or(key)?;
        }
        Ok(product)
    }

    /// The cost as in [`Self::cost`], with the day of the prices.
    pub fn priced(&self, usage: &Usage) -> Cost {
        self.priced_at(usage, Factor::ONE)
    }

    pub(crate) fn priced_at(&self, usage: &Usage, factor: Factor) -> Cost {
        let from = self.priced_on.map(|day| CostSource::Table {
            read_on: day.to_string(),
        });
        match (self.cost_at(usage, factor), from) {
            (Some(usd), Some(from)) => Cost::new(usd, from),
            _ => Cost::UNKNOWN,
        }
    }

    /// The maximum cost of a prompt of about `prompt_tokens` and a reply of at most `max_tokens`, without the provider's tools.
    ///
    /// Every token of the prompt counts at the highest known price of prompts, in this tier or one of longer prompts, since the
    /// number may be an estimate.
    pub fn max_cost(&self, prompt_tokens: u64, max_tokens: u64) -> Option<Usd> {
        self.max_cost_at(prompt_tokens, max_tokens, Factor::ONE)
    }

    /// The factor on the prices of tokens in a batch.
    pub(crate) fn batch_factor(&self) -> Option<Factor> {
        self.multipliers.get("batch").copied().map(Factor)
    }

    /// The model at its prices in a batch, rounded up; `None` if the table has no factor of batches for it.
    pub fn in_batches(&self) -> Option<Self> {
        let factor = self.batch_factor()?;
        let mut model = self.clone();
        for tier in &mut model.tiers {
            tier.price = tier.price.times(factor)?;
        }
        Some(model)
    }

    pub(crate) fn max_cost_at(
        &self,
        prompt_tokens: u64,
        max_tokens: u64,
        factor: Factor,
    ) -> Option<Usd> {
        self.tiers_from(prompt_tokens)
            .map(|price| {
                let mut sum = Sum::at(factor);
                sum.tokens(prompt_tokens, Some(price.max_input_price()));
                sum.tokens(max_tokens, Some(price.output));
                sum.total()
            })
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .max()
    }

    fn tiers_from(&self, prompt_tokens: u64) -> impl Iterator<Item = &Price> {
        self.tiers
            .iter()
            .filter(move |tier| tier.up_to_prompt.is_none_or(|most| prompt_tokens <= most))
            .map(|tier| &tier.price)
    }

    /// The rank of the match between `asked` and the model's ids: a longer pattern above a shorter one, an alias above a
    /// pattern, the id itself first.
    pub(super) fn match_rank(&self, asked: &str) -> Option<usize> {
        let by = |name: &str, whole: usize| match name.strip_suffix('*') {
            Some(start) => asked.starts_with(start).then_some(start.len()),
            None => (name == asked).then_some(whole),
        };
        let aliases = self
            .aliases
            .iter()
            .filter_map(|alias| by(alias, usize::MAX - 1));
        by(&self.id, usize::MAX).into_iter().chain(aliases).max()
    }
}
