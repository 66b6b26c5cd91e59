//! A request made ready for one target, and what is known of it beforehand and afterwards.

use std::sync::Arc;
use std::time::Duration;

use crate::adapt::{adapt, retarget};
use crate::check::check;
use crate::client::Inner;
use crate::layers::retry;
use crate::provider::{Caps, Provider, Route};
use crate::tokens::Bytes3;
use crate::types::{Cost, CostSource, Reply, ReplySource, Request, Target, Warning};
use crate::{Error, ErrorKind};

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
        let warnings = adapt(&mut request, &caps, row)?;
        Ok(Fitted {
            prompt: settings.estimator.estimate(&request),
            request,
            target,
            provider,
            caps,
            warnings,
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
            self.price(reply, fitted);
        }
    }

    /// Adds what the table knows of a model that is not served, and how long the server asks to wait.
    pub fn explain(&self, error: &mut Error) {
        if let ErrorKind::ModelUnavailable(model) = error.kind_mut() {
            self.settings.models.explain(model);
        }
        let wait = retry::wished(&error.trail().wish, self.clock.now());
        error.trail_mut().retry_after = wait;
    }
}
