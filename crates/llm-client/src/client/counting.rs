//! The number of tokens of a prompt: counted by the provider once, or estimated and marked as an estimate.

use std::sync::Arc;

use llm_types::{Count, CountSource, Request};

use super::Client;
use super::answer::other_form;
use super::call;
use super::core::ClientCore;
use super::prepare::PreparedRequest;
use crate::models::tokens::{self, CountKey};
use crate::provider::{Answer, HttpRequest, Route};
use crate::{CountPolicy, Error, ErrorKind};

impl Client {
    /// Counts the tokens of the prompt of `request`. The count of the same body is cached.
    ///
    /// The count is an estimate if the provider has none or marks its own as one. With [`CountPolicy::ExactOnly`] that is an
    /// error.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn count_tokens(&self, request: &Request) -> Result<Count, Error> {
        let inner = &self.inner;
        let prepared = inner.prepare(request, inner.target(request))?;
        if !prepared.terms.caps.count_tokens {
            return inner.estimated(
                prepared.terms.prompt.estimate,
                "the protocol has no count of tokens",
                || {
                    Error::refused(
                        "counts",
                        "an exact count is asked for, and this provider has none",
                    )
                },
            );
        }
        let wire = inner.encode(&prepared, Route::Count)?;
        let key = inner.count_key(&prepared, &wire);
        if let Some(count) = inner.counts.get(&key) {
            return Ok(count);
        }
        match call::run(inner, request, Route::Count, Some(wire)).await {
            Ok(Answer::Count(count)) if count.source == CountSource::Exact => {
                inner.counts.put(key, count.clone());
                Ok(count)
            }
            Ok(Answer::Count(count)) => match inner.settings.counts {
                CountPolicy::Any => Ok(count),
                CountPolicy::ExactOnly => Err(Error::bad_response(
                    "an exact count is asked for, and the server calls its own an estimate",
                )),
            },
            Ok(_) => Err(other_form()),
            Err(error) if has_no_route(&error) => {
                let reason = format!("the server has no count of tokens ({error})");
                inner.estimated(prepared.terms.prompt.estimate, &reason, || error)
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether the error says that the server has no such route, like an older or a partial one.
fn has_no_route(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Api {
            status: 404 | 405 | 501,
            ..
        }
    )
}

impl ClientCore {
    /// The key of a count in the cache.
    fn count_key(&self, prepared: &PreparedRequest<'_>, wire: &HttpRequest) -> CountKey {
        let key = CountKey::new(&prepared.terms.target.provider, &wire.body);
        if self.recorder.is_none() && self.player.is_none() {
            return key;
        }
        key.with_replay_key(prepared.request.replay_key.as_deref())
    }

    /// The tokens of the prompt, if the provider counted them before or, where it `may_ask`, does so now; `None` if it
    /// only estimates them or has no such route.
    pub async fn count(
        self: &Arc<Self>,
        prepared: &PreparedRequest<'_>,
        request: &Request,
        may_ask: bool,
    ) -> Result<Option<u64>, Error> {
        if !prepared.terms.caps.count_tokens || !may_ask && self.counts.is_empty() {
            return Ok(None);
        }
        let wire = self.encode(prepared, Route::Count)?;
        let key = self.count_key(prepared, &wire);
        let known = self.counts.get(&key).map(|count| count.tokens);
        if known.is_some() || !may_ask {
            return Ok(known);
        }
        // Most calls do not count: those that do pay for the box of a call inside a call.
        let counting = Box::pin(call::run(self, request, Route::Count, Some(wire)));
        match counting.await {
            Ok(Answer::Count(count)) if count.source == CountSource::Exact => {
                let tokens = count.tokens;
                self.counts.put(key, count);
                Ok(Some(tokens))
            }
            Ok(_) => Ok(None),
            Err(error) if has_no_route(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn estimated(
        &self,
        tokens: u64,
        reason: &str,
        error: impl FnOnce() -> Error,
    ) -> Result<Count, Error> {
        match self.settings.counts {
            CountPolicy::Any => Ok(tokens::estimated(tokens, reason)),
            CountPolicy::ExactOnly => Err(error()),
        }
    }
}
