use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use llm_types::{ModelInfo, Reply, Request, Target, Usd};

use crate::cassette::Cassette;
use crate::event_stream::EventStream;
use crate::hash::sha256_hex;
use crate::layers::budget::Ledger;
use crate::layers::gate::Gate;
use crate::layers::ledger_file::LedgerFile;
use crate::layers::record::Recorder;
use crate::layers::replay::Player;
use crate::layers::timeout::{Elapsed, Timed, Watchdog};
use crate::models::ModelTable;
use crate::outgoing::Outgoing;
use crate::pipeline;
use crate::provider::{Answer, Call, Caps, Provider, Route};
use crate::tokens::CountCache;
use crate::transport::{HeaderText, HttpOptions, HttpTransport, Method, Transport};
use crate::{
    Budget, Clock, ConfigError, CountPolicy, Error, ErrorKind, Limits, RetryPolicy, Spend,
    Timeouts, Unpriced,
};

/// Asks models. Cheap to clone; clones share budget, limits and connections.
#[derive(Clone)]
pub struct Client {
    pub(crate) inner: Arc<Inner>,
}

/// What all clones of a client share.
pub(crate) struct Inner {
    pub settings: ClientBuilder,
    pub clock: Arc<dyn Clock>,
    pub ledger: Arc<Ledger>,
    pub gate: Gate,
    pub counts: CountCache,
    pub recorder: Option<Arc<Recorder>>,
    pub player: Option<Player>,
    /// Calls begun; the stream of random numbers of each.
    pub calls: AtomicU64,
    transport: OnceLock<Arc<dyn Transport>>,
}

/// Collects the settings of a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    pub(crate) provider: Arc<dyn Provider>,
    clock: Arc<dyn Clock>,
    transport: Option<Arc<dyn Transport>>,
    record: Option<Cassette>,
    replay: Option<Cassette>,
    pub(crate) models: ModelTable,
    pub(crate) http: HttpOptions,
    pub(crate) retry: RetryPolicy,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: Limits,
    pub(crate) budget: Budget,
    pub(crate) counts: CountPolicy,
    pub(crate) seed: u64,
}

/// Setters that only store their value.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $kind:ty;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $kind) -> Self {
            self.$name = $name;
            self
        })*
    };
}

impl ClientBuilder {
    settings! {
        /// What is known of models. Default: [`ModelTable::embedded`].
        models: ModelTable;
        /// When and how often a failed attempt is repeated.
        retry: RetryPolicy;
        /// How long to wait for a server.
        timeouts: Timeouts;
        /// How much may be under way.
        limits: Limits;
        /// What the client may spend.
        budget: Budget;
        /// Whether an estimated token count will do.
        counts: CountPolicy;
        /// Where the random part of waits comes from.
        seed: u64;
        /// How the network is reached. The wait for a connection is that of [`Self::timeouts`].
        http: HttpOptions;
    }

    /// Reaches servers in another way than [`HttpTransport`].
    #[must_use]
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }

    /// Appends every attempt to this cassette.
    #[must_use]
    pub fn record(mut self, cassette: Cassette) -> Self {
        self.record = Some(cassette);
        self
    }

    /// Answers from this cassette alone; the network is never touched.
    #[must_use]
    pub fn replay(mut self, cassette: Cassette) -> Self {
        self.replay = Some(cassette);
        self
    }

    /// The client.
    ///
    /// # Errors
    /// A setting that cannot be used, or a cassette that cannot be opened.
    pub fn build(self) -> Result<Client, ConfigError> {
        self.check()?;
        let clock = self.clock.clone();
        let record = self.record.as_ref();
        // First, so that nothing is made when there is nothing to replay: not even the same file under another name.
        let player = self.replay.as_ref().map(Player::open).transpose()?;
        Ok(Client {
            inner: Arc::new(Inner {
                ledger: Arc::new(Ledger::new(self.budget, clock.clone())),
                gate: Gate::new(clock.clone(), self.limits),
                counts: CountCache::default(),
                recorder: record
                    .map(|cassette| Recorder::open(cassette, clock.clone()).map(Arc::new))
                    .transpose()?,
                player,
                calls: AtomicU64::new(0),
                transport: self
                    .transport
                    .clone()
                    .map(OnceLock::from)
                    .unwrap_or_default(),
                clock,
                settings: self,
            }),
        })
    }

    fn check(&self) -> Result<(), ConfigError> {
        if self.limits.concurrency == 0 {
            return Err(ConfigError::setting(
                "concurrency",
                "it is 0; give at least 1",
            ));
        }
        if self.budget.usd.is_some_and(|usd| usd.0 < 0) {
            return Err(ConfigError::setting("budget", "it is negative"));
        }
        // A client that replays, or has its own way to servers, makes no connection by these.
        if self.transport.is_none() && self.replay.is_none() {
            self.http.check()?;
        }
        if let Unpriced::Assume { input, output } = self.budget.unpriced
            && input.min(output) < Usd::ZERO
        {
            return Err(ConfigError::setting(
                "budget",
                "the assumed price is negative",
            ));
        }
        if let (Some(record), Some(replay)) = (&self.record, &self.replay) {
            let same = record.path() == replay.path()
                || matches!(
                    (record.path().canonicalize(), replay.path().canonicalize()),
                    (Ok(a), Ok(b)) if a == b
                );
            if same {
                return Err(ConfigError::setting(
                    "record",
                    "it is the file that is replayed; record to another one",
                ));
            }
        }
        Ok(())
    }
}

