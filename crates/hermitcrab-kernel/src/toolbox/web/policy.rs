//! The rules for requests to the web.

use std::net::SocketAddr;

use reqwest::Method;
use url::{Host, Url};

use super::address::special;
use crate::config::WebPolicy;
use crate::{ErrorKind, ToolError};

const MAX_URL: usize = 8_000;
const WEB_PORTS: [u16; 2] = [80, 443];

impl WebPolicy {
    /// Checks that every entry of `allow_hosts` is a host, or a host with a port.
    ///
    /// # Errors
    /// `bad_host`: the first one that is not.
    pub fn check_hosts(&self) -> Result<(), ToolError> {
        Rules::new(self).map(drop)
    }
}

/// A [`WebPolicy`], read.
#[derive(Debug, Default)]
pub(super) struct Rules {
    hosts: Vec<(Host, Option<u16>)>,
    granted: Vec<SocketAddr>,
    own: Vec<SocketAddr>,
}

impl Rules {
    pub fn new(policy: &WebPolicy) -> Result<Self, ToolError> {
        let mut rules = Self {
            hosts: Vec::new(),
            granted: policy.granted.iter().copied().map(canonical).collect(),
            own: policy.own.iter().copied().map(canonical).collect(),
        };
        for host in &policy.allow_hosts {
            rules.allow(host)?;
        }
        Ok(rules)
    }

    /// Lets more than GET be sent to `host` or `host:port`.
    pub fn allow(&mut self, host: &str) -> Result<(), ToolError> {
        let bad = || {
            ToolError::new(ErrorKind::BadHost, format!("{host:?} is not a host"))
                .hint("give a host or host:port, without a scheme and a path")
        };
        if host.contains(['/', '\\', '?', '#', '@', '*']) {
            return Err(bad());
        }
        let url = Url::parse(&format!("http://{host}")).map_err(|_| bad())?;
        let port = match url.port() {
            // `url` drops the default port of the scheme.
            None if host.ends_with(":80") => Some(80),
            port => port,
        };
        self.hosts
            .extend(url.host().map(|one| (one.to_owned(), port)));
        Ok(())
    }

    pub fn listens_on(&mut self, address: SocketAddr) {
        self.own.push(canonical(address));
    }

    /// Scheme, user, port, method: all that can be said before the name is resolved.
    pub fn check_url(&self, method: &Method, url: &Url) -> Result<(), ToolError> {
        if url.as_str().len() > MAX_URL {
            return Err(bad_url(format!("it is longer than {MAX_URL} bytes")));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(
                bad_url(format!("the scheme {:?} is not open", url.scheme()))
                    .hint("use http or https"),
            );
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad_url("it holds a user name or password").hint("leave it out"));
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(bad_url("it has no host"));
        };
        if *method != Method::GET && !self.is_allowed(url) {
            return Err(ToolError::new(
                ErrorKind::NeedsGrant,
                format!("{method} to {host} is not allowed"),
            )
            .hint(format!("ask the person to allow it: --allow-host {host}")));
        }
        let granted = self.granted.iter().any(|one| one.port() == port);
        if !granted && !self.is_open(url, port) {
            return Err(refused(format!("port {port} is not open"))
                .hint("use 80 or 443, or ask the person to allow host:port"));
        }
        Ok(())
    }

    /// Every address that the host of `url` resolved to. One that is refused refuses all: a name must not mix them.
    pub fn check_addresses(&self, url: &Url, addresses: &[SocketAddr]) -> Result<(), ToolError> {
        let host = url.host_str().unwrap_or_default();
        for &address in addresses {
            let address = canonical(address);
            if self.own.iter().any(|own| is_own(*own, address)) {
                return Err(refused(format!("{host} is this program itself")));
            }
            if self.granted.contains(&address) {
                continue;
            }
            if let Some(why) = special(address.ip()) {
                return Err(refused(format!("{host} is a {why} address"))
                    .hint("only the public web can be reached"));
            }
            // A granted port is open at the granted address alone.
            if !self.is_open(url, address.port()) {
                return Err(refused(format!(
                    "port {} of {host} is not open",
                    address.port()
                )));
            }
        }
        Ok(())
    }

    fn is_open(&self, url: &Url, port: u16) -> bool {
        WEB_PORTS.contains(&port) || self.is_allowed(url)
    }

    /// The person named this host, and this port if it is not one of the web's.
    fn is_allowed(&self, url: &Url) -> bool {
        let (host, port) = (url.host(), url.port_or_known_default());
        self.hosts.iter().any(|(name, opened)| {
            host.as_ref().map(Host::to_owned).as_ref() == Some(name)
                && match opened {
                    Some(_) => *opened == port,
                    None => port.is_some_and(|port| WEB_PORTS.contains(&port)),
                }
        })
    }
}

pub(super) fn bad_url(why: impl std::fmt::Display) -> ToolError {
    ToolError::new(
        ErrorKind::BadUrl,
        format!("the address cannot be used: {why}"),
    )
}

pub(super) fn refused(why: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::Refused, why)
}

/// A v4 address that is dressed as v6 is the v4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn is_own(own: SocketAddr, address: SocketAddr) -> bool {
    let (here, there) = (own.ip(), address.ip());
    own.port() == address.port()
        && (here == there || here.is_unspecified() || there.is_unspecified() || there.is_loopback())
}
