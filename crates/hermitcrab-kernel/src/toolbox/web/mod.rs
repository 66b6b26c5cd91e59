//! The web, as far as a model may see it.
//!
//! Every hop of a request is checked by itself: the address as written, then every address its host resolves to. The
//! connection goes to what was checked and to nothing else, so a name that changes its mind in between gains nothing.

mod address;
mod ask;
mod charset;
mod markup;
mod page;
mod policy;
mod resolve;
mod search;
mod tidy;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use futures_util::future::{self, Either};
use llm_client::Timer;
use reqwest::header::LOCATION;
use reqwest::{Client, Response, redirect, retry};
use url::Host;

use ask::Ask;
use policy::{Rules, refused};
use resolve::Pinned;

use crate::config::WebPolicy;
use crate::{ErrorKind, ToolError};
pub use page::Page;
pub use resolve::{Resolve, SystemResolver};
pub use search::{Found, Hit};

/// For everything: names, redirects, the body.
const PATIENCE: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;

/// The web, as far as a model may see it. Nothing is kept from one request to the next.
pub struct Web {
    rules: RwLock<Rules>,
    searxng: Option<url::Url>,
    resolver: Arc<dyn Resolve>,
    clock: Arc<dyn Timer>,
    tls: rustls::ClientConfig,
}

impl Web {
    /// # Errors
    /// A host or an address of `policy` that cannot be read; TLS that cannot be set up.
    pub fn new(
        policy: &WebPolicy,
        resolver: Arc<dyn Resolve>,
        clock: Arc<dyn Timer>,
    ) -> Result<Self, ToolError> {
        let tls = llm_client::tls::config(&[])
            .map_err(|error| ToolError::new(ErrorKind::Unavailable, error.to_string()))?;
        Ok(Self {
            rules: RwLock::new(Rules::new(policy)?),
            searxng: policy.searxng.as_deref().map(search::server).transpose()?,
            resolver,
            clock,
            tls,
        })
    }

    /// The page at `url` as text.
    ///
    /// # Errors
    /// `bad_url`, `refused`, `unreachable`, `timeout`, `too_many_redirects`, `binary`.
    pub async fn fetch(&self, url: &str) -> Result<Page, ToolError> {
        self.within(self.follow(Ask::get(url)?)).await
    }

    /// Any request. Methods other than GET go only to hosts that the person allowed.
    ///
    /// # Errors
    /// As [`Self::fetch`], and `bad_arguments`, `needs_grant`.
    pub async fn request(
        &self,
        method: &str,
        url: &str,
        body: Option<&str>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Page, ToolError> {
        self.within(self.follow(Ask::new(method, url, body, headers)?))
            .await
    }

    /// The results of a search server.
    ///
    /// # Errors
    /// `unavailable` without a server; `bad_arguments`, `unreachable`, `timeout`, `bad_reply`.
    pub async fn search(&self, query: &str) -> Result<Found, ToolError> {
        let Some(server) = &self.searxng else {
            return Err(
                ToolError::new(ErrorKind::Unavailable, "no search server is configured").hint(
                    "fetch a page whose address you know, or ask the person to set web.searxng",
                ),
            );
        };
        let ask = search::ask(server, query)?;
        self.within(async {
            // The person named the server, so it may be anywhere; it cannot send the request on.
            let addresses = self.addresses(&ask).await?;
            search::read(query, self.send(&ask, addresses).await?).await
        })
        .await
    }

    /// The person allows more than GET to `host` or `host:port`.
    ///
    /// # Errors
    /// `bad_host`.
    pub fn allow_host(&self, host: &str) -> Result<(), ToolError> {
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        rules.allow(host)
    }

    /// This program listens there now, so nothing may be sent there.
    pub fn listens_on(&self, address: SocketAddr) {
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        rules.listens_on(address);
    }

    async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        match future::select(Box::pin(work), self.clock.sleep(PATIENCE)).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Err(ToolError::new(
                ErrorKind::Timeout,
                format!("no complete answer within {} s", PATIENCE.as_secs()),
            )),
        }
    }

    async fn follow(&self, mut ask: Ask) -> Result<Page, ToolError> {
        for _ in 0..=MAX_REDIRECTS {
            self.rules().check_url(&ask.method, &ask.url)?;
            let addresses = self.addresses(&ask).await?;
            self.rules().check_addresses(&ask.url, &addresses)?;
            let response = self.send(&ask, addresses).await?;
            match ask.redirected(response.status(), response.headers().get(LOCATION))? {
                Some(next) => ask = next,
                None => return page::read(&ask.url, response).await,
            }
        }
        Err(ToolError::new(
            ErrorKind::TooManyRedirects,
            format!("more than {MAX_REDIRECTS} redirects"),
        ))
    }

    /// The addresses of a request's host.
    async fn addresses(&self, ask: &Ask) -> Result<Vec<SocketAddr>, ToolError> {
        let port = ask.url.port_or_known_default().unwrap_or_default();
        let name = match ask.url.host() {
            Some(Host::Ipv4(ip)) => return Ok(vec![(ip, port).into()]),
            Some(Host::Ipv6(ip)) => return Ok(vec![(ip, port).into()]),
            Some(Host::Domain(name)) => name,
            None => return Err(refused("an address without a host")),
        };
        let found = self.resolver.resolve(name, port).await;
        let mut addresses =
            found.map_err(|error| unreachable(format!("{name} cannot be resolved: {error}")))?;
        if addresses.is_empty() {
            return Err(unreachable(format!("{name} has no address")));
        }
        for address in &mut addresses {
            address.set_port(port);
        }
        Ok(addresses)
    }

    /// Sends one request to `addresses` and nowhere else. The client lives as long as the reply: it cannot reuse a
    /// connection, and it has no cookies.
    async fn send(&self, ask: &Ask, addresses: Vec<SocketAddr>) -> Result<Response, ToolError> {
        let client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .user_agent(concat!("hermitcrab/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(self.tls.clone())
            .dns_resolver(Pinned(addresses))
            .build()
            .map_err(broken)?;
        let mut request = client
            .request(ask.method.clone(), ask.url.clone())
            .headers(ask.headers.clone());
        if let Some(body) = &ask.body {
            request = request.body(body.clone());
        }
        request.send().await.map_err(broken)
    }

    fn rules(&self) -> RwLockReadGuard<'_, Rules> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unreachable(why: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::Unreachable, why)
}

/// The last cause says most.
fn broken(error: reqwest::Error) -> ToolError {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    unreachable(cause.to_string())
}
