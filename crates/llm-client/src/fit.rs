//! A request made ready for one target, and what is known of it beforehand and afterwards.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::adapt::{adapt, retarget};
use crate::check::check;
use crate::client::Inner;
use crate::layers::budget::Worst;
use crate::models::{Model, Price, Tier};
use crate::provider::{Caps, Provider, Route};
use crate::tokens::Bytes3;
use crate::types::{Cost, CostSource, Reply, ReplySource, Request, Target, Usd, Warning};
use crate::{Error, Unpriced};

/// A request that is checked and fits its target.
pub(crate) struct Fitted {
    pub request: Request,
    pub target: Target,
    pub provider: Arc<dyn Provider>,
    pub caps: Caps,
    pub warnings: Vec<Warning>,
    /// The estimated tokens of the prompt.
    pub prompt: u64,
}

impl Fitted {
    /// How a whole reply is asked for: one that could outlast `total` as a stream.
    pub(crate) fn route(&self, total: Duration) -> Route {
        let most = self.request.max_tokens.or(self.caps.default_max_tokens);
        let seconds = u64::from(most.unwrap_or(0)) * 3600 / 128_000;
        if self.caps.whole_by_stream && seconds > total.as_secs() {
            Route::Stream
        } else {
            Route::Complete
        }
    }
}

impl Inner {
    /// `request` checked and fitted to `target`, a model of the client's provider.
    pub fn fit(&self, request: &Request, target: Target) -> Result<Fitted, Error> {
        let provider = self.settings.provider.clone();
        let caps = provider.capabilities(&target.model);
        check(request, &caps)?;
        let mut request = request.clone();
        retarget(&mut request, &target);
        let settings = &self.settings;
        let row = settings.models.find(&target.provider, &target.model);
        let warnings = adapt(&mut request, &caps, row, settings.policy)?;
        Ok(Fitted {
            prompt: settings.estimator.estimate(&request),
            request,
            target,
            provider,
            caps,
            warnings,
        })
    }

    /// The most that one attempt of `fitted` can take.
    pub fn worst(&self, fitted: &Fitted) -> Result<Worst, Error> {
        let row = self
            .settings
            .models
            .find(&fitted.target.provider, &fitted.target.model);
        let most = fitted
            .request
            .max_tokens
            .map(u64::from)
            .or(fitted.caps.default_max_tokens.map(u64::from))
            .or(row.and_then(|row| row.max_output).map(u64::from))
            .unwrap_or(8192);
        // What goes into the body last may ask for more: a longer reply, or several.
        let extra = |name: &str| fitted.request.extra.get(name).and_then(Value::as_u64);
        let most = ["max_tokens", "max_completion_tokens"]
            .into_iter()
            .filter_map(extra)
            .fold(most, u64::max)
            .saturating_mul(extra("n").unwrap_or(1).max(1));
        let budget = &self.settings.budget;
        let mut usd = self.dearest_price(&fitted.target, fitted.prompt, most);
        // `OpenRouter` may serve any of `models`.
        let others = fitted.request.extra.get("models").and_then(Value::as_array);
        for model in others.into_iter().flatten().filter_map(Value::as_str) {
            let target = Target::new(&fitted.target.provider, model);
            let other = self.dearest_price(&target, fitted.prompt, most);
            usd = usd.zip(other).map(|(usd, other)| usd.max(other));
        }
        if usd.is_none() && budget.usd.is_some() && budget.unpriced == Unpriced::Refuse {
            return Err(Error::PriceUnknown {
                model: fitted.target.model.clone(),
                trail: Box::default(),
            });
        }
        Ok(Worst {
            usd,
            prompt_usd: self.dearest_price(&fitted.target, fitted.prompt, 0),
            tokens: fitted.prompt.saturating_add(most),
            prompt_tokens: fitted.prompt,
        })
    }

    /// The most that so many tokens of `target` can cost, by the table or by assumption.
    fn dearest_price(&self, target: &Target, prompt: u64, output: u64) -> Option<Usd> {
        let settings = &self.settings;
        let row = settings.models.find(&target.provider, &target.model);
        let listed = row.and_then(|row| row.dearest(prompt, output));
        match settings.budget.unpriced {
            Unpriced::Assume {
                input,
                output: per_million,
            } if listed.is_none() => assumed(input, per_million).dearest(prompt, output),
            _ => listed,
        }
    }

    /// What the budget is charged for `reply`. Under a cap in dollars, one whose cost nobody knows is charged by the
    /// same price that was reserved: else a cap would never be reached.
    pub fn charge(&self, reply: &Reply, target: &Target) -> Option<Usd> {
        let usage = &reply.usage;
        reply.cost.usd.or_else(|| {
            self.settings.budget.usd?;
            self.dearest_price(target, usage.prompt(), usage.output)
        })
    }

    /// Fills in what a provider does not know: cost, missing usage, where the reply is from.
    pub fn complete_reply(&self, reply: &mut Reply, fitted: &Fitted, source: Option<ReplySource>) {
        if !reply.usage.known {
            if reply.usage.prompt() == 0 {
                reply.usage.input = fitted.prompt;
            }
            if reply.usage.output == 0 {
                reply.usage.output = Bytes3::content(&reply.content);
            }
        }
        reply.warnings.clone_from(&fitted.warnings);
        if let Some(source) = source {
            reply.source = source;
        }
        if reply.source != ReplySource::Live {
            reply.cost = Cost::FREE;
        } else if reply.cost.from == CostSource::Unknown {
            let models = &self.settings.models;
            let provider = &fitted.target.provider;
            let row = models
                .find(provider, &reply.model)
                .or_else(|| models.find(provider, &fitted.target.model));
            if let Some(row) = row {
                reply.cost = row.priced(&reply.usage);
            }
        }
    }

    /// Adds what the table knows of a model that is not served.
    pub fn explain(&self, error: &mut Error) {
        if let Error::ModelUnavailable { model, .. } = error {
            self.settings.models.explain(model);
        }
    }
}

/// A model of which only the price is known, and that only by assumption.
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
