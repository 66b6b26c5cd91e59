//! What came back, as text.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;
use url::Url;

use super::{broken, markup};
use crate::Fault;

/// Bytes, after decompression.
const MAX_READ: usize = 2 << 20;
/// Characters.
const MAX_TEXT: usize = 50_000;

/// A page of the web. Its text is someone else's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// Where it is, after all redirects.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// Its title, if it is HTML that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The media type, as the server names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// HTML as Markdown, other text as it is.
    pub text: String,
    /// There is more than is shown.
    pub truncated: bool,
}

enum Kind {
    Html,
    Text,
    Binary,
    Unknown,
}

/// Reads a reply, at most [`MAX_READ`] bytes of it.
pub(super) async fn read(url: &Url, response: Response) -> Result<Page, Fault> {
    let status = response.status().as_u16();
    let named = response.headers().get(CONTENT_TYPE);
    let content_type = named.map(|named| String::from_utf8_lossy(named.as_bytes()).into_owned());
    let kind = content_type.as_deref().map_or(Kind::Unknown, kind);
    if let Kind::Binary = kind {
        return Err(binary(url, content_type.as_deref()));
    }
    let (bytes, cut) = bytes(response).await?;
    if bytes.contains(&0) {
        return Err(binary(url, content_type.as_deref()));
    }
    let text = decode(&bytes, content_type.as_deref());
    let is_html = match kind {
        Kind::Html => true,
        Kind::Unknown => looks_like_html(&text),
        Kind::Text | Kind::Binary => false,
    };
    let mut page = Page {
        url: url.to_string(),
        status,
        title: None,
        content_type,
        text,
        truncated: cut,
    };
    if is_html {
        let markdown = markup::markdown(&page.text)?;
        page.title = markdown.title;
        page.text = markdown.text;
        page.truncated |= markdown.cut;
    }
    if let Some((end, _)) = page.text.char_indices().nth(MAX_TEXT) {
        page.text.truncate(end);
        page.truncated = true;
    }
    Ok(page)
}

/// The body, and whether it was longer.
pub(super) async fn bytes(mut response: Response) -> Result<(Vec<u8>, bool), Fault> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        let room = MAX_READ - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Ok((bytes, true));
        }
    }
    Ok((bytes, false))
}

fn kind(content_type: &str) -> Kind {
    let media = content_type.split(';').next().unwrap_or_default();
    let media = media.trim().to_ascii_lowercase();
    let Some((class, name)) = media.split_once('/') else {
        return Kind::Unknown;
    };
    match (class, name) {
        ("text", "html") | ("application", "xhtml+xml") => Kind::Html,
        ("text", _)
        | (
            "application",
            "json"
            | "ld+json"
            | "x-ndjson"
            | "jsonl"
            | "xml"
            | "javascript"
            | "ecmascript"
            | "x-javascript"
            | "yaml"
            | "x-yaml"
            | "toml"
            | "sql"
            | "graphql"
            | "x-sh"
            | "x-www-form-urlencoded",
        ) => Kind::Text,
        _ if name.ends_with("+json") || name.ends_with("+xml") || name.ends_with("+yaml") => {
            Kind::Text
        }
        _ => Kind::Binary,
    }
}

fn binary(url: &Url, content_type: Option<&str>) -> Fault {
    let what = content_type.unwrap_or("of no named type");
    Fault::new("binary", format!("{url} is no text: {what}"))
        .hint("only text can be read; open_tab shows the person the page")
}

/// UTF-8, or Latin-1 where the server says so. What is neither shows replacement characters.
fn decode(bytes: &[u8], content_type: Option<&str>) -> String {
    let named = content_type.unwrap_or_default().to_ascii_lowercase();
    let charset = named.split_once("charset=").map_or("", |(_, name)| name);
    let charset = charset.trim_matches(['"', '\'', ' ']);
    if ["iso-8859-1", "latin1", "windows-1252"]
        .iter()
        .any(|name| charset.starts_with(name))
    {
        return bytes.iter().map(|&byte| char::from(byte)).collect();
    }
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}

fn looks_like_html(text: &str) -> bool {
    let start = text.trim_start().get(..14).unwrap_or_default();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}
