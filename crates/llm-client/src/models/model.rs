use std::collections::BTreeMap;

use jiff::civil::Date;
use llm_types::{Cost, CostSource, Usage, Usd};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::price::{Factor, Sum};
use super::{Price, Tier};

/// What is known of one model at one provider.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and they come in any combination"
)]
pub struct Model {
    /// [`crate::provider::Provider::name`].
    pub provider: String,
    /// Its id there. A `*` at the end stands for any further text.
    pub id: String,
    /// Other ids of it, in the same form.
    pub aliases: Vec<String>,
    /// Whether it is still served.
    pub status: ModelStatus,
    /// The day it was, or will be, retired.
    pub retired_at: Option<Date>,
    /// The day of the table that says so.
    pub status_on: Option<Date>,
    /// Prompt and reply in tokens.
    pub context: Option<u64>,
    /// The longest reply in tokens.
    pub max_output: Option<u32>,
    /// How it can be told to think.
    pub thinking: ModelThinking,
    /// The efforts it takes; empty: not known, any is sent.
    pub effort: Vec<String>,
    /// It takes `temperature`, `top_p` and `top_k`, where the protocol does.
    pub sampling: bool,
    /// It can be made to call a tool.
    pub forced_tools: bool,
    /// The last message may be the start of its own answer.
    pub prefill: bool,
    /// It can be held to a JSON schema.
    pub structured: bool,
    /// Its prices, for the shortest prompts first; empty: not known.
    pub tiers: Vec<Tier>,
    /// The day of the table that holds the prices.
    pub priced_on: Option<Date>,
    /// What one call of a tool that the provider runs costs, by its name in [`Usage::server_tools`].
    pub server_tools: BTreeMap<String, Usd>,
    /// What the prices of its tokens are multiplied by when [`crate::Request::extra`] holds `KEY=VALUE`, in billionths:
    /// 6,000,000,000 for `speed=fast` is six times the price.
    pub multipliers: BTreeMap<String, u64>,
    /// The provider tells the cost of each call, which wins over the prices here.
    pub reports_cost: bool,
    /// Where all this was read.
    pub source: String,
    /// It was read there; else some of it is a guess.
    pub verified: bool,
}

/// Whether a model is still served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelStatus {
    /// It is.
    Active,
    /// It is, but another is recommended.
    Legacy,
    /// It is not.
    Retired,
    /// Nobody looked.
    #[default]
    Unknown,
}

/// How a model can be told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelThinking {
    /// It does not think.
    None,
    /// With a number of tokens.
    Budget,
    /// With a number of tokens, or as much as it finds right. Also when nothing is known: what is asked is sent.
    #[default]
    Both,
    /// As much as it finds right, or not at all.
    Adaptive,
    /// As much as it finds right; it cannot be turned off.
    AdaptiveOnly,
}

/// Keys of [`crate::Request::extra`] that change the price of a call.
const PRICED_KEYS: [&str; 3] = ["speed", "service_tier", "inference_geo"];

impl Model {
    /// A model that no table knows: whatever is asked is sent, and nobody knows what it costs.
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

    /// What `usage` costs: exact, and rounded up to the nano-dollar once, at the end.
    ///
    /// None if a price that it takes is not known, or the sum is above 9.2 billion dollars.
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

    /// What all prices of tokens are multiplied by in a request with these further fields, or the first field that the
    /// table has no factor for.
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

    /// [`Self::cost`] with the day of the prices.
    pub fn priced(&self, usage: &Usage) -> Cost {
        self.priced_at(usage, Factor::ONE)
    }

    pub(crate) fn priced_at(&self, usage: &Usage, factor: Factor) -> Cost {
        let from = self.priced_on.map(|day| CostSource::Table {
            read_on: day.to_string(),
        });
        match (self.cost_at(usage, factor), from) {
            (Some(usd), Some(from)) => Cost {
                usd: Some(usd),
                from,
            },
            _ => Cost::UNKNOWN,
        }
    }

    /// The most that a prompt of about `prompt_tokens` and a reply of at most `max_tokens` can cost: every token of
    /// the prompt at the dearest known price of prompts, in this tier or one of longer prompts, for the number may
    /// be an estimate. Tools that the provider runs are not in it.
    pub fn dearest(&self, prompt_tokens: u64, max_tokens: u64) -> Option<Usd> {
        self.dearest_at(prompt_tokens, max_tokens, Factor::ONE)
    }

    pub(crate) fn dearest_at(
        &self,
        prompt_tokens: u64,
        max_tokens: u64,
        factor: Factor,
    ) -> Option<Usd> {
        self.tiers_from(prompt_tokens)
            .map(|price| {
                let mut sum = Sum::at(factor);
                sum.tokens(prompt_tokens, Some(price.dearest_input()));
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

    /// How well `asked` fits the model's ids: a longer pattern better than a shorter one, an alias better than a
    /// pattern, the id itself best.
    pub(super) fn fit(&self, asked: &str) -> Option<usize> {
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
