//! A request prepared for a target, and the completion of its reply or error.

use std::time::Duration;

use bytes::Bytes;
use llm_types::{Cost, CostSource, Reply, ReplySource, Request, Target, Warning};

use super::adapt::{adapt, retarget};
use super::check::check;
use super::core::ClientCore;
use crate::layers::retry;
use crate::models::tokens;
use crate::provider::{Capabilities, Route};
use crate::transport::{HttpRequest, Method};
use crate::{Error, ErrorKind};

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

    /// Adds what a provider does not report: cost, missing usage, source.
    pub fn complete_reply(
        &self,
        reply: &mut Reply,
        prepared: &PreparedRequest,
        source: Option<ReplySource>,
    ) {
        if !reply.usage.known {
            if reply.usage.prompt() == 0 {
                reply.usage.input = prepared.prompt;
            }
            if reply.usage.output == 0 {
                reply.usage.output = tokens::estimate_content(&reply.content);
            }
        }
        reply.warnings.extend_from_slice(&prepared.warnings);
        if let Some(source) = source {
            reply.source = source;
        }
        if reply.source != ReplySource::Live {
            reply.cost = Cost::FREE;
        } else if reply.cost.from == CostSource::Unknown {
            self.price(reply, prepared);
        }
    }

    /// Adds the table's facts about a model that is not served, and the wait that the server asks for.
    pub fn explain(&self, error: &mut Error) {
        if let ErrorKind::ModelUnavailable(model) = error.kind_mut() {
            self.settings.models.explain(model);
        }
        let wait = retry::requested_wait(&error.context().retry_headers, self.clock.now());
        error.context_mut().retry_after = wait;
    }
}
