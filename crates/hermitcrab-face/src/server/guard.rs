//! The check of requests (host, origin, tokens), and the headers of every answer.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use pscale_blocks::bundle::MAX_BUNDLE;

use super::{MAX_BODY, Refusal};
use crate::FaceError;
use crate::page::DNS_PREFETCH;
use crate::token::Token;

/// The header in which a page brings the token that only it knows.
pub(super) const TOKEN_HEADER: &str = "x-hermitcrab-token";

/// The doorkeeper of one server.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    /// The accepted hosts: `127.0.0.1:PORT` and `localhost:PORT`.
    hosts: [String; 2],
    cookie_name: String,
    /// The token in the printed address, which opens the first session once.
    once: Mutex<Option<Token>>,
    /// The token in the cookie: no script sees it.
    cookie: Token,
    /// The token in the page's memory: no other page's request carries it.
    header: Token,
}

impl RequestGuard {
    pub fn new(addr: SocketAddr) -> Result<(Self, Token), FaceError> {
        let token = || Token::new().ok_or(FaceError::NoRandom);
        let once = token()?;
        let port = addr.port();
        let guard = Self {
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            // Cookies do not know ports: each server has its own.
            cookie_name: format!("hermitcrab_{port}"),
            once: Mutex::new(Some(once.clone())),
            cookie: token()?,
            header: token()?,
        };
        Ok((guard, once))
    }

    /// Opens a session: with the token of the printed address, or with the cookie of an earlier one. Answers the header
    /// token and the cookie.
    pub fn open(&self, token: Option<&str>, headers: &HeaderMap) -> Option<(String, String)> {
        let opened = {
            let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
            let fits = |once: &mut Token| token.is_some_and(|token| once.is(token));
            once.take_if(fits).is_some()
        };
        if !opened && !self.has_cookie(headers) {
            return None;
        }
        let cookie = format!(
            "{}={}; HttpOnly; SameSite=Strict; Path=/",
            self.cookie_name,
            self.cookie.as_str()
        );
        Some((self.header.as_str().to_owned(), cookie))
    }

    pub fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let given = headers.get_all(COOKIE).iter();
        given
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == self.cookie_name && self.cookie.is(value))
    }

    pub fn is_header(&self, token: &str) -> bool {
        self.header.is(token)
    }

    /// Whether a request has both tokens.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let token = headers
            .get(TOKEN_HEADER)
            .and_then(|value| value.to_str().ok());
        self.has_cookie(headers) && token.is_some_and(|token| self.is_header(token))
    }

    /// The header says it, and so does the target where that names a host.
    fn is_ours(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let is_own = |host: &str| self.hosts.iter().any(|own| own == host);
        let target = uri.authority().map(Authority::as_str);
        one(headers, &HOST).is_some_and(is_own) && target.is_none_or(is_own)
    }

    /// `null`, the origin of a sandboxed frame, is none of ours.
    pub fn is_from_here(&self, headers: &HeaderMap) -> bool {
        let origin = one(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        origin.is_some_and(|host| self.hosts.iter().any(|own| own == host))
    }
}

/// A header that must be there exactly once.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?;
    all.next().is_none().then(|| value.to_str().ok())?
}

/// For every request: the host is ours, and what changes something comes from our own page as JSON.
pub(super) async fn pass(
    State(guard): State<Arc<RequestGuard>>,
    mut request: Request,
    next: Next,
) -> Response {
    let limit = match request.uri().path() {
        "/api/import" => MAX_BUNDLE,
        _ => MAX_BODY,
    };
    DefaultBodyLimit::max(limit).apply(&mut request);
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = if !guard.is_ours(request.uri(), request.headers()) {
        let why = "this server answers to 127.0.0.1 and localhost only";
        Refusal::new(StatusCode::FORBIDDEN, "host", why).into_response()
    } else if changes && !guard.is_from_here(request.headers()) {
        let why = "only this server's own page may ask for that";
        Refusal::new(StatusCode::FORBIDDEN, "origin", why).into_response()
    } else if changes && !is_json(request.headers()) {
        let why = "the body must be application/json";
        Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", why).into_response()
    } else if let Some(length) =
        announced(request.headers()).filter(|length| *length > limit as u64)
    {
        // Before anything of it is read.
        Refusal::too_large(Some(length), limit).into_response()
    } else {
        next.run(request).await
    };
    // What the router refuses by itself, such as an address that is no text, comes as a plain text.
    let status = response.status();
    if status.is_client_error() && !is_json(response.headers()) {
        let why = "the address or its query cannot be read";
        response = Refusal::new(status, "bad_arguments", why).into_response();
    }
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        let name = HeaderName::from_static(name);
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

/// For `/api`: the page brings both tokens.
pub(super) async fn known(
    State(guard): State<Arc<RequestGuard>>,
    request: Request,
    next: Next,
) -> Response {
    if guard.knows(request.headers()) {
        next.run(request).await
    } else {
        let why = "no session: open the address that `hermitcrab serve` printed";
        Refusal::new(StatusCode::FORBIDDEN, "session", why).into_response()
    }
}

const ALWAYS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-dns-prefetch-control", DNS_PREFETCH),
];

/// The length of the body as the request tells it.
fn announced(headers: &HeaderMap) -> Option<u64> {
    let length = headers.get(CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = one(headers, &CONTENT_TYPE).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}
