//! The port that asks no model: rules encode and decode, letters judge.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};

use crate::{
    CountRequest, LocalCounter, ModelPort, ModelReply, ModelRequest, PortError, PortLabel,
    TokenCount,
};

/// See the module.
pub struct OfflineModel {
    _counter: Arc<dyn LocalCounter>,
}

impl OfflineModel {
    /// The name of model and provider in results.
    pub const NAME: &str = "offline";

    /// To be written.
    pub fn new(counter: Arc<dyn LocalCounter>) -> Self {
        Self { _counter: counter }
    }
}

impl ModelPort for OfflineModel {
    fn complete(&self, _: ModelRequest) -> BoxFuture<'_, Result<ModelReply, PortError>> {
        ready(Err(PortError::unsent(
            "unsupported_offline",
            "to be written",
        )))
        .boxed()
    }

    fn count_tokens(&self, _: CountRequest) -> BoxFuture<'_, Result<TokenCount, PortError>> {
        ready(Err(PortError::unsent(
            "unsupported_offline",
            "offline nobody counts exactly",
        )))
        .boxed()
    }

    fn label(&self) -> PortLabel {
        PortLabel {
            provider: Self::NAME.to_owned(),
            host: String::new(),
            offline: true,
        }
    }
}