impl Client {
    /// A client that asks `provider`, with the default settings until they are changed.
    pub fn builder(provider: Arc<dyn Provider>, clock: Arc<dyn Clock>) -> ClientBuilder {
        ClientBuilder {
            provider,
            clock,
            transport: None,
            record: None,
            replay: None,
            models: ModelTable::embedded(),
            http: HttpOptions::default(),
            retry: RetryPolicy::default(),
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            budget: Budget::default(),
            counts: CountPolicy::default(),
            seed: 0,
        }
    }

    /// Asks for a whole reply.
    ///
    /// # Errors
    /// See [`Error`]. A reply that broke off is never one.
    pub async fn complete(&self, request: &Request) -> Result<Reply, Error> {
        match pipeline::run(&self.inner, request, Route::Whole, None).await? {
            Answer::Reply(reply) => Ok(*reply),
            _ => Err(pipeline::other_form()),
        }
    }

    /// Asks for a whole reply; while the call is under way, `attempt` holds the number of its attempt, from 1.
    ///
    /// # Errors
    /// As of [`Client::complete`].
    pub async fn complete_counting(
        &self,
        request: &Request,
        attempt: Arc<AtomicU32>,
    ) -> Result<Reply, Error> {
        pipeline::ATTEMPT
            .scope(attempt, self.complete(request))
            .await
    }

    /// Asks for a reply in pieces. Answers when the first piece is there; until then failures are retried.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn stream(&self, request: &Request) -> Result<EventStream, Error> {
        match pipeline::run(&self.inner, request, Route::Stream, None).await? {
            Answer::Stream(events) => Ok(events),
            _ => Err(pipeline::other_form()),
        }
    }

    /// What the provider's protocol can say to this model.
    pub fn capabilities(&self, model: &str) -> Caps {
        self.inner.settings.provider.capabilities(model)
    }

    /// What the first attempt of [`Client::complete`] would send, byte for byte.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`], as the call itself.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, Error> {
        let mut fitted = self.inner.fit(request, self.inner.target(request))?;
        self.inner.limit_reply(&mut fitted);
        let wire = self.inner.encode(&fitted, Route::Whole)?;
        Ok(Prepared {
            method: wire.method,
            path: wire.url.path().to_owned(),
            headers: wire
                .headers
                .iter()
                .map(|(name, value)| {
                    let shown = match value {
                        HeaderText::Open(text) => text.clone(),
                        HeaderText::Secret(_) => {
                            format!("sha256:{}", sha256_hex(value.expose().as_bytes()))
                        }
                    };
                    ((*name).to_owned(), shown)
                })
                .collect(),
            sha256: sha256_hex(&wire.body),
            body: wire.body,
        })
    }

    /// Asks which models there are. Nothing of that is recorded, so a client that replays has no answer.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_models(&self) -> Result<Vec<ModelInfo>, Error> {
        let inner = &self.inner;
        if inner.player.is_some() {
            let diff = "lists of models are not recorded".to_owned();
            return Err(ErrorKind::ReplayMiss { diff }.into());
        }
        let transport: Arc<dyn Transport> = Arc::new(Outgoing {
            inner: inner.timed(inner.transport()?, inner.settings.timeouts.headers),
            clock: inner.clock.clone(),
            way: None,
            lane: None,
            max_body: None,
        });
        let settings = &inner.settings;
        let (provider, route) = (&settings.provider, Route::Models);
        let target = Target::new(provider.name(), "");
        let listing = provider.answer(Call {
            wire: provider.encode(&Request::default(), &target, route)?,
            route,
            target,
            attempt: 0,
            transport,
        });
        let answer = Watchdog::new(&inner.clock, settings.timeouts.total)
            .guard(listing)
            .await
            .unwrap_or_else(|Elapsed| Err(Error::deadline(None)))?;
        match answer {
            Answer::Models(models) => Ok(models),
            _ => Err(pipeline::other_form()),
        }
    }

    /// Writes what is spent into this file from now on, and counts what it holds as spent: caps are for the whole run,
    /// over all its processes. A client that replays spends nothing and does not open it.
    ///
    /// # Errors
    /// The file cannot be opened or read, or another process spends for the same run. [`ErrorKind::Refused`] names it.
    pub fn keep_ledger(&self, file: &LedgerFile) -> Result<(), Error> {
        if self.inner.player.is_some() {
            return Ok(());
        }
        let writer = file.open()?;
        self.inner.ledger.keep(writer);
        Ok(())
    }

    /// What was spent so far, by all clones.
    pub fn spent(&self) -> Spend {
        self.inner.ledger.spent()
    }
}

/// What would be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The method.
    pub method: Method,
    /// The whole path at the server.
    pub path: String,
    /// Every header but those that the connection adds; a secret one as `sha256:` and its hash in hex.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
    /// The body's SHA-256 in lower-case hex.
    pub sha256: String,
}

impl Inner {
    /// Whom `request` is for in the first place.
    pub fn target(&self, request: &Request) -> Target {
        Target::new(self.settings.provider.name(), &request.model)
    }

    /// The way to servers, made when it is first needed: a replay never makes it.
    pub fn transport(&self) -> Result<Arc<dyn Transport>, Error> {
        if let Some(made) = self.transport.get() {
            return Ok(made.clone());
        }
        let made = HttpTransport::within(&self.settings.http, self.settings.timeouts.connect)
            .map_err(|error| Error::refused("http", error.to_string()))?;
        Ok(self.transport.get_or_init(|| Arc::new(made)).clone())
    }

    /// `transport` with the timeouts of a call, and `headers` for those of a plain reply.
    pub fn timed(
        &self,
        transport: Arc<dyn Transport>,
        headers: Option<Duration>,
    ) -> Arc<dyn Transport> {
        Arc::new(Timed {
            inner: transport,
            clock: self.clock.clone(),
            timeouts: self.settings.timeouts,
            headers,
        })
    }
}
