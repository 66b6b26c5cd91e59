//! HTTP requests, responses and the transport that executes them.

mod headers;
mod http;
#[cfg(feature = "tls")]
pub mod tls;

use std::borrow::Cow;
use std::fmt;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use url::Url;

use crate::{Error, Redactor};

pub use headers::{HeaderText, Headers};
pub use http::{HttpOptions, HttpTransport};

/// An executor of HTTP requests. [`HttpTransport`] uses the network; a test or another host implements its own.
pub trait Transport: Send + Sync {
    /// Sends `request` once without following redirects, and returns when the response's headers have arrived.
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>>;
}

/// The HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The method GET.
    Get,
    /// The method POST.
    Post,
}

impl Method {
    /// `GET` or `POST`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// An HTTP request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The HTTP method.
    pub method: Method,
    /// The address.
    pub url: Url,
    /// The part of the path after the provider's base URL.
    pub path: Cow<'static, str>,
    /// The headers.
    pub headers: Headers,
    /// The body: JSON, or empty.
    pub body: Bytes,
    /// Whether an event stream is expected.
    pub streams: bool,
    /// The redactor for the key of the server.
    pub(crate) redactor: Redactor,
}

impl HttpRequest {
    /// Creates a request without headers and body.
    pub fn new(method: Method, url: Url, path: impl Into<Cow<'static, str>>) -> Self {
        Self {
            method,
            url,
            path: path.into(),
            headers: Headers::default(),
            body: Bytes::new(),
            streams: false,
            redactor: Redactor::default(),
        }
    }

    /// The redactor for all keys of this request.
    pub(crate) fn redactor(&self) -> Redactor {
        if self.headers.keys().all(|key| self.redactor.knows(key)) {
            return self.redactor.clone();
        }
        let own = Redactor::default();
        for key in self.headers.keys() {
            own.learn(key.into());
        }
        own
    }
}

/// An HTTP response with an unread body.
#[non_exhaustive]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// The body, decompressed. A drop closes the connection.
    pub body: BoxStream<'static, Result<Bytes, Error>>,
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

impl HttpResponse {
    /// Creates a response.
    pub fn new(
        status: u16,
        headers: Vec<(String, String)>,
        body: BoxStream<'static, Result<Bytes, Error>>,
    ) -> Self {
        Self {
            status,
            headers: headers.into_iter().collect(),
            body,
        }
    }

    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)
    }

    /// The provider's id of the exchange.
    pub fn request_id(&self) -> Option<&str> {
        self.header("request-id")
            .or_else(|| self.header("x-request-id"))
    }

    /// Whether the content type is that of an event stream.
    pub fn is_event_stream(&self) -> bool {
        is_event_stream(&self.headers)
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// The body's own error, or [`crate::ErrorKind::TooLarge`] beyond `limit` bytes.
    pub async fn bytes(mut self, limit: u64) -> Result<Bytes, Error> {
        let mut first = Bytes::new();
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.body.next().await {
            let chunk = chunk?;
            if (first.len() + whole.len() + chunk.len()) as u64 > limit {
                return Err(Error::too_large("reply", limit));
            }
            if first.is_empty() && whole.is_empty() {
                // The common reply comes in one piece: no copy.
                first = chunk;
            } else {
                whole.extend_from_slice(&std::mem::take(&mut first));
                whole.extend_from_slice(&chunk);
            }
        }
        Ok(if whole.is_empty() {
            first
        } else {
            whole.freeze()
        })
    }

    /// Reads the start of the body for an error message, up to `limit` bytes or a failure.
    pub async fn start(mut self, limit: usize) -> Bytes {
        let mut start = BytesMut::new();
        while let Some(Ok(chunk)) = self.body.next().await {
            start.extend_from_slice(&chunk);
            if start.len() >= limit {
                break;
            }
        }
        start.freeze()
    }
}

/// Whether the content type is that of an event stream.
pub(crate) fn is_event_stream(headers: &Headers) -> bool {
    headers.get("content-type").is_some_and(|kind| {
        kind.trim_start()
            .get(..17)
            .is_some_and(|start| start.eq_ignore_ascii_case("text/event-stream"))
    })
}
