//! The headers of requests and responses.

use std::fmt;
use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{Error, Redactor};

/// The headers of a request or a response, with names in lower case. Clones share them until one changes.
#[derive(Clone, Default)]
pub struct Headers {
    map: Arc<HeaderMap>,
    /// The name of a header that cannot be sent.
    unsent: Option<&'static str>,
}

/// The value of a header. `Debug` does not show a secret one.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderText<'a> {
    /// A value that may be shown.
    Open(&'a str),
    /// A secret value, such as a key.
    Secret(&'a str),
}

impl<'a> HeaderText<'a> {
    /// The value, for sending.
    pub fn expose_secret(self) -> &'a str {
        match self {
            Self::Open(text) | Self::Secret(text) => text,
        }
    }
}

impl fmt::Debug for HeaderText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(text) => f.debug_tuple("Open").field(text).finish(),
            Self::Secret(_) => f.write_str("Secret"),
        }
    }
}

impl Headers {
    /// Sets a header that may be shown. A transport refuses a request with a name or a value that cannot be a header.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.insert(name, HeaderValue::from_str(value).ok());
    }

    /// Sets a secret header, such as one with a key.
    pub fn set_secret(&mut self, name: &'static str, value: &SecretString) {
        let value = HeaderValue::from_str(value.expose_secret()).ok();
        self.insert(
            name,
            value.map(|mut value| {
                value.set_sensitive(true);
                value
            }),
        );
    }

    fn insert(&mut self, name: &'static str, value: Option<HeaderValue>) {
        match (HeaderName::try_from(name), value) {
            (Ok(known), Some(value)) => {
                Arc::make_mut(&mut self.map).insert(known, value);
            }
            _ => self.unsent = Some(name),
        }
    }

    /// The first header of this name (lower case).
    pub fn get(&self, name: &str) -> Option<&str> {
        self.map.get(name)?.to_str().ok()
    }

    /// All headers; values that are not text are left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, HeaderText<'_>)> {
        self.map.iter().filter_map(|(name, value)| {
            let text = value.to_str().ok()?;
            let text = if value.is_sensitive() {
                HeaderText::Secret(text)
            } else {
                HeaderText::Open(text)
            };
            Some((name.as_str(), text))
        })
    }

    /// The headers that may be shown.
    pub(crate) fn open(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter_map(|(name, text)| match text {
            HeaderText::Open(text) => Some((name, text)),
            HeaderText::Secret(_) => None,
        })
    }

    /// The keys in secret headers.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().filter_map(|(_, text)| match text {
            HeaderText::Secret(text) => Some(text.strip_prefix("Bearer ").unwrap_or(text)),
            HeaderText::Open(_) => None,
        })
    }

    /// The number of headers.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Removes the keys of `redactor` from all values.
    pub(crate) fn hide(&mut self, redactor: &Redactor) {
        let clean = |value: &HeaderValue| redactor.without_keys(value.to_str().ok()?);
        if !self.map.values().any(|value| clean(value).is_some()) {
            return;
        }
        for value in Arc::make_mut(&mut self.map).values_mut() {
            if let Some(Ok(clean)) = clean(value).as_deref().map(HeaderValue::from_str) {
                *value = clean;
            }
        }
    }

    /// The map to send.
    pub(super) fn into_map(self) -> Result<HeaderMap, Error> {
        match self.unsent {
            Some(name) => Err(Error::refused(name, "it cannot be an HTTP header")),
            None => Ok(Arc::unwrap_or_clone(self.map)),
        }
    }
}

impl From<HeaderMap> for Headers {
    fn from(map: HeaderMap) -> Self {
        Self {
            map: Arc::new(map),
            unsent: None,
        }
    }
}

impl Extend<(String, String)> for Headers {
    /// Adds headers that may be shown. Names and values that HTTP does not allow are left out.
    fn extend<I: IntoIterator<Item = (String, String)>>(&mut self, list: I) {
        let map = Arc::make_mut(&mut self.map);
        for (name, value) in list {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                map.append(name, value);
            }
        }
    }
}

impl FromIterator<(String, String)> for Headers {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(list: I) -> Self {
        let mut headers = Self::default();
        headers.extend(list);
        headers
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_http_does_not_allow_is_refused_and_not_sent() {
        let mut headers = Headers::default();
        headers.set("X-Name", "value");
        assert_eq!(headers.get("x-name"), Some("value"));
        for (name, value) in [("two words", "value"), ("x-name", "two\nlines")] {
            let mut headers = headers.clone();
            headers.set(name, value);
            assert_eq!(headers.len(), 1);
            assert!(headers.into_map().is_err(), "{name}");
        }
    }
}
