use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::provider::{Call, Provider};
use crate::transport::{HttpOptions, HttpTransport, Transport};
use crate::types::{Count, EventStream, ModelInfo, Reply, Request, Target};
use crate::{
    Budget, Clock, ConfigError, CountPolicy, Error, FallbackOn, Limits, Policy, RetryPolicy,
    SizeCaps, Timeouts,
};

/// Asks models. Cheap to clone; clones share budget, limits and connections.
#[derive(Clone)]
pub struct Client {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub clock: Arc<dyn Clock>,
    pub settings: ClientBuilder,
    pub transport: OnceLock<Arc<dyn Transport>>,
}

/// Collects the settings of a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) others: BTreeMap<String, Arc<dyn Provider>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) http: HttpOptions,
    pub(crate) retry: RetryPolicy,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: Limits,
    pub(crate) budget: Budget,
    pub(crate) fallback: Vec<Target>,
    pub(crate) fallback_on: FallbackOn,
    pub(crate) policy: Policy,
    pub(crate) counts: CountPolicy,
    pub(crate) seed: u64,
    pub(crate) sizes: SizeCaps,
}

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
        /// When and how often a failed attempt is repeated.
        retry: RetryPolicy;
        /// How long to wait for a server.
        timeouts: Timeouts;
        /// How much may be under way.
        limits: Limits;
        /// What the client may spend.
        budget: Budget;
        /// Whom to ask next when the first target fails, in order.
        fallback: Vec<Target>;
        /// Which failures move on to the next target.
        fallback_on: FallbackOn;
        /// What to do about fields that a model does not take.
        policy: Policy;
        /// Whether an estimated token count will do.
        counts: CountPolicy;
        /// Where the random part of waits comes from.
        seed: u64;
        /// The longest replies to read.
        sizes: SizeCaps;
        /// How the network is reached.
        http: HttpOptions;
    }

    /// A further provider that [`Self::fallback`] may name.
    #[must_use]
    pub fn provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.others.insert(provider.name().to_owned(), provider);
        self
    }

    /// Reaches servers in another way than [`HttpTransport`].
    #[must_use]
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }

    /// The client.
    ///
    /// # Errors
    /// A setting that cannot be used.
    pub fn build(self) -> Result<Client, ConfigError> {
        let transport = OnceLock::new();
        if let Some(own) = &self.transport {
            // The cell is new, so it takes the value.
            let _ = transport.set(own.clone());
        }
        Ok(Client {
            inner: Arc::new(Inner {
                clock: self.clock.clone(),
                transport,
                settings: self,
            }),
        })
    }
}

impl Client {
    /// A client that asks `provider`, with the default settings until they are changed.
    pub fn builder(provider: Arc<dyn Provider>, clock: Arc<dyn Clock>) -> ClientBuilder {
        ClientBuilder {
            provider,
            others: BTreeMap::new(),
            clock,
            transport: None,
            http: HttpOptions::default(),
            retry: RetryPolicy::default(),
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            budget: Budget::default(),
            fallback: Vec::new(),
            fallback_on: FallbackOn::default(),
            policy: Policy::default(),
            counts: CountPolicy::default(),
            seed: 0,
            sizes: SizeCaps::default(),
        }
    }

    /// Asks for a whole reply.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn complete(&self, request: &Request) -> Result<Reply, Error> {
        let call = self.call(request)?;
        self.inner.settings.provider.send(&call).await
    }

    /// Asks for a reply in pieces.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn stream(&self, request: &Request) -> Result<EventStream, Error> {
        let call = self.call(request)?;
        self.inner.settings.provider.stream(&call).await
    }

    /// Asks how many tokens the prompt has.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn count_tokens(&self, request: &Request) -> Result<Count, Error> {
        let call = self.call(request)?;
        self.inner.settings.provider.count_tokens(&call).await
    }

    /// Asks which models there are.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_models(&self) -> Result<Vec<ModelInfo>, Error> {
        let settings = &self.inner.settings;
        settings
            .provider
            .list_models(&self.inner.transport()?, settings.sizes)
            .await
    }

    fn call(&self, request: &Request) -> Result<Call, Error> {
        let settings = &self.inner.settings;
        Ok(Call {
            request: request.clone(),
            target: Target::new(settings.provider.name(), &request.model),
            attempt: 0,
            transport: self.inner.transport()?,
            sizes: settings.sizes,
        })
    }
}

impl Inner {
    /// The way to servers, made when it is first needed: a replay never makes it.
    pub fn transport(&self) -> Result<Arc<dyn Transport>, Error> {
        if let Some(made) = self.transport.get() {
            return Ok(made.clone());
        }
        let made = HttpTransport::new(&self.settings.http)
            .map_err(|error| Error::refused("transport", error.to_string()))?;
        Ok(self.transport.get_or_init(|| Arc::new(made)).clone())
    }
}
