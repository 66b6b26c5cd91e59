//! The state that all clones of a client share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use llm_types::{Request, Target};

use super::builder::ClientBuilder;
use crate::layers::budget::BudgetLedger;
use crate::layers::limiter::RateLimiter;
use crate::layers::retry;
use crate::layers::timeout::{Alarm, RequestTimer};
use crate::models::tokens::CountCache;
use crate::provider::{HttpTransport, Transport};
use crate::recording::recorder::Recorder;
use crate::recording::replay::Player;
use crate::{Error, ErrorKind, Timer};

/// The state that all clones of a client share.
pub(crate) struct ClientCore {
    pub settings: ClientBuilder,
    pub clock: Arc<dyn Timer>,
    pub ledger: Arc<BudgetLedger>,
    pub limiter: RateLimiter,
    pub counts: CountCache,
    pub recorder: Option<Arc<Recorder>>,
    pub player: Option<Player>,
    /// The number of calls so far; it selects the random stream of each call.
    pub calls: AtomicU64,
    pub transport: OnceLock<Arc<dyn Transport>>,
    /// The queue of whole replies, where they are asked for in batches.
    #[cfg(feature = "batch")]
    pub queue: OnceLock<super::queue::CallQueue>,
}

impl ClientCore {
    /// The provider and model of `request`.
    pub fn target(&self, request: &Request) -> Target {
        Target::new(self.settings.provider.name(), &request.model)
    }

    /// The transport, created on first use; a replay never creates it.
    pub fn transport(&self) -> Result<Arc<dyn Transport>, Error> {
        if let Some(made) = self.transport.get() {
            return Ok(made.clone());
        }
        let made = HttpTransport::within(&self.settings.http, self.settings.timeouts.connect)
            .map_err(|error| Error::refused("http", error.to_string()))?;
        Ok(self.transport.get_or_init(|| Arc::new(made)).clone())
    }

    /// The limits of a request that `alarm` ends; `headers` is the limit for the headers of a plain reply.
    pub fn request_timer(&self, alarm: &Alarm, headers: Option<Duration>) -> RequestTimer {
        RequestTimer {
            alarm: alarm.clone(),
            timeouts: self.settings.timeouts,
            headers,
        }
    }

    /// Adds the table's facts about a model that is not served, and the wait that the server asks for.
    pub fn explain(&self, error: &mut Error) {
        if let ErrorKind::ModelUnavailable(model) = error.kind_mut() {
            self.settings.models.explain(model);
        }
        let wait = retry::requested_wait(&error.context().retry_headers, self.clock.now());
        error.context_mut().retry_after = wait;
    }
}
