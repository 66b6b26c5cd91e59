//! What all clones of a client share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use llm_types::{Request, Target};

use super::builder::ClientBuilder;
use crate::layers::budget::Ledger;
use crate::layers::limiter::Gate;
use crate::layers::timeout::Timed;
use crate::models::tokens::CountCache;
use crate::recording::recorder::Recorder;
use crate::recording::replay::Player;
use crate::transport::{HttpTransport, Transport};
use crate::{Clock, Error};

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
    pub transport: OnceLock<Arc<dyn Transport>>,
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
