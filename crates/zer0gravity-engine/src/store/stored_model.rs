//! A model with a store in front of it: what the store does not hold is asked once, within the limit, until the run is stopped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_types::{Clock, ErrorClass};
use tokio_util::sync::CancellationToken;

use super::call_store::lock;
use super::limiter::Limiter;
use super::record::SCHEMA_VERSION;
use super::shared_calls::SharedCalls;
use super::stop_switch::StopSwitch;
use super::{CallKey, CallRecord, SharedStore, StoreError, StoredAnswer};
use crate::model::Endpoint;
use crate::model::client::now;
use crate::model::{
    CallFacts, CallTally, CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, Repeat,
    TokenCount,
};
use crate::prompts::Role;
use crate::{FailureKind, ModelClient};

/// A model with the bits of a temperature that it is asked with.
pub(crate) type SampledModel = (String, u64);

/// See the module.
pub(crate) struct StoredModel<'a> {
    model: &'a dyn ModelClient,
    clock: &'a dyn Clock,
    store: &'a SharedStore,
    calls: SharedCalls<'a>,
    limiter: Limiter,
    /// Of a client with batches: the calls that go in one, of which as many wait as there are.
    batches: Option<Limiter>,
    stop: StopSwitch<'a>,
    /// The tally of all calls, each once, also if several experiments share it.
    totals: Mutex<CallTally>,
    /// The errors of models whose provider does not count: asked once.
    uncounted: Mutex<HashMap<String, ModelError>>,
    /// The models with the temperatures that they have answered to, and whether one answer was a reply.
    temperatures: Mutex<HashMap<SampledModel, bool>>,
    /// Held by the one call whose model has not answered to its temperature yet.
    first_of_temperature: tokio::sync::Mutex<()>,
}

/// A call before it has an answer.
struct CallQuery {
    key: CallKey,
    endpoint: Endpoint,
    role: Option<Role>,
    model: String,
    temperature: Option<f64>,
    repeat: Repeat,
}

impl<'a> StoredModel<'a> {
    pub fn new(
        model: &'a dyn ModelClient,
        clock: &'a dyn Clock,
        store: &'a SharedStore,
        concurrency: usize,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            model,
            clock,
            store,
            calls: SharedCalls::new(store),
            limiter: Limiter::new(concurrency),
            batches: None,
            stop: StopSwitch::new(cancel, store),
            totals: Mutex::default(),
            uncounted: Mutex::default(),
            temperatures: Mutex::default(),
            first_of_temperature: tokio::sync::Mutex::default(),
        }
    }

    /// Sets whether the client sends calls to models in batches, so that none of these waits for another.
    pub fn batched(mut self, batched: bool) -> Self {
        self.batches = batched.then(|| Limiter::new(usize::MAX));
        self
    }

    /// The limit that holds for a call. Counts and programs are never in a batch.
    fn limiter(&self, query: &CallQuery) -> &Limiter {
        let is_single =
            query.endpoint == Endpoint::CountTokens || query.role == Some(Role::OwnProgram);
        let batches = self.batches.as_ref().filter(|_| !is_single);
        batches.unwrap_or(&self.limiter)
    }

    /// Returns what all calls took so far, those from the store too, or the error of the store that ended the run.
    pub fn end(&self) -> Result<CallTally, StoreError> {
        match self.stop.take_store_error() {
            Some(error) => Err(error),
            None => Ok(lock(&self.totals).clone()),
        }
    }

    /// The record of a call: from the store, from the same call under way, or of a call made now.
    async fn record<F: Future<Output = StoredAnswer>>(
        &self,
        query: CallQuery,
        ask: impl Fn() -> F,
    ) -> Result<Arc<CallRecord>, ModelError> {
        let find = async |kept: Option<Arc<CallRecord>>| {
            let record = match kept {
                Some(kept) => {
                    self.note_uncounted(&kept);
                    self.note_temperature(&query, &kept.answer);
                    kept
                }
                None => self.make(&query, ask).await?,
            };
            // A program costs nothing at the provider.
            if query.role != Some(Role::OwnProgram) {
                record.answer.add_to(&mut lock(&self.totals));
            }
            Ok(record)
        };
        self.calls.get(&query.key, find).await
    }

    /// Makes a call in its turn and keeps it; an error is of a call that was not made, so that the next run may.
    async fn make<F: Future<Output = StoredAnswer>>(
        &self,
        query: &CallQuery,
        ask: impl Fn() -> F,
    ) -> Result<Arc<CallRecord>, ModelError> {
        // Waits before it has its turn, so that calls that may be made are not held up.
        let _first = self.first_of_temperature(query).await;
        let limiter = self.limiter(query);
        let _permit = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            permit = limiter.permit() => permit,
        };
        // Looked up here, where a call has its turn: those that waited need not learn it from the provider again.
        if query.endpoint == Endpoint::CountTokens
            && let Some(error) = lock(&self.uncounted).get(&query.model)
        {
            let error = ModelError {
                call: CallFacts::default(),
                ..error.clone()
            };
            return Ok(query.answered(StoredAnswer::Error(error)));
        }
        let attempt = || async {
            self.stop.check()?;
            Ok(self.timed(ask()).await)
        };
        let is_refused = |answer: &Result<StoredAnswer, ModelError>| {
            answer.as_ref().is_ok_and(StoredAnswer::is_beyond_the_cap)
        };
        let mut answer = limiter.attempt(attempt, is_refused).await?;
        self.note_temperature(query, &answer);
        if let StoredAnswer::Error(error) = &mut answer {
            // The client ended the call: it was not made, and there is nothing to keep.
            if error.stopped {
                return Err(error.clone());
            }
            if error.kind == FailureKind::TemperatureRefused && self.has_replied(query) {
                // The model takes the temperature, so this failure is about one text.
                error.kind = ErrorClass::BadRequest.into();
            }
            self.stop.note(error, query.endpoint);
        }
        let record = query.answered(answer);
        self.note_uncounted(&record);
        self.store.keep(record.clone()).await;
        match &record.answer {
            StoredAnswer::Error(error) if error.stopped => Err(error.clone()),
            _ => Ok(record),
        }
    }

    /// Waits until no other call tries the temperature of a model for the first time, unless that of `query` is known. A provider that
    /// refuses a temperature ends the run, so of these calls one at a time is made.
    async fn first_of_temperature(
        &self,
        query: &CallQuery,
    ) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        let sampled = query.sampled().filter(|_| self.batches.is_none())?;
        let is_known = || self.has_answered(&sampled);
        if is_known() {
            return None;
        }
        let turn = self.first_of_temperature.lock().await;
        (!is_known()).then_some(turn)
    }

    /// Whether a model has answered to a call with this temperature.
    pub(crate) fn has_answered(&self, sampled: &SampledModel) -> bool {
        lock(&self.temperatures).contains_key(sampled)
    }

    /// Remembers that a model has answered to a temperature: with a reply, or with a failure that is not about it.
    fn note_temperature(&self, query: &CallQuery, answer: &StoredAnswer) {
        let replied = match answer {
            StoredAnswer::Reply(_) => true,
            // An error that was not sent says nothing about the model.
            StoredAnswer::Error(error)
                if error.kind == FailureKind::TemperatureRefused || error.call.attempts == 0 =>
            {
                return;
            }
            StoredAnswer::Error(_) => false,
            StoredAnswer::Count(_) => return,
        };
        if let Some(sampled) = query.sampled() {
            *lock(&self.temperatures).entry(sampled).or_default() |= replied;
        }
    }

    fn has_replied(&self, query: &CallQuery) -> bool {
        let temperatures = lock(&self.temperatures);
        let replied = query
            .sampled()
            .and_then(|one| temperatures.get(&one).copied());
        replied.unwrap_or(false)
    }

    /// Remembers a model whose provider does not count.
    fn note_uncounted(&self, record: &CallRecord) {
        if let StoredAnswer::Error(error) = &record.answer
            && record.endpoint == Endpoint::CountTokens
            && error.counts_nothing()
        {
            let mut uncounted = lock(&self.uncounted);
            let model = record.model.clone();
            uncounted.entry(model).or_insert_with(|| error.clone());
        }
    }

    /// Adds when a call began and how long it took. A call that is neither sent nor asked of a model took no time: the same work offline
    /// gives the same bytes.
    async fn timed(&self, call: impl Future<Output = StoredAnswer>) -> StoredAnswer {
        let (started_at, begun) = (now(self.clock), self.clock.elapsed());
        let mut answer = call.await;
        let unsent = matches!(&answer, StoredAnswer::Error(error) if error.call.attempts == 0);
        if !self.model.label().offline && !unsent {
            let facts = answer.facts_mut();
            facts.started_at = Some(started_at);
            let elapsed = self.clock.elapsed().saturating_sub(begun);
            facts.elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        }
        answer
    }
}

