//! The frame of a page: security policy, style and script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

/// The id of the line about the data of a page.
pub(crate) const DATA: &str = "data";

/// The style sheet of every page.
const STYLE: &str = include_str!("page.css");
/// The script of every page. A page is whole without it.
const SCRIPT: &str = concat!(
    include_str!("links.js"),
    include_str!("copy.js"),
    include_str!("tables.js"),
    include_str!("search.js"),
    include_str!("browse.js"),
);

pub(crate) fn document(title: &str, body: &Markup, refresh_secs: Option<u64>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // Before anything it applies to.
                meta http-equiv="Content-Security-Policy" content=(policy());
                @if let Some(secs) = refresh_secs {
                    meta http-equiv="refresh" content=(secs);
                }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            "\n"
            body {
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    page.into_string()
}

/// The content security policy: no loads, no requests, and no inline code but this style and this script.
fn policy() -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn hash(source: &str) -> String {
    format!(
        "'sha256-{}'",
        STANDARD.encode(Sha256::digest(source.as_bytes()))
    )
}
