//! The settings of a client.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use llm_types::Usd;

use super::Client;
use super::core::ClientCore;
use crate::layers::budget::BudgetLedger;
use crate::layers::limiter::RateLimiter;
use crate::models::tokens::CountCache;
use crate::provider::{HttpOptions, Provider, Transport};
use crate::recording::cassette::Cassette;
use crate::recording::recorder::Recorder;
use crate::recording::replay::Player;
use crate::settings::setters::setters;
use crate::{
    Budget, ConfigError, CountPolicy, Limits, ModelTable, RetryPolicy, Timeouts, Timer, Unpriced,
};

/// Collects the settings of a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    pub(crate) provider: Arc<dyn Provider>,
    clock: Arc<dyn Timer>,
    transport: Option<Arc<dyn Transport>>,
    record: Option<Cassette>,
    replay: Option<Cassette>,
    account: Option<Arc<BudgetLedger>>,
    pub(crate) models: ModelTable,
    pub(crate) http: HttpOptions,
    pub(crate) retry: RetryPolicy,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: Limits,
    pub(crate) budget: Budget,
    pub(crate) counts: CountPolicy,
    pub(crate) seed: u64,
}

impl ClientBuilder {
    pub(super) fn new(provider: Arc<dyn Provider>, clock: Arc<dyn Timer>) -> Self {
        Self {
            provider,
            clock,
            transport: None,
            record: None,
            replay: None,
            account: None,
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

    setters! {
        /// The default is [`ModelTable::embedded`].
        models: ModelTable,
        retry: RetryPolicy,
        timeouts: Timeouts,
        limits: Limits,
        budget: Budget,
        /// By default an estimated token count is accepted.
        counts: CountPolicy,
        /// The random seed of waits is 0 by default.
        seed: u64,
        /// The connect timeout is that of [`Self::timeouts`].
        http: HttpOptions,
    }

    /// Sets a custom transport in place of [`crate::provider::HttpTransport`].
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

    /// Answers from this cassette alone; the network is never touched. With a [`crate::ReplayClock`] the time is that of the
    /// recording.
    #[must_use]
    pub fn replay(mut self, cassette: Cassette) -> Self {
        self.replay = Some(cassette);
        self
    }

    /// Spends from the account of another client: its caps, in place of those of this client, hold for both together, and
    /// [`Client::keep_ledger`] of one keeps both.
    #[must_use]
    pub fn account_of(mut self, other: &Client) -> Self {
        self.account = Some(other.inner.ledger.clone());
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    /// A setting that cannot be used, or a cassette that cannot be opened.
    pub fn build(self) -> Result<Client, ConfigError> {
        self.check()?;
        let clock = self.clock.clone();
        let record = self.record.as_ref();
        // First, so that nothing is made when there is nothing to replay: not even the same file under another name.
        let replay = self.replay.as_ref();
        let player = replay.map(|cassette| Player::open(cassette, clock.clone()));
        let player = player.transpose()?;
        Ok(Client {
            inner: Arc::new(ClientCore {
                ledger: self
                    .account
                    .clone()
                    .unwrap_or_else(|| Arc::new(BudgetLedger::new(self.budget, clock.clone()))),
                limiter: RateLimiter::new(clock.clone(), self.limits),
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
                #[cfg(feature = "batch")]
                queue: OnceLock::new(),
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
