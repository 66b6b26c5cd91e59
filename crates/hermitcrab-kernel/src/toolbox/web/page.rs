//! A reply as text.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;
use url::Url;

use super::charset::decode;
use super::{broken, markup};
use crate::{ErrorKind, ToolError};

/// Bytes, after decompression.
const MAX_READ: usize = 2 << 20;
/// Characters of a page that are kept.
const MAX_TEXT: usize = 200_000;
/// Characters of a piece.
const PIECE: usize = 12_000;
/// Characters of a piece as JSON, where each line end and each quotation mark takes two.
const PIECE_AS_JSON: usize = 14_000;

/// A page of the web. Its text is someone else's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Page {
    /// The address after all redirects.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// The title, if the page is HTML with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The media type, as the server names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// HTML as Markdown, other text as it is.
    pub text: String,
    /// Whether the page is longer than the kept text.
    pub truncated: bool,
}

/// A part of a page, and where the next one begins.
#[derive(Debug, Serialize)]
pub(crate) struct PageChunk {
    #[serde(flatten)]
    page: Page,
    /// The first character of the text; the page's first one is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    /// The offset of the next chunk; `None` at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
    /// Characters of the whole page, if this is a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<usize>,
}

impl PageChunk {
    /// The start of an answer of which no other piece can be had.
    pub(crate) fn alone(self) -> Page {
        Page {
            truncated: self.page.truncated || self.next.is_some(),
            ..self.page
        }
    }
}

impl Page {
    /// The piece that begins with this character.
    ///
    /// # Errors
    /// `bad_offset`: after the end.
    pub(crate) fn piece(&self, offset: usize) -> Result<PageChunk, ToolError> {
        let length = self.text.chars().count();
        if offset > length {
            let detail = format!("the page has {length} characters");
            let fault = ToolError::new(ErrorKind::BadOffset, detail);
            return Err(fault.hint("use the offset `next` of the piece before"));
        }
        let mut as_json = 0;
        let fits = |character: &char| {
            as_json += match character {
                '"' | '\\' | '\n' | '\r' | '\t' => 2,
                control if control.is_control() => 6,
                _ => 1,
            };
            as_json <= PIECE_AS_JSON
        };
        let rest = self.text.chars().skip(offset).take(PIECE);
        let text: String = rest.take_while(fits).collect();
        let end = offset + text.chars().count();
        Ok(PageChunk {
            page: Self {
                text,
                ..self.clone()
            },
            offset: (offset > 0).then_some(offset),
            next: (end < length).then_some(end),
            length: (offset > 0 || end < length).then_some(length),
        })
    }
}

enum Kind {
    Html,
    Text,
    Binary,
    Unknown,
}

/// Reads a reply, at most [`MAX_READ`] bytes of it.
pub(super) async fn read(url: &Url, response: Response) -> Result<Page, ToolError> {
    let status = response.status().as_u16();
    let named = response.headers().get(CONTENT_TYPE);
    let content_type = named.map(|named| String::from_utf8_lossy(named.as_bytes()).into_owned());
    let kind = content_type.as_deref().map_or(Kind::Unknown, kind);
    if let Kind::Binary = kind {
        return Err(binary(url, content_type.as_deref()));
    }
    let (bytes, cut) = bytes(response).await?;
    let is_html = match kind {
        Kind::Html => true,
        Kind::Unknown => looks_like_html(&bytes),
        Kind::Text | Kind::Binary => false,
    };
    let text = decode(&bytes, content_type.as_deref(), is_html, cut);
    if text.contains('\0') {
        return Err(binary(url, content_type.as_deref()));
    }
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
pub(super) async fn bytes(mut response: Response) -> Result<(Vec<u8>, bool), ToolError> {
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

fn binary(url: &Url, content_type: Option<&str>) -> ToolError {
    let what = content_type.unwrap_or("of no named type");
    ToolError::new(ErrorKind::Binary, format!("{url} is not text: {what}"))
        .hint("only text can be read; open_tab shows the person the page")
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let start = start.trim_ascii_start();
    let begins = |with: &[u8]| {
        (start.get(..with.len())).is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    begins(b"<!doctype html") || begins(b"<html")
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn a_page_without_title_has_none() {
        let page = Page {
            url: "http://a.test/".to_owned(),
            status: 200,
            title: None,
            content_type: None,
            text: String::new(),
            truncated: false,
        };
        let value = serde_json::to_value(page).unwrap();
        assert_eq!(value.as_object().unwrap().len(), 4);
    }
}
