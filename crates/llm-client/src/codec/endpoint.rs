use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use url::{Host, Url};

use crate::provider::{HttpRequest, Method};
use crate::{ConfigError, Redactor};

/// The authentication of a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Auth {
    /// The header `authorization: Bearer KEY`.
    Bearer(SecretString),
    /// The header `x-api-key: KEY`.
    ApiKeyHeader(SecretString),
    /// No authentication.
    None,
}

impl Auth {
    fn key(&self) -> Option<&SecretString> {
        match self {
            Self::Bearer(key) | Self::ApiKeyHeader(key) => Some(key),
            Self::None => None,
        }
    }
}

/// A server: its base URL and the key for it. The key is sent to no other address.
#[derive(Clone)]
pub struct Endpoint {
    base: Url,
    auth: Auth,
    redactor: Redactor,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The server at `base`, such as `https://api.example.test/v1`.
    ///
    /// # Errors
    /// The base is not an http(s) URL, has the host `0.0.0.0` or `::`, or contains user information, a query or a fragment; the
    /// key is not a valid header; or the key would be sent in clear text to another machine.
    pub fn new(base: &str, auth: Auth) -> Result<Self, ConfigError> {
        Self::checked(base, auth, false)
    }

    /// As [`Self::new`], for a server in a trusted network: the key may be sent over http to any host.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_clear_text_key(base: &str, auth: Auth) -> Result<Self, ConfigError> {
        Self::checked(base, auth, true)
    }

    fn checked(base: &str, auth: Auth, clear_text_key: bool) -> Result<Self, ConfigError> {
        let wrong = |why: &str| ConfigError::setting("base URL", why);
        let base = Url::parse(base).map_err(|error| {
            wrong(&format!(
                "expected an address such as https://host/v1: {error}"
            ))
        })?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err(wrong("expected http:// or https:// and a host"));
        }
        if is_unspecified(&base) {
            let host = base.host_str().unwrap_or_default();
            return Err(wrong(&format!("{host} is not the address of a server")));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(wrong(
                "it holds a user name or password; pass the key by itself",
            ));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(wrong("it must not have a query or a fragment"));
        }
        if let Some(key) = auth.key() {
            check_key(key)?;
            if base.scheme() == "http" && !clear_text_key && !is_loopback(&base) {
                return Err(wrong("the key would go over http in clear text; use https"));
            }
        }
        Ok(Self {
            redactor: Redactor::new(auth.key().cloned()),
            base,
            auth,
        })
    }

    /// The redactor that removes the key from texts.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The base URL.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Whether the server is on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.base)
    }

    /// A request to `path` under the base URL, with the headers that every request has.
    pub(crate) fn request(&self, method: Method, path: &'static str) -> HttpRequest {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        let mut request = HttpRequest::new(method, url, path);
        request.redactor = self.redactor.clone();
        let headers = &mut request.headers;
        headers.set("accept", "application/json");
        headers.set(
            "user-agent",
            concat!("orrery-llm-client/", env!("CARGO_PKG_VERSION")),
        );
        if method == Method::Post {
            headers.set("content-type", "application/json");
        }
        match &self.auth {
            Auth::Bearer(key) => {
                let bearer = format!("Bearer {}", key.expose_secret());
                headers.set_secret("authorization", &bearer.into());
            }
            Auth::ApiKeyHeader(key) => headers.set_secret("x-api-key", key),
            Auth::None => {}
        }
        request
    }
}

/// Whether the host is this machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    }
}

/// Whether the host is the wildcard address of a machine.
fn is_unspecified(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_unspecified(),
        Some(Host::Domain(_)) | None => false,
    }
}

fn check_key(key: &SecretString) -> Result<(), ConfigError> {
    let key = key.expose_secret();
    let wrong = |why| Err(ConfigError::setting("key", why));
    if key.is_empty() {
        return wrong("it is empty");
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return wrong("it holds a space, a line end or a character that is not ASCII");
    }
    Ok(())
}
