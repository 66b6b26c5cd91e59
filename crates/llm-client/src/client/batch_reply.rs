//! A call that waits for its batch, and its reply out of the results.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use llm_types::{Attempt, Charge, Reply, Request};
use tokio::sync::oneshot;
use tracing::Span;

use super::Client;
use super::answer::other_form;
use super::batch_item::upper;
use super::finisher::{ReplyFinisher, ReportedUsage};
use super::prepare::PreparedRequest;
use super::queue::{CallQueue, QueuedCall};
use crate::models::Factor;
use crate::provider::{Answer, HttpRequest, HttpResponse, ProviderCall, Route, Transport};
use crate::{Error, ErrorClass, ErrorKind};

impl Client {
    /// Asks for a whole reply in a batch. If the batches end, the call is cancelled.
    ///
    /// # Errors
    /// The request cannot be sent, or as of the batches.
    pub(super) async fn complete_in_batch(
        &self,
        request: &Request,
        queue: &CallQueue,
    ) -> Result<Reply, Error> {
        let (_, root) = self.batch_root(request)?;
        let cancelled = || Error::from(ErrorKind::Cancelled);
        // A request is copied once it has a place, so that few are in memory twice.
        let place = queue.reserve().await.map_err(|_| cancelled())?;
        let (reply, replied) = oneshot::channel();
        let request = request.clone();
        place.send(QueuedCall {
            request,
            root,
            reply,
        });
        replied.await.unwrap_or_else(|_| Err(cancelled()))
    }

    /// Decodes the answer to `request` in a batch as if the server had just given it, and returns the charge for it. An answer
    /// that this provider cannot decode is an error, and is charged. Both have one attempt.
    pub(crate) async fn batch_reply(
        &self,
        request: &Request,
        discount: Factor,
        status: u16,
        body: Bytes,
    ) -> (Result<Reply, Error>, Charge) {
        let prepared = self.sent_part(request, discount);
        let unknown = upper(self.inner.most_of_sent(&prepared));
        let target = prepared.terms.target.clone();
        match self.decode_part(prepared, unknown, status, body).await {
            Ok((mut reply, charge)) => {
                for attempt in &mut reply.attempts {
                    attempt.charge = charge;
                }
                (Ok(reply), charge)
            }
            Err((error, charge)) => (Err(error.after_attempt(target, charge)), charge),
        }
    }

    async fn decode_part(
        &self,
        prepared: PreparedRequest<'_>,
        unknown: Charge,
        status: u16,
        body: Bytes,
    ) -> Result<(Reply, Charge), (Error, Charge)> {
        let inner = &self.inner;
        let charged = |error| (error, unknown);
        let wire = self.batch_wire(&prepared).map_err(charged)?;
        let terms = Arc::new(prepared.terms);
        let target = terms.target.clone();
        let received = Arc::new(ReceivedBody { status, body });
        let call = ProviderCall::new(wire, Route::Whole, target.clone(), received);
        let answer = inner.settings.provider.answer(call).await;
        let reply = match answer {
            Ok(Answer::Reply(reply)) => reply,
            Ok(_) => return Err(charged(other_form())),
            Err(mut error) => {
                inner.explain(&mut error);
                let is_reply = error.class() == ErrorClass::BadResponse;
                return Err((error, if is_reply { unknown } else { Charge::NONE }));
            }
        };
        let mut attempt = Attempt::new(1, target);
        attempt.status = Some(status);
        let mut end = ReplyFinisher {
            inner: inner.clone(),
            terms: terms.clone(),
            span: Span::none(),
            attempts: vec![attempt],
            reservation: None,
            recorder: None,
            source: None,
            reported: ReportedUsage::default(),
        };
        let reply = end.finish(reply).map_err(charged)?;
        let known = inner.charge(&reply, &terms);
        // A usage without a price settles nothing where a price was reserved.
        let known = known.filter(|known| known.usd.is_some() || unknown.usd.is_none());
        Ok((*reply, known.unwrap_or(unknown)))
    }
}

/// A transport that has the answer already.
struct ReceivedBody {
    status: u16,
    body: Bytes,
}

impl Transport for ReceivedBody {
    fn execute(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        let kind = ("content-type".to_owned(), "application/json".to_owned());
        let body = stream::iter([Ok(self.body.clone())]).boxed();
        ready(Ok(HttpResponse::new(self.status, vec![kind], body))).boxed()
    }
}
