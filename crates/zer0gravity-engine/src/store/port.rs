//! A port in front of another: asks what the store does not know, once, within the limit, until the run is stopped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;

use super::record::SCHEMA_VERSION;
use super::{Answer, CallKey, CallRecord, Endpoint, SharedStore, StoreError, lock};
use crate::pipeline::Tally;
use crate::prompts::Role;
use crate::{
    CallFacts, Clock, CountRequest, FailureKind, ModelPort, ModelReply, ModelRequest, PortError,
    PortLabel, Repeat, TokenCount,
};

/// See the module.
pub(crate) struct StoredPort<'a> {
    inner: &'a dyn ModelPort,
    clock: &'a dyn Clock,
    store: &'a SharedStore,
    limiter: Semaphore,
    /// Calls of this run, those under way too: two that ask the same share one.
    calls: Mutex<HashMap<CallKey, Arc<OnceCell<Arc<CallRecord>>>>>,
    /// Models whose provider does not count: asked once.
    uncounted: Mutex<HashMap<String, PortError>>,
    cancel: CancellationToken,
    stop: OnceLock<Stop>,
    /// Calls under way.
    under_way: AtomicUsize,
    /// Calls that have ended.
    ended: AtomicUsize,
    /// Tells of each.
    end_of_a_call: Notify,
    /// What all calls took, each once, however many experiments share it.
    spent: Mutex<Tally>,
}

/// Counts as one as long as it lives.
struct Inside<'a>(&'a AtomicUsize);

impl<'a> Inside<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Why nothing more is sent.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    /// The kind of the failure that did it.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
}

/// A call before it has an answer.
struct Question {
    key: CallKey,
    endpoint: Endpoint,
    role: Option<Role>,
    model: String,
    repeat: Repeat,
}

impl<'a> StoredPort<'a> {
    pub fn new(
        inner: &'a dyn ModelPort,
        clock: &'a dyn Clock,
        store: &'a SharedStore,
        concurrency: usize,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            inner,
            clock,
            store,
            limiter: Semaphore::new(concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            calls: Mutex::default(),
            uncounted: Mutex::default(),
            cancel,
            stop: OnceLock::new(),
            under_way: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            end_of_a_call: Notify::new(),
            spent: Mutex::default(),
        }
    }

    /// Why nothing more is sent, if so.
    pub fn stop(&self) -> Option<Stop> {
        let interrupted = || Stop {
            kind: FailureKind::Interrupted,
            message: "the run was interrupted".to_owned(),
        };
        let unkept = |message| Stop {
            kind: FailureKind::Store,
            message,
        };
        let stop = self.store.failure().map(unkept);
        let stop = stop.or_else(|| self.stop.get().cloned());
        stop.or_else(|| self.cancel.is_cancelled().then(interrupted))
    }

    /// What all calls took so far, each once; those from the store too.
    pub fn spent(&self) -> Tally {
        lock(&self.spent).clone()
    }

    /// The error of the store that ended the run.
    pub fn broken(&self) -> Option<StoreError> {
        self.store.take_failure()
    }

    /// The answer to a call: from the store, from the same call under way, or from a call made now.
    async fn answer<F: Future<Output = Answer>>(
        &self,
        question: Question,
        ask: impl Fn() -> F,
    ) -> Result<Arc<CallRecord>, PortError> {
        let cell = lock(&self.calls)
            .entry(question.key.clone())
            .or_default()
            .clone();
        // Whoever waits when the first is dropped takes over.
        let answer = cell.get_or_try_init(|| async {
            let record = match self.store.get(&question.key).await {
                Some(known) => {
                    self.note_uncounted(&question, &known.answer);
                    known
                }
                None => self.asked(&question, ask).await,
            };
            match &record.answer {
                // It was not made: the next run may.
                Answer::Error(error) if error.stopped => Err(error.clone()),
                answer => {
                    lock(&self.spent).add_answer(answer);
                    Ok(record)
                }
            }
        });
        answer.await.cloned()
    }

