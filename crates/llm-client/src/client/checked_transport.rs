//! The checks of a request before it is sent and of the headers of its response.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::layers::budget::SendState;
use crate::layers::limiter::ModelQueue;
use crate::layers::timeout::RequestTimer;
use crate::provider::{HttpRequest, HttpResponse, Transport};
use crate::{Error, Timer};

/// Refuses a body that is too large, times out on a silent server, tracks for the budget whether the request was sent, and passes the response's headers
/// to the limiter.
pub(crate) struct CheckedTransport {
    pub inner: Arc<dyn Transport>,
    pub timer: RequestTimer,
    pub clock: Arc<dyn Timer>,
    pub send_state: Option<Arc<SendState>>,
    pub queue: Option<Arc<ModelQueue>>,
    pub max_body: Option<u64>,
}

impl CheckedTransport {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        let size = request.body.len() as u64;
        if let Some(most) = self.max_body.filter(|most| size > *most) {
            return Err(Error::refused(
                "request",
                format!("its body has {size} bytes, this provider takes {most}"),
            ));
        }
        let redactor = request.redactor();
        let sending = self.timer.send(self.inner.as_ref(), request);
        let mut response = match &self.send_state {
            Some(send_state) => send_state.watch(sending).await?,
            None => sending.await?,
        };
        // A server that sends the key back must not get it into ids, errors and records.
        response.headers.hide(&redactor);
        // A wish in so many words is the retry's to obey; resets are of the whole allowance and much later.
        let wishes =
            response.header("retry-after").is_some() || response.header("retry-after-ms").is_some();
        if let Some(queue) = self.queue.as_ref().filter(|_| !wishes) {
            queue.learn(self.clock.as_ref(), &response.headers);
        }
        Ok(response)
    }
}

impl Transport for CheckedTransport {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        self.send(request).boxed()
    }
}

/// The transport of offline providers: it refuses every request.
pub(crate) struct NoTransport;

impl Transport for NoTransport {
    fn execute(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        async {
            Err(Error::refused(
                "transport",
                "an offline provider asks no server",
            ))
        }
        .boxed()
    }
}
