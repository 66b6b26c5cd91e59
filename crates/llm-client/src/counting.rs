//! How many tokens a prompt has: asked of the provider once, else estimated and marked so.

use crate::client::{Client, Inner};
use crate::pipeline::{self, Answer, Mode};
use crate::provider::Route;
use crate::tokens::CountKey;
use crate::types::{Count, CountSource, Request};
use crate::{CountPolicy, Error};

impl Client {
    /// Asks how many tokens the prompt of `request` has. The answer to the same body is remembered.
    ///
    /// Where the provider has no count, or calls its own an estimate, so is the answer; with
    /// [`CountPolicy::ExactOnly`] that is an error.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn count_tokens(&self, request: &Request) -> Result<Count, Error> {
        let inner = &self.inner;
        let fitted = inner.fit(request, inner.target(request))?;
        if !fitted.caps.count_tokens {
            return inner.estimated(fitted.prompt, "the protocol has no count of tokens", || {
                Error::refused(
                    "counts",
                    "an exact count is asked for, and this provider has none",
                )
            });
        }
        let wire =
            fitted
                .provider
                .encode(&fitted.request, &fitted.target.model, Route::CountTokens)?;
        let mut key = CountKey::new(&fitted.target.provider, &wire.body);
        if inner.recorder.is_some() || inner.player.is_some() {
            key = key.with_replay_key(request.replay_key.as_deref());
        }
        if let Some(count) = inner.counts.get(&key) {
            return Ok(count);
        }
        match pipeline::run(inner, request, Mode::Count).await {
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
            Ok(_) => Err(Error::protocol(
                "a provider answered in another form than asked",
            )),
            // No such route: an older or a partial server.
            Err(
                error @ Error::Api {
                    status: 404 | 405 | 501,
                    ..
                },
            ) => {
                let reason = format!("the server has no count of tokens ({error})");
                inner.estimated(fitted.prompt, &reason, || error)
            }
            Err(error) => Err(error),
        }
    }
}

impl Inner {
    fn estimated(
        &self,
        tokens: u64,
        reason: &str,
        error: impl FnOnce() -> Error,
    ) -> Result<Count, Error> {
        match self.settings.counts {
            CountPolicy::Any => Ok(Count {
                tokens,
                source: CountSource::Estimate {
                    method: self.settings.estimator.name().to_owned(),
                    reason: reason.to_owned(),
                },
            }),
            CountPolicy::ExactOnly => Err(error()),
        }
    }
}