    async fn asked<F: Future<Output = Answer>>(
        &self,
        question: &Question,
        ask: impl Fn() -> F,
    ) -> Arc<CallRecord> {
        let _permit = tokio::select! {
            biased;
            () = self.cancel.cancelled() => None,
            permit = self.limiter.acquire() => permit.ok(),
        };
        // Asked here, where a call has its turn: those that waited need not learn it from the provider again.
        if question.endpoint == Endpoint::CountTokens
            && let Some(error) = lock(&self.uncounted).get(&question.model)
        {
            return question.answered(Answer::Error(PortError {
                call: CallFacts::default(),
                ..error.clone()
            }));
        }
        let (started_at, begun, mut answer) = loop {
            if let Some(stop) = self.stop() {
                return question.answered(Answer::Error(PortError {
                    stopped: true,
                    ..PortError::unsent(stop.kind, stop.message)
                }));
            }
            let (started_at, begun) = (self.clock.now(), self.clock.monotonic_ms());
            let before = self.ended.load(Ordering::SeqCst);
            let next_end = self.end_of_a_call.notified();
            let under_way = Inside::enter(&self.under_way);
            let answer = ask().await;
            drop(under_way);
            // What calls under way may cost at most is reserved: the cap is only reached when none of them can give some of
            // it back.
            let alone = self.under_way.load(Ordering::SeqCst) == 0
                && self.ended.load(Ordering::SeqCst) == before;
            if alone || !answer.is_beyond_the_cap() {
                break (started_at, begun, answer);
            }
            next_end.await;
        };
        // What is neither sent nor asked of a model took no time, and the same work offline gives the same bytes.
        let unsent = matches!(&answer, Answer::Error(error) if error.call.attempts == 0);
        if !self.inner.label().offline && !unsent {
            let facts = answer.facts_mut();
            facts.started_at = Some(started_at);
            facts.elapsed_ms = self.clock.monotonic_ms().saturating_sub(begun);
        }
        if let Answer::Error(error) = &mut answer {
            self.note(error, question.endpoint);
        }
        self.note_uncounted(question, &answer);
        let record = question.answered(answer);
        self.store.keep(record.clone()).await;
        self.ended.fetch_add(1, Ordering::SeqCst);
        self.end_of_a_call.notify_waiters();
        record
    }

    /// Remembers a model whose provider does not count.
    fn note_uncounted(&self, question: &Question, answer: &Answer) {
        if let Answer::Error(error) = answer
            && question.endpoint == Endpoint::CountTokens
            && error.counts_nothing()
        {
            lock(&self.uncounted)
                .entry(question.model.clone())
                .or_insert_with(|| error.clone());
        }
    }

    /// Stops the run for what no other call can escape.
    fn note(&self, error: &mut PortError, endpoint: Endpoint) {
        if error.kind.is_cap() {
            // The cap forbids this call, so it was not made.
            error.stopped = error.call.attempts == 0;
        }
        if error.kind.ends_run(endpoint) {
            let _ = self.stop.set(Stop {
                kind: error.kind,
                message: error.message.clone(),
            });
        }
    }
}

impl Question {
    fn answered(&self, answer: Answer) -> Arc<CallRecord> {
        Arc::new(CallRecord {
            schema_version: SCHEMA_VERSION,
            key: self.key.clone(),
            endpoint: self.endpoint,
            role: self.role,
            model: self.model.clone(),
            repeat: self.repeat.clone(),
            answer,
        })
    }
}

impl Tally {
    fn add_answer(&mut self, answer: &Answer) {
        match answer {
            Answer::Reply(reply) => self.add_reply(reply),
            Answer::Count(count) => self.add_call(&count.call, true),
            Answer::Error(error) => self.add_call(&error.call, false),
        }
    }
}

impl Answer {
    /// It was not sent, for it could have cost more than is left.
    fn is_beyond_the_cap(&self) -> bool {
        matches!(self, Self::Error(error) if error.kind.is_cap() && error.call.attempts == 0)
    }

    fn facts_mut(&mut self) -> &mut CallFacts {
        match self {
            Self::Reply(reply) => &mut reply.call,
            Self::Count(count) => &mut count.call,
            Self::Error(error) => &mut error.call,
        }
    }
}

impl ModelPort for StoredPort<'_> {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, PortError>> {
        let question = Question {
            key: CallKey::of_message(&request, &self.inner.label()),
            endpoint: Endpoint::Messages,
            role: Some(request.role),
            model: request.model.clone(),
            repeat: request.repeat.clone(),
        };
        let ask = move || {
            let reply = self.inner.complete(request.clone());
            async {
                match reply.await {
                    Ok(reply) => Answer::Reply(reply),
                    Err(error) => Answer::Error(error),
                }
            }
        };
        async move {
            match &self.answer(question, ask).await?.answer {
                Answer::Reply(reply) => Ok(reply.clone()),
                Answer::Error(error) => Err(error.clone()),
                Answer::Count(_) => Err(PortError::unsent(
                    FailureKind::Store,
                    "a count is kept under a reply's key",
                )),
            }
        }
        .boxed()
    }

    fn count_tokens(&self, request: CountRequest) -> BoxFuture<'_, Result<TokenCount, PortError>> {
        let question = Question {
            key: CallKey::of_count(&request, &self.inner.label()),
            endpoint: Endpoint::CountTokens,
            role: None,
            model: request.model.clone(),
            repeat: Repeat::default(),
        };
        let ask = move || {
            let count = self.inner.count_tokens(request.clone());
            async {
                match count.await {
                    Ok(count) => Answer::Count(count),
                    Err(error) => Answer::Error(error),
                }
            }
        };
        async move {
            match &self.answer(question, ask).await?.answer {
                Answer::Count(count) => Ok(count.clone()),
                Answer::Error(error) => Err(error.clone()),
                Answer::Reply(_) => Err(PortError::unsent(
                    FailureKind::Store,
                    "a reply is kept under a count's key",
                )),
            }
        }
        .boxed()
    }

    fn label(&self) -> PortLabel {
        self.inner.label()
    }
}

#[cfg(test)]
mod tests;
