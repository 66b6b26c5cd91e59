//! Search by a `SearXNG` server.

use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use url::Url;

use super::ask::Ask;
use super::page;
use super::policy::bad_url;
use crate::{ErrorKind, ToolError};

const MAX_QUERY: usize = 400;
const MAX_HITS: usize = 5;
const MAX_TITLE: usize = 200;
const MAX_SNIPPET: usize = 500;

/// The result of a search. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The query.
    pub query: String,
    /// At most five, best first.
    pub results: Vec<Hit>,
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The title.
    pub title: String,
    /// The address.
    pub url: String,
    /// An excerpt.
    pub text: String,
}

#[derive(Deserialize)]
struct Reply {
    results: Vec<SearchRow>,
}

#[derive(Deserialize)]
struct SearchRow {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

/// The address of a server, as configured.
pub(super) fn server(address: &str) -> Result<Url, ToolError> {
    let mut url = Url::parse(address).map_err(bad_url)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad_url("web.searxng is neither http nor https"));
    }
    // A base without a last slash would lose its last part.
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

pub(super) fn ask(server: &Url, query: &str) -> Result<Ask, ToolError> {
    let length = query.chars().count();
    if query.trim().is_empty() || length > MAX_QUERY {
        return Err(ToolError::new(
            ErrorKind::BadArguments,
            format!("a query has 1 to {MAX_QUERY} characters, not {length}"),
        ));
    }
    let mut url = server.join("search").map_err(bad_url)?;
    url.query_pairs_mut()
        .append_pair("q", query)
        .append_pair("format", "json");
    Ask::get(url.as_str())
}

pub(super) async fn read(query: &str, response: Response) -> Result<Found, ToolError> {
    let status = response.status();
    if status != StatusCode::OK {
        return Err(ToolError::new(
            ErrorKind::BadReply,
            format!("the search server answered {status}"),
        )
        .hint("its JSON format has to be switched on, and it must not redirect"));
    }
    let (bytes, _) = page::bytes(response).await?;
    let reply: Reply = serde_json::from_slice(&bytes).map_err(|error| {
        ToolError::new(
            ErrorKind::BadReply,
            format!("the search server's answer cannot be read: {error}"),
        )
    })?;
    let pages = reply.results.into_iter().filter(|entry| {
        let url = Url::parse(&entry.url);
        url.is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
    });
    let results = pages.take(MAX_HITS).map(|entry| Hit {
        title: clip(&entry.title.unwrap_or_default(), MAX_TITLE),
        url: entry.url,
        text: clip(&entry.content.unwrap_or_default(), MAX_SNIPPET),
    });
    Ok(Found {
        query: query.to_owned(),
        results: results.collect(),
    })
}

fn clip(text: &str, length: usize) -> String {
    text.trim().chars().take(length).collect()
}
