use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use url::{Position, Url};

use super::{HttpRequest, HttpResponse, Method, Transport};
use crate::error::{ConnectPhase, TimeoutPhase};
use crate::settings::setters::setters;
use crate::{ConfigError, Error};

/// The options of HTTP connections.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// A proxy for all requests; proxies of the environment are never used.
    pub proxy: Option<Url>,
    /// Certificates in PEM to trust in addition to the platform's.
    pub extra_roots: Vec<Vec<u8>>,
}

impl fmt::Debug for HttpOptions {
    /// Hides the user and password that a proxy's URL may contain.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let proxy = self
            .proxy
            .as_ref()
            .map(|proxy| &proxy[Position::BeforeHost..Position::AfterPort]);
        f.debug_struct("HttpOptions")
            .field("proxy", &proxy)
            .field("extra_roots", &self.extra_roots.len())
            .finish()
    }
}

impl HttpOptions {
    setters! {
        proxy: Option<Url>,
        extra_roots: Vec<Vec<u8>>,
    }

    /// Reads the proxy and the certificates, without connecting.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        #[cfg(feature = "tls")]
        super::tls::certificates(&self.extra_roots)?;
        self.reqwest_proxy().map(drop)
    }

    fn reqwest_proxy(&self) -> Result<Option<reqwest::Proxy>, ConfigError> {
        let proxy = self.proxy.as_ref();
        let proxy = proxy.map(|proxy| reqwest::Proxy::all(proxy.as_str()));
        proxy.transpose().map_err(|error| {
            // The URL may hold a password.
            ConfigError::setting("proxy", error.without_url().to_string())
        })
    }
}

fn failed(error: reqwest::Error) -> ConfigError {
    ConfigError::Transport {
        why: error.without_url().to_string(),
    }
}

/// HTTP over the network, without redirects, proxies of the environment and retries.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    client: reqwest::Client,
    connect_timeout: Duration,
}

impl HttpTransport {
    /// A pool of connections with the default connect timeout of [`crate::Timeouts`]. On a machine without certificates only
    /// https requests fail.
    ///
    /// # Errors
    /// A proxy or a certificate that cannot be read.
    pub fn new(options: &HttpOptions) -> Result<Self, ConfigError> {
        Self::within(options, crate::Timeouts::default().connect)
    }

    /// As [`Self::new`], with another connect timeout.
    pub(crate) fn within(options: &HttpOptions, connect: Duration) -> Result<Self, ConfigError> {
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(connect)
            .tcp_keepalive(Duration::from_mins(1))
            .pool_max_idle_per_host(100)
            .referer(false);
        if let Some(proxy) = options.reqwest_proxy()? {
            builder = builder.proxy(proxy);
        }
        #[cfg(feature = "tls")]
        {
            super::tls::install_default();
            builder = builder.tls_backend_preconfigured(super::tls::config(&options.extra_roots)?);
        }
        Ok(Self {
            client: builder.build().map_err(failed)?,
            connect_timeout: connect,
        })
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
        };
        let host = request.url.authority().to_owned();
        let mut wire = reqwest::Request::new(method, request.url);
        *wire.headers_mut() = request.headers.into_map()?;
        *wire.body_mut() = Some(request.body.into());
        let mut response = self
            .client
            .execute(wire)
            .await
            .map_err(|error| self.send_error(&host, error))?;
        let headers = std::mem::take(response.headers_mut()).into();
        let status = response.status().as_u16();
        let body = response
            .bytes_stream()
            .map_err(move |error| Error::connect(ConnectPhase::Body, Broken::new(&host, error)))
            .boxed();
        Ok(HttpResponse {
            status,
            headers,
            body,
        })
    }

    fn send_error(&self, host: &str, error: reqwest::Error) -> Error {
        if error.is_connect() && error.is_timeout() {
            return Error::timeout(TimeoutPhase::Connect, self.connect_timeout);
        }
        let phase = if is_trust_error(&error) {
            ConnectPhase::Trust
        } else if error.is_connect() {
            ConnectPhase::Connect
        } else {
            ConnectPhase::Send
        };
        Error::connect(phase, Broken::new(host, error))
    }
}

impl Transport for HttpTransport {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        self.send(request).boxed()
    }
}

/// The error of a connection: its host, with the last cause of the chain, which is the informative one.
#[derive(Debug)]
struct Broken {
    host: String,
    /// Removes the URL from an error.
    error: reqwest::Error,
}

impl Broken {
    fn new(host: &str, error: reqwest::Error) -> Self {
        Self {
            host: host.to_owned(),
            error: error.without_url(),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let mut last: &(dyn std::error::Error + 'static) = &self.error;
        while let Some(next) = last.source() {
            last = next;
        }
        Some(last)
    }
}

#[cfg(feature = "tls")]
fn is_trust_error(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        // An `io::Error` hides what it holds from `source`, and it may hold another one.
        next = match error.downcast_ref::<std::io::Error>() {
            Some(outer) => outer.get_ref().map(|inner| inner as _),
            None => error.source(),
        };
    }
    false
}

#[cfg(not(feature = "tls"))]
fn is_trust_error(_: &reqwest::Error) -> bool {
    false
}
