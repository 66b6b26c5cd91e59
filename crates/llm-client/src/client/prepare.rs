//! A request prepared for a target: checked, adapted to the model, fitted to the budget, encoded.

use std::time::Duration;

use bytes::Bytes;
use llm_types::{Request, Target, Warning};

use super::adapt::{adapt, retarget};
use super::check::check;
use super::core::ClientCore;
use crate::Error;
use crate::models::tokens;
use crate::provider::{Capabilities, HttpRequest, Method, Route};

/// The longest reply in tokens, if neither request, protocol nor table give one.
pub(super) const REPLY: u32 = 8192;
/// Fields of [`Request::extra`] that limit the length of a reply.
pub(super) const LENGTHS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// The HTTP request that a call would send.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// The method.
    pub method: Method,
    /// The whole path at the server.
    pub path: String,
    /// Every header except those of the connection; a secret one as `sha256:` and its hash in hex.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
    /// The body's SHA-256 in lower-case hex.
    pub sha256: String,
}

/// A request that is checked and adapted to its target.
pub(crate) struct PreparedRequest {
    pub request: Request,
    pub target: Target,
    pub caps: Capabilities,
    pub warnings: Vec<Warning>,
    /// The estimated tokens of the prompt.
    pub prompt: u64,
}

impl PreparedRequest {
    /// The route for the answer `wanted`: a whole reply that could take longer than `total` is streamed.
    pub(crate) fn route(&self, wanted: Route, total: Duration) -> Route {
        if wanted != Route::Whole {
            return wanted;
        }
        let most = self.request.max_tokens.or(self.caps.default_max_tokens);
        let seconds = u64::from(most.unwrap_or(0)) * 3600 / 128_000;
        if self.caps.whole_by_stream && seconds > total.as_secs() {
            Route::Stream
        } else {
            Route::Whole
        }
    }
}

impl ClientCore {
    /// The encoded request for the answer `wanted`.
    pub fn encode(&self, prepared: &PreparedRequest, wanted: Route) -> Result<HttpRequest, Error> {
        let settings = &self.settings;
        let route = prepared.route(wanted, settings.timeouts.total);
        settings
            .provider
            .encode(&prepared.request, &prepared.target, route)
    }

    /// Checks `request` and adapts it to `target`, a model of the client's provider.
    pub fn prepare(&self, request: &Request, target: Target) -> Result<PreparedRequest, Error> {
        let caps = self.settings.provider.capabilities(&target.model);
        check(request, &caps)?;
        let mut request = request.clone();
        retarget(&mut request, &target);
        let settings = &self.settings;
        let row = settings.models.find(&target.provider, &target.model);
        let warnings = adapt(&mut request, &caps, row)?;
        Ok(PreparedRequest {
            prompt: tokens::estimate(&request),
            request,
            target,
            caps,
            warnings,
        })
    }

    /// Adds the longest reply to a request under a cap, since an unlimited one cannot be reserved for. Returns whether that
    /// changed the request.
    pub fn limit_reply(&self, prepared: &mut PreparedRequest) -> bool {
        let budget = &self.settings.budget;
        let capped = budget.usd.is_some() || budget.tokens.is_some();
        if !capped || prepared.caps.offline.is_some() {
            return false;
        }
        let request = &mut prepared.request;
        let extras = request.extra.len();
        // A null takes the field out of the body, and what is no number is no limit.
        let is_length = |name: &String| LENGTHS.contains(&name.as_str());
        request
            .extra
            .retain(|name, value| !is_length(name) || value.is_u64());
        if request.max_tokens.is_some()
            || prepared.caps.default_max_tokens.is_some()
            || request.extra.keys().any(is_length)
        {
            return request.extra.len() != extras;
        }
        let row = self
            .settings
            .models
            .find(&prepared.target.provider, &prepared.target.model);
        let most = row.and_then(|row| row.max_output).unwrap_or(REPLY);
        request.max_tokens = Some(most);
        prepared.warnings.push(Warning::new(
            "max_tokens",
            format!("set to {most}: a budget needs a longest reply"),
        ));
        true
    }
}
