//! The maximum cost of an attempt, and the charge for a reply.

use std::sync::Arc;

use llm_types::{Charge, Cost, CostSource, Reply, Request, ToolSpec, Usage, Usd};
use serde_json::Value;

use super::core::ClientCore;
use super::prepare::{CallTerms, LENGTHS, PreparedRequest, REPLY};
use crate::layers::budget::CostBound;
use crate::models::tokens::{self, Media};
use crate::models::{Factor, Model, Price, Tier};
use crate::{Error, ErrorKind, Unpriced};

/// The maximum number of tokens that one use of a provider's tool adds to the prompt.
const TOOL_RESULT: u64 = 10_000;

impl ClientCore {
    /// The row of `model` at the provider of a call.
    fn row<'a>(&'a self, terms: &'a CallTerms, model: &str) -> Option<&'a Model> {
        if model == terms.target.model {
            return terms.row.as_deref();
        }
        self.settings.models.find(&terms.target.provider, model)
    }

    /// The maximum cost of one attempt. A prompt with more than text may have to be counted first.
    pub async fn most(
        self: &Arc<Self>,
        prepared: &PreparedRequest<'_>,
        request: &Request,
    ) -> Result<CostBound, Error> {
        let settings = &self.settings;
        let terms = &prepared.terms;
        let is_priced = self
            .max_cost(terms.row.as_deref(), 0, 0, Factor::ONE)
            .is_some();
        let dollars = settings.budget.usd.is_some();
        if !is_priced && dollars && settings.budget.unpriced == Unpriced::Refuse {
            let model = terms.target.model.clone();
            return Err(ErrorKind::PriceUnknown { model }.into());
        }
        let strict = dollars && is_priced;
        let tools = server_tools(prepared, strict)?;
        let prompt = self.prompt(prepared, request, strict).await?;
        self.most_with(terms, prompt, tools, strict)
    }

    /// The maximum cost of an attempt that was made, by the same bounds, without a count.
    #[cfg(feature = "batch")]
    pub fn most_of_sent(&self, prepared: &PreparedRequest<'_>) -> CostBound {
        let terms = &prepared.terms;
        let tools = server_tools(prepared, false);
        let most = tools.and_then(|tools| self.most_with(terms, terms.prompt.most, tools, false));
        most.unwrap_or_default()
    }

    /// The maximum cost of a prompt of this many tokens, its reply, and its uses of the provider's tools with their fees.
    fn most_with(
        &self,
        terms: &CallTerms,
        prompt: u64,
        (uses, fees): (u64, Usd),
        strict: bool,
    ) -> Result<CostBound, Error> {
        let row = terms.row.as_deref();
        let reply = terms
            .max_tokens
            .or(terms.caps.default_max_tokens)
            .or(row.and_then(|row| row.max_output))
            .unwrap_or(REPLY);
        let lengths = LENGTHS
            .iter()
            .filter_map(|name| terms.extra.get(*name)?.as_u64());
        let reply = lengths.fold(reply.into(), u64::max);
        let prompt = prompt.saturating_add(uses.saturating_mul(TOOL_RESULT));
        let mut usd = self.max_cost_with_extra(row, prompt, reply, terms, strict)?;
        // `OpenRouter` may serve any of `models`.
        let others = terms.extra.get("models").and_then(Value::as_array);
        let refuses = strict && self.settings.budget.unpriced == Unpriced::Refuse;
        for model in others.into_iter().flatten().filter_map(Value::as_str) {
            let row = self.row(terms, model);
            let other = self.max_cost_with_extra(row, prompt, reply, terms, strict)?;
            usd = usd.zip(other).map(|(usd, other)| usd.max(other));
            if usd.is_none() && refuses {
                let model = model.to_owned();
                return Err(ErrorKind::PriceUnknown { model }.into());
            }
        }
        Ok(CostBound {
            usd: usd.map(|usd| usd.checked_add(fees).unwrap_or(Usd(i64::MAX))),
            tokens: prompt.saturating_add(reply),
        })
    }

    /// The tokens of the prompt: counted by the provider, or an upper bound.
    async fn prompt(
        self: &Arc<Self>,
        prepared: &PreparedRequest<'_>,
        request: &Request,
        strict: bool,
    ) -> Result<u64, Error> {
        let bound = prepared.terms.prompt.most;
        let budget = &self.settings.budget;
        if budget.usd.is_none() && budget.tokens.is_none() {
            return Ok(bound);
        }
        let media = tokens::media(&prepared.request).filter(|_| strict);
        if let Some(count) = self.count(prepared, request, media.is_some()).await? {
            return Ok(count);
        }
        match media {
            None | Some(Media::Images) => Ok(bound),
            Some(Media::Unknown(field)) => Err(Error::refused(
                field,
                "its tokens are not known, so the cap in dollars cannot be kept",
            )),
        }
    }

