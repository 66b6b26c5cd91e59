//! The client: a call from the caller to the wire and back.

mod adapt;
mod answer;
#[cfg(feature = "batch")]
mod batch_item;
#[cfg(feature = "batch")]
mod batch_reply;
mod builder;
mod call;
mod check;
pub(crate) mod checked_transport;
mod core;
mod cost;
mod counting;
mod embedding;
mod finisher;
mod open_stream;
mod own_headers;
mod prepare;
#[cfg(feature = "batch")]
pub(crate) mod queue;
mod replay;
mod trace;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use llm_types::{ModelInfo, Reply, Request, Target};

use self::checked_transport::CheckedTransport;
use self::core::ClientCore;
#[cfg(feature = "batch")]
use crate::dialect::BatchForm;
use crate::layers::ledger_file::LedgerFile;
use crate::layers::timeout::{Alarm, Elapsed, IdleTimer};
use crate::provider::{Answer, Capabilities, HeaderText, Provider, ProviderCall, Route, Transport};
use crate::recording::hash::sha256_hex;
use crate::{Error, ErrorKind, EventStream, Spend, Timer};

pub use builder::ClientBuilder;
pub use prepare::Prepared;

/// A client that asks models. Cheap to clone; clones share budget, limits and connections.
#[derive(Clone)]
pub struct Client {
    pub(crate) inner: Arc<ClientCore>,
}

impl Client {
    /// A client that asks `provider`, with the default settings until they are changed.
    pub fn builder(provider: Arc<dyn Provider>, clock: Arc<dyn Timer>) -> ClientBuilder {
        ClientBuilder::new(provider, clock)
    }

    /// Asks for a whole reply.
    ///
    /// # Errors
    /// See [`Error`]. A truncated reply is never returned as a reply.
    pub async fn complete(&self, request: &Request) -> Result<Reply, Error> {
        #[cfg(feature = "batch")]
        if let Some(queue) = self.inner.queue.get()
            && self.batch_form(&request.model) != BatchForm::None
        {
            return self.complete_in_batch(request, queue).await;
        }
        self.complete_now(request).await
    }

    /// Asks for a whole reply by a call.
    pub(crate) async fn complete_now(&self, request: &Request) -> Result<Reply, Error> {
        match call::run(&self.inner, request, Route::Whole, None).await? {
            Answer::Reply(reply) => Ok(*reply),
            _ => Err(answer::other_form()),
        }
    }

    /// Asks for a whole reply; during the call `attempt` contains the number of the current attempt, from 1.
    ///
    /// # Errors
    /// As of [`Client::complete`].
    pub async fn complete_counting(
        &self,
        request: &Request,
        attempt: Arc<AtomicU32>,
    ) -> Result<Reply, Error> {
        call::ATTEMPT.scope(attempt, self.complete(request)).await
    }

    /// Asks for a streamed reply. Returns at the first event; until then failures are retried.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn stream(&self, request: &Request) -> Result<EventStream, Error> {
        match call::run(&self.inner, request, Route::Stream, None).await? {
            Answer::Stream(events) => Ok(events),
            _ => Err(answer::other_form()),
        }
    }

    /// The capabilities of the provider's protocol for this model.
    pub fn capabilities(&self, model: &str) -> Capabilities {
        self.inner.settings.provider.capabilities(model)
    }

    /// The HTTP request of the first attempt of [`Client::complete`], byte for byte.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`], as the call itself.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, Error> {
        let mut prepared = self.inner.prepare(request, self.inner.target(request))?;
        self.inner.limit_reply(&mut prepared);
        let wire = self.inner.encode(&prepared, Route::Whole)?;
        Ok(Prepared {
            method: wire.method,
            path: wire.url.path().to_owned(),
            headers: wire
                .headers
                .iter()
                .map(|(name, value)| {
                    let shown = match value {
                        HeaderText::Open(text) => text.to_owned(),
                        HeaderText::Secret(text) => {
                            format!("sha256:{}", sha256_hex(text.as_bytes()))
                        }
                    };
                    (name.to_owned(), shown)
                })
                .collect(),
            sha256: sha256_hex(&wire.body),
            body: wire.body,
        })
    }

    /// Lists the models of the provider. Lists are not recorded, so a client that replays returns an error.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_models(&self) -> Result<Vec<ModelInfo>, Error> {
        let inner = &self.inner;
        if inner.player.is_some() {
            let diff = "lists of models are not recorded".to_owned();
            return Err(ErrorKind::ReplayMiss { diff }.into());
        }
        let alarm = Alarm::new(&inner.clock);
        let transport: Arc<dyn Transport> = Arc::new(CheckedTransport {
            inner: inner.transport()?,
            timer: inner.request_timer(&alarm, inner.settings.timeouts.headers),
            clock: inner.clock.clone(),
            send_state: None,
            queue: None,
            max_body: None,
        });
        let settings = &inner.settings;
        let (provider, route) = (&settings.provider, Route::Models);
        let target = Target::new(provider.name(), "");
        let wire = provider.encode(&Request::default(), &target, route)?;
        let listing = provider.answer(ProviderCall::new(wire, route, target, transport));
        let answer = IdleTimer::new(&alarm, settings.timeouts.total)
            .guard(listing)
            .await
            .unwrap_or_else(|Elapsed| Err(Error::deadline(None)))?;
        match answer {
            Answer::Models(models) => Ok(models),
            _ => Err(answer::other_form()),
        }
    }

    /// Keeps the account in this file from now on, and counts the amounts in it as spent: caps are for the whole run, over all
    /// its processes. A client that replays spends nothing and does not open the file.
    ///
    /// # Errors
    /// The file cannot be opened or read, or another process spends for the same run; [`ErrorKind::Refused`] names it. Or a spool
    /// of this client has batches under way: keep the account before the spool is opened.
    pub fn keep_ledger(&self, file: &LedgerFile) -> Result<(), Error> {
        if self.inner.player.is_some() {
            return Ok(());
        }
        self.inner.ledger.keep(file.open()?)
    }

    /// The amounts spent so far, by all clones.
    pub fn spent(&self) -> Spend {
        self.inner.ledger.spent()
    }
}
