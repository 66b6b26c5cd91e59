use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use llm_client::Error;
use llm_client::provider::{HttpRequest, HttpResponse, Transport};

type Handler =
    Box<dyn FnMut(HttpRequest) -> BoxFuture<'static, Result<HttpResponse, Error>> + Send>;

/// A transport without a network: it keeps the requests and answers from a closure.
pub struct MemoryTransport {
    handler: Mutex<Handler>,
    requests: Mutex<Vec<HttpRequest>>,
    running: AtomicUsize,
}

impl MemoryTransport {
    /// Answers at once.
    pub fn new(
        mut answer: impl FnMut(&HttpRequest) -> Result<HttpResponse, Error> + Send + 'static,
    ) -> Self {
        Self::slow(move |request| ready(answer(&request)))
    }

    /// Answers when the future does; it may wait on a [`crate::FakeClock`].
    pub fn slow<F>(mut answer: impl FnMut(HttpRequest) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<HttpResponse, Error>> + Send + 'static,
    {
        Self {
            handler: Mutex::new(Box::new(move |request| answer(request).boxed())),
            requests: Mutex::default(),
            running: AtomicUsize::new(0),
        }
    }

    /// Answers with these, in order; a further request fails the test.
    pub fn queue(answers: impl IntoIterator<Item = Result<HttpResponse, Error>>) -> Self {
        let answers: Vec<_> = answers.into_iter().collect();
        let mut answers = answers.into_iter();
        Self::new(move |_| answers.next().expect("an answer is left in the queue"))
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<HttpRequest> {
        lock(&self.requests).clone()
    }

    /// The number of requests that wait for their answer.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

impl Transport for MemoryTransport {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        async move {
            lock(&self.requests).push(request.clone());
            self.running.fetch_add(1, Ordering::SeqCst);
            // Counts down when the future is dropped, too.
            let _running = Running(&self.running);
            let answer = (lock(&self.handler))(request);
            answer.await
        }
        .boxed()
    }
}

/// A whole reply.
pub fn response(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> HttpResponse {
    streamed(status, headers, [Ok(body.into())])
}

/// A reply whose body arrives in chunks, or fails.
pub fn streamed<I>(status: u16, headers: &[(&str, &str)], body: I) -> HttpResponse
where
    I: IntoIterator<Item = Result<Bytes, Error>>,
    I::IntoIter: Send + 'static,
{
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let headers = headers.iter().map(owned).collect();
    HttpResponse::new(status, headers, stream::iter(body).boxed())
}

struct Running<'a>(&'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Locks, also after a panic of another test's closure.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use llm_client::error::ConnectPhase;
    use llm_client::provider::Method;

    use super::*;

    #[tokio::test]
    async fn answers_come_in_order_and_requests_are_kept() {
        let transport = MemoryTransport::queue([
            Ok(response(200, &[("x", "y")], "one")),
            Err(Error::connect(ConnectPhase::Send, "gone")),
        ]);
        let url = "http://a.test/b".parse().unwrap();
        let request = HttpRequest::new(Method::Get, url, "/b");
        let reply = transport.execute(request.clone()).await.unwrap();
        assert_eq!(reply.header("x"), Some("y"));
        assert_eq!(reply.bytes(10).await.unwrap(), "one");
        assert!(transport.execute(request).await.is_err());
        assert_eq!(transport.requests().len(), 2);
        assert_eq!(transport.running(), 0);
    }
}
