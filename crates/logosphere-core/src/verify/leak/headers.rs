//! The headers of requests.

use super::finding::Findings;
use super::finding::{LeakKind, Severity};
use super::metadata::{MetadataTerms, around};
use super::request::shown;

/// Headers that a request needs, or that identify the client and the server. They cannot differ between calls.
const HEADERS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "anthropic-version",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "http-referer",
    "transfer-encoding",
    "user-agent",
    "x-api-key",
    "x-title",
];

/// Headers with secret values.
const SECRETS: [&str; 4] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-api-key",
];

/// The headers of requests, compared with those of the first request.
#[derive(Debug, Default)]
pub(super) struct HeaderLists(Option<HeaderList>);

#[derive(Debug)]
struct HeaderList {
    /// The name of the request.
    name: String,
    headers: Vec<(String, String)>,
}

impl HeaderLists {
    /// Checks the headers of the request `name`.
    pub fn hold(
        &mut self,
        name: &str,
        headers: Vec<(String, String)>,
        terms: &MetadataTerms,
        found: &mut Findings,
    ) {
        let headers: Vec<_> = (headers.into_iter())
            .map(|(header, value)| (header.to_ascii_lowercase(), value))
            // It follows from the body.
            .filter(|(header, _)| header != "content-length")
            .collect();
        for (header, value) in &headers {
            check_name(header, name, found);
            for (kind, range) in terms.in_header(value) {
                let detail = format!("header `{header}` with {}", around(value, range));
                found.add(Severity::Leak, kind, header, name, detail);
            }
        }
        let Some(first) = &self.0 else {
            let name = name.to_owned();
            self.0 = Some(HeaderList { name, headers });
            return;
        };
        if first.headers == headers {
            return;
        }
        let mut names: Vec<_> = (headers.iter().chain(&first.headers))
            .map(|(header, _)| header.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|header| values(&headers, header) != values(&first.headers, header));
        let mut leak = |about: &str, detail| {
            found.add(Severity::Leak, LeakKind::Header, about, name, detail);
        };
        for header in &names {
            let [here, there] = [&headers, &first.headers].map(|list| shown_values(list, header));
            let other = &first.name;
            leak(
                header,
                format!("header `{header}` is {here}; in {other} it is {there}"),
            );
        }
        if names.is_empty() {
            let detail = format!(
                "its headers are in another order than those of {}",
                first.name
            );
            leak("order", detail);
        }
    }
}

/// Checks the name of a header.
pub(super) fn check_name(header: &str, place: &str, found: &mut Findings) {
    if !HEADERS.contains(&header.to_ascii_lowercase().as_str()) {
        let detail = format!("header `{header}` is one that no request needs");
        let about = format!("name {header}");
        found.add(Severity::Leak, LeakKind::Header, &about, place, detail);
    }
}

fn values<'a>(headers: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    let of_name = headers.iter().filter(|(header, _)| header == name);
    of_name.map(|(_, value)| value.as_str()).collect()
}

fn shown_values(headers: &[(String, String)], name: &str) -> String {
    let values = values(headers, name);
    if values.is_empty() {
        "missing".to_owned()
    } else if SECRETS.contains(&name) {
        "a secret".to_owned()
    } else {
        shown(&values.join(", "))
    }
}
