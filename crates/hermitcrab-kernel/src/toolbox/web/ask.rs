//! A request as the model words it, checked.

use std::collections::BTreeMap;

use reqwest::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use reqwest::{Method, StatusCode};
use url::Url;

use super::policy::{bad_url, refused};
use crate::{ErrorKind, ToolError};

const MAX_BODY: usize = 1 << 20;
const MAX_HEADERS: usize = 32;
const MAX_HEADER: usize = 4_000;
const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
];
const WANTED: &str = "text/html, text/markdown, text/plain, application/json, */*;q=0.1";

/// The headers that the caller cannot set: they name the sender, the message's length or the method.
const KEPT_HEADERS: [&str; 18] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// One request; redirects make the next one of it.
#[derive(Debug)]
pub(super) struct Ask {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<String>,
}

impl Ask {
    pub fn get(url: &str) -> Result<Self, ToolError> {
        Self::new("GET", url, None, &BTreeMap::new())
    }

    pub fn new(
        method: &str,
        url: &str,
        body: Option<&str>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Self, ToolError> {
        let upper = method.to_ascii_uppercase();
        let Some(method) = METHODS.into_iter().find(|one| one.as_str() == upper) else {
            return Err(bad(format!("no method {method:?}"))
                .hint("use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS"));
        };
        if body.is_some_and(|body| body.len() > MAX_BODY) {
            return Err(bad(format!("the body is longer than {MAX_BODY} bytes")));
        }
        if body.is_some() && matches!(method, Method::GET | Method::HEAD) {
            return Err(bad(format!("{method} takes no body")));
        }
        Ok(Self {
            method,
            url: Url::parse(url.trim()).map_err(bad_url)?,
            headers: read_headers(headers)?,
            body: body.map(str::to_owned),
        })
    }

    /// The request that a redirect asks for; `None` if the reply is not a redirect.
    pub fn redirected(
        &self,
        status: StatusCode,
        location: Option<&HeaderValue>,
    ) -> Result<Option<Self>, ToolError> {
        let (true, Some(location)) = (matches!(status.as_u16(), 301..=303 | 307 | 308), location)
        else {
            return Ok(None);
        };
        let url = std::str::from_utf8(location.as_bytes())
            .ok()
            .and_then(|location| self.url.join(location).ok())
            .ok_or_else(|| bad_url("it redirects to something that is not an address"))?;
        if self.url.scheme() == "https" && url.scheme() == "http" {
            return Err(refused(format!(
                "{} redirects from https to http",
                self.url
            )));
        }
        let turns_to_get = match status.as_u16() {
            301 | 302 => self.method == Method::POST,
            303 => self.method != Method::HEAD,
            _ => false,
        };
        // What was meant for one site is not told to another.
        let mut headers = if url.origin() == self.url.origin() {
            self.headers.clone()
        } else {
            read_headers(&BTreeMap::new())?
        };
        if turns_to_get {
            for name in [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE] {
                headers.remove(name);
            }
        }
        Ok(Some(Self {
            method: if turns_to_get {
                Method::GET
            } else {
                self.method.clone()
            },
            url,
            headers,
            body: self.body.clone().filter(|_| !turns_to_get),
        }))
    }
}

fn read_headers(list: &BTreeMap<String, String>) -> Result<HeaderMap, ToolError> {
    if list.len() > MAX_HEADERS {
        return Err(bad(format!("more than {MAX_HEADERS} headers")));
    }
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(WANTED))]);
    for (name, value) in list {
        // Parsing refuses line ends and control characters in both.
        let name = HeaderName::try_from(name.as_str())
            .map_err(|_| bad(format!("{name:?} is not the name of a header")))?;
        let kept = KEPT_HEADERS.contains(&name.as_str())
            || ["proxy-", "sec-"]
                .iter()
                .any(|kind| name.as_str().starts_with(kind));
        if kept {
            return Err(refused(format!("the header {name} cannot be set")).hint("leave it out"));
        }
        let text = HeaderValue::from_str(value)
            .ok()
            .filter(|value| value.len() <= MAX_HEADER)
            .ok_or_else(|| {
                bad(format!(
                    "the value of {name} holds a control character or more than {MAX_HEADER} bytes"
                ))
            })?;
        headers.insert(name, text);
    }
    Ok(headers)
}

fn bad(detail: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::BadArguments, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, url: &str, body: Option<&str>) -> Ask {
        let headers = [("Content-Type".to_owned(), "text/plain".to_owned())].into();
        Ask::new(method, url, body, &headers).unwrap()
    }

    fn redirected(ask: &Ask, status: u16, to: &str) -> Result<Option<Ask>, ToolError> {
        let to = HeaderValue::from_bytes(to.as_bytes()).unwrap();
        ask.redirected(StatusCode::from_u16(status).unwrap(), Some(&to))
    }

    #[test]
    fn https_is_not_left_for_http() {
        let from = ask("GET", "https://a.test/x", None);
        for to in ["http://a.test/x", "HTTP://b.test/"] {
            assert_eq!(redirected(&from, 302, to).unwrap_err().kind, "refused");
        }
        for (to, there) in [
            ("//b.test/", "https://b.test/"),
            ("../y", "https://a.test/y"),
            ("https://b.test", "https://b.test/"),
        ] {
            let next = redirected(&from, 302, to).unwrap().unwrap();
            assert_eq!(next.url.as_str(), there);
        }
    }

    #[test]
    fn the_status_says_what_becomes_of_the_method() {
        for (status, method, then) in [
            (301, "POST", "GET"),
            (302, "POST", "GET"),
            (302, "PUT", "PUT"),
            (303, "PUT", "GET"),
            (303, "HEAD", "HEAD"),
            (307, "POST", "POST"),
            (308, "DELETE", "DELETE"),
        ] {
            let body = (method != "HEAD").then_some("body");
            let from = ask(method, "https://a.test/", body);
            let next = redirected(&from, status, "/next").unwrap().unwrap();
            assert_eq!(next.method.as_str(), then, "{status} {method}");
            let keeps = method == then;
            assert_eq!(next.body.is_some(), keeps && body.is_some());
            assert_eq!(next.headers.contains_key(CONTENT_TYPE), keeps);
        }
    }

    #[test]
    fn other_replies_are_no_redirects() {
        let from = ask("GET", "https://a.test/", None);
        for status in [200, 300, 304, 404] {
            assert!(redirected(&from, status, "/next").unwrap().is_none());
        }
        assert!(from.redirected(StatusCode::FOUND, None).unwrap().is_none());
        assert_eq!(
            redirected(&from, 302, "http://[")
                .unwrap_err()
                .kind
                .to_string(),
            "bad_url"
        );
    }
}
