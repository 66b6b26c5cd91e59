//! The frame of a page: what it may do, how it looks, and the one script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

/// How a page looks: the whole of its one style element.
const STYLE: &str = include_str!("page.css");
/// What a page does: the whole of its one script element, which is there only when there is a list to search.
const SCRIPT: &str = include_str!("search.js");

pub(crate) fn document(title: &str, body: &Markup, scripted: bool) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // Before anything it applies to.
                meta http-equiv="Content-Security-Policy" content=(policy(scripted));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            "\n"
            body {
                (body)
                @if scripted { script { (PreEscaped(SCRIPT)) } }
            }
        }
        "\n"
    };
    page.into_string()
}

/// Nothing is loaded from anywhere, nothing is sent anywhere, and what is inline is this style and this script.
fn policy(scripted: bool) -> String {
    let script = if scripted {
        hash(SCRIPT)
    } else {
        "'none'".to_owned()
    };
    format!(
        "default-src 'none'; style-src {}; script-src {script}; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    )
}

fn hash(source: &str) -> String {
    format!(
        "'sha256-{}'",
        STANDARD.encode(Sha256::digest(source.as_bytes()))
    )
}