    /// The maximum cost as in [`Self::max_cost`], at the factor that the request's `extra` fields have for this model.
    fn max_cost_with_extra(
        &self,
        row: Option<&Model>,
        prompt: u64,
        reply: u64,
        terms: &CallTerms,
        strict: bool,
    ) -> Result<Option<Usd>, Error> {
        match factor(row, terms) {
            Ok(factor) => Ok(self.max_cost(row, prompt, reply, factor)),
            Err(key) if strict => Err(Error::refused(
                format!("extra.{key}"),
                "its price is not in the models table",
            )),
            Err(_) => Ok(None),
        }
    }

    /// The maximum cost of these tokens at a model, by its row or by the assumed price.
    fn max_cost(
        &self,
        row: Option<&Model>,
        prompt: u64,
        reply: u64,
        factor: Factor,
    ) -> Option<Usd> {
        let listed = row.and_then(|row| row.max_cost_at(prompt, reply, factor));
        match self.settings.budget.unpriced {
            Unpriced::Assume { input, output } if listed.is_none() => {
                assumed(input, output).max_cost_at(prompt, reply, factor)
            }
            _ => listed,
        }
    }

    /// The cost by the table of a call that `model` answered; unknown if a field of the request has an unknown effect on the
    /// price.
    pub fn price_of(&self, usage: &Usage, model: &str, terms: &CallTerms) -> Cost {
        let row = self.row(terms, model).or(terms.row.as_deref());
        let priced = row.and_then(|row| {
            let factor = factor(Some(row), terms).ok()?;
            Some(row.priced_at(usage, factor))
        });
        priced.unwrap_or(Cost::UNKNOWN)
    }

    /// The charge for `reply`. `None` if it reports no usage; then the whole reservation is charged.
    pub fn charge(&self, reply: &Reply, terms: &CallTerms) -> Option<Charge> {
        if reply.usage.output == 0 && !reply.content.is_empty() {
            return None;
        }
        let told = (reply.cost.from == CostSource::Provider).then_some(reply.cost.usd);
        self.charge_usage(&reply.usage, &reply.model, told.flatten(), terms)
    }

    /// The charge for the usage of a call that `model` answered.
    pub fn charge_usage(
        &self,
        usage: &Usage,
        model: &str,
        told: Option<Usd>,
        terms: &CallTerms,
    ) -> Option<Charge> {
        // No prompt has no tokens.
        if !usage.known || usage.partial || usage.prompt() == 0 {
            return None;
        }
        let priced = || {
            let row = self.row(terms, model).or(terms.row.as_deref());
            let factor = factor(terms.row.as_deref(), terms).ok()?;
            let listed = row.and_then(|row| row.priced_at(usage, factor).usd);
            if listed.is_some() || self.settings.budget.usd.is_none() {
                return listed;
            }
            // Under a cap in dollars a reply that nobody can price is not free: else the cap is never reached.
            self.max_cost(terms.row.as_deref(), usage.prompt(), usage.output, factor)
        };
        // A provider that bills another account reports nothing as the cost: a known price counts more.
        let told_more = told.filter(|usd| *usd > Usd::ZERO);
        let usd = told_more.or_else(priced).or(told);
        Some(Charge::new(usd, usage.total(), true))
    }
}

/// The factor on the prices of a model, or the field of `extra` whose factor is unknown.
fn factor(row: Option<&Model>, terms: &CallTerms) -> Result<Factor, &'static str> {
    let factor = match row {
        Some(row) => row.factor(&terms.extra),
        None => Model::unknown("", "").factor(&terms.extra),
    };
    factor?.and(terms.discount).ok_or("batch")
}

/// The maximum uses of the provider's tools, and the cost of these uses.
fn server_tools(prepared: &PreparedRequest<'_>, strict: bool) -> Result<(u64, Usd), Error> {
    let row = prepared.terms.row.as_deref();
    let (mut uses, mut fees) = (0_u64, Usd::ZERO);
    for (index, tool) in prepared.request.tools.iter().enumerate() {
        let ToolSpec::Server(raw) = tool else {
            continue;
        };
        let field = || format!("tools.{index}");
        let tool: Value = raw.to().unwrap_or_default();
        let Some(most) = tool["max_uses"].as_u64() else {
            if strict {
                return Err(Error::refused(
                    field(),
                    "set max_uses, else the cap cannot be kept",
                ));
            }
            continue;
        };
        let name = tool["name"].as_str().unwrap_or_default();
        let price = row.and_then(|row| row.server_tools.get(&format!("{name}_requests")));
        if price.is_none() && strict {
            let why = format!("the price of {name} is not in the models table");
            return Err(Error::refused(field(), why));
        }
        let fee = price.and_then(|price| price.0.checked_mul(i64::try_from(most).ok()?));
        let sum = fee.and_then(|fee| fees.checked_add(Usd(fee)));
        fees = if price.is_none() {
            fees
        } else {
            sum.unwrap_or(Usd(i64::MAX))
        };
        uses = uses.saturating_add(most);
    }
    Ok((uses, fees))
}

/// A model with an assumed price.
fn assumed(input: Usd, output: Usd) -> Model {
    let price = Price {
        input,
        output,
        cache_write_5m: None,
        cache_write_1h: None,
        cache_read: None,
    };
    Model {
        tiers: vec![Tier {
            up_to_prompt: None,
            price,
        }],
        ..Model::unknown("", "")
    }
}
