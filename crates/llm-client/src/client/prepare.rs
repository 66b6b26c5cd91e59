//! A request prepared for a target: checked, adapted to the model, fitted to the budget, encoded.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use llm_types::{Request, Target, Warning};
use serde_json::{Map, Value};

use super::adapt::{adapt, retarget};
use super::check::check;
use super::core::ClientCore;
use super::own_headers;
use crate::Error;
use crate::models::tokens::{self, PromptTokens};
use crate::models::{Factor, Model};
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

/// A request that is checked and adapted to its target: the caller's own, unless something in it had to change.
pub(crate) struct PreparedRequest<'a> {
    pub request: Cow<'a, Request>,
    pub terms: CallTerms,
}

/// The facts about a call that its end needs too, when the request is gone.
pub(crate) struct CallTerms {
    pub target: Target,
    pub caps: Capabilities,
    /// The row of the model.
    pub row: Option<Arc<Model>>,
    pub warnings: Vec<Warning>,
    /// The tokens of the prompt, without a count.
    pub prompt: PromptTokens,
    pub max_tokens: Option<u32>,
    pub extra: Map<String, Value>,
    /// The factor on the prices of tokens, in addition to those of `extra`: less than one in a batch.
    pub discount: Factor,
}

impl<'a> PreparedRequest<'a> {
    fn new(
        request: Cow<'a, Request>,
        target: Target,
        caps: Capabilities,
        row: Option<Arc<Model>>,
        warnings: Vec<Warning>,
    ) -> Self {
        let terms = CallTerms {
            target,
            caps,
            row,
            warnings,
            prompt: tokens::prompt(&request),
            max_tokens: request.max_tokens,
            extra: request.extra.clone(),
            discount: Factor::ONE,
        };
        Self { request, terms }
    }
}

impl CallTerms {
    /// The route for the answer `wanted`: a whole reply that could take longer than `total` is streamed.
    pub(crate) fn route(&self, wanted: Route, total: Duration) -> Route {
        if wanted != Route::Whole {
            return wanted;
        }
        let most = self.max_tokens.or(self.caps.default_max_tokens);
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
    pub fn encode(
        &self,
        prepared: &PreparedRequest<'_>,
        wanted: Route,
    ) -> Result<HttpRequest, Error> {
        let settings = &self.settings;
        let PreparedRequest { request, terms } = prepared;
        let route = terms.route(wanted, settings.timeouts.total);
        let mut wire = settings.provider.encode(request, &terms.target, route)?;
        own_headers::add(&mut wire.headers, &request.headers)?;
        Ok(wire)
    }

    /// Checks `request` and adapts it to `target`, a model of the client's provider.
    pub fn prepare<'a>(
        &self,
        request: &'a Request,
        target: Target,
    ) -> Result<PreparedRequest<'a>, Error> {
        let caps = self.settings.provider.capabilities(&target.model);
        check(request, &caps)?;
        let row = self.row_of(&target);
        let mut request = Cow::Borrowed(request);
        retarget(&mut request, &target);
        let warnings = adapt(&mut request, &caps, row.as_deref())?;
        Ok(PreparedRequest::new(request, target, caps, row, warnings))
    }

    /// `request` for `target`, neither checked nor adapted.
    #[cfg(feature = "batch")]
    pub fn unchecked<'a>(&self, request: &'a Request, target: Target) -> PreparedRequest<'a> {
        let caps = self.settings.provider.capabilities(&target.model);
        let row = self.row_of(&target);
        let mut request = Cow::Borrowed(request);
        retarget(&mut request, &target);
        PreparedRequest::new(request, target, caps, row, Vec::new())
    }

    fn row_of(&self, target: &Target) -> Option<Arc<Model>> {
        let models = &self.settings.models;
        models.find_shared(&target.provider, &target.model).cloned()
    }

    /// Adds the longest reply to a request under a cap, since an unlimited one cannot be reserved for. Returns whether that
    /// changed the request.
    pub fn limit_reply(&self, prepared: &mut PreparedRequest<'_>) -> bool {
        let budget = &self.settings.budget;
        let capped = budget.usd.is_some() || budget.tokens.is_some();
        let PreparedRequest { request, terms } = prepared;
        if !capped || terms.caps.offline.is_some() {
            return false;
        }
        // A null takes the field out of the body, and what is no number is no limit.
        let is_length = |name: &String| LENGTHS.contains(&name.as_str());
        let is_limit = |name: &String, value: &Value| !is_length(name) || value.is_u64();
        let extras = terms.extra.len();
        terms.extra.retain(|name, value| is_limit(name, value));
        let mut changed = terms.extra.len() != extras;
        if terms.max_tokens.is_none()
            && terms.caps.default_max_tokens.is_none()
            && !terms.extra.keys().any(is_length)
        {
            let most = terms.row.as_ref().and_then(|row| row.max_output);
            let most = most.unwrap_or(REPLY);
            terms.max_tokens = Some(most);
            terms.warnings.push(Warning::new(
                "max_tokens",
                format!("set to {most}: a budget needs a longest reply"),
            ));
            changed = true;
        }
        if changed {
            let request = request.to_mut();
            request.max_tokens = terms.max_tokens;
            request.extra.clone_from(&terms.extra);
        }
        changed
    }
}