impl CallQuery {
    /// The model with its temperature, if it has one.
    fn sampled(&self) -> Option<SampledModel> {
        let temperature = self.temperature?.to_bits();
        Some((self.model.clone(), temperature))
    }

    fn answered(&self, answer: StoredAnswer) -> Arc<CallRecord> {
        Arc::new(CallRecord {
            schema_version: SCHEMA_VERSION,
            key: self.key,
            endpoint: self.endpoint,
            role: self.role,
            model: self.model.clone(),
            repeat: self.repeat.clone(),
            answer,
        })
    }
}

impl ModelClient for StoredModel<'_> {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        let query = CallQuery {
            key: CallKey::of_message(&request, &self.model.label()),
            endpoint: Endpoint::Messages,
            role: Some(request.role),
            model: request.model.clone(),
            temperature: request.temperature,
            repeat: request.repeat.clone(),
        };
        let ask = move || {
            let reply = self.model.complete(request.clone());
            async {
                reply
                    .await
                    .map_or_else(StoredAnswer::Error, StoredAnswer::Reply)
            }
        };
        async move {
            match &self.record(query, ask).await?.answer {
                StoredAnswer::Reply(reply) => Ok(reply.clone()),
                StoredAnswer::Error(error) => Err(error.clone()),
                StoredAnswer::Count(_) => Err(ModelError::unsent(
                    FailureKind::Store,
                    "the store has a count under a reply's key",
                )),
            }
        }
        .boxed()
    }

    fn count_tokens(&self, request: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        let query = CallQuery {
            key: CallKey::of_count(&request, &self.model.label()),
            endpoint: Endpoint::CountTokens,
            role: None,
            model: request.model.clone(),
            temperature: None,
            repeat: Repeat::default(),
        };
        let ask = move || {
            let count = self.model.count_tokens(request.clone());
            async {
                count
                    .await
                    .map_or_else(StoredAnswer::Error, StoredAnswer::Count)
            }
        };
        async move {
            match &self.record(query, ask).await?.answer {
                StoredAnswer::Count(count) => Ok(count.clone()),
                StoredAnswer::Error(error) => Err(error.clone()),
                StoredAnswer::Reply(_) => Err(ModelError::unsent(
                    FailureKind::Store,
                    "the store has a reply under a count's key",
                )),
            }
        }
        .boxed()
    }

    fn label(&self) -> ModelLabel {
        self.model.label()
    }
}

#[cfg(test)]
mod tests;
