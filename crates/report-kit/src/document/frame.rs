//! The frame of a page: security policy, style and script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

/// The style sheet of every page.
const STYLE: &str = include_str!("page.css");
/// The script of a page with a searchable list.
const SEARCH: &str = include_str!("search.js");
/// The script of a page with a browser.
const BROWSE: &str = include_str!("browse.js");
/// The script of a page with a long table.
const TABLES: &str = include_str!("tables.js");

/// The scripts that a page needs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scripts {
    pub(crate) search: bool,
    pub(crate) browse: bool,
    pub(crate) tables: bool,
}

impl Scripts {
    /// The scripts that either needs.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            search: self.search || other.search,
            browse: self.browse || other.browse,
            tables: self.tables || other.tables,
        }
    }

    fn sources(self) -> Vec<&'static str> {
        let all = [
            (self.search, SEARCH),
            (self.browse, BROWSE),
            (self.tables, TABLES),
        ];
        (all.into_iter())
            .filter_map(|(needed, source)| needed.then_some(source))
            .collect()
    }
}

pub(crate) fn document(title: &str, body: &Markup, scripts: Scripts) -> String {
    let scripts = scripts.sources();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // Before anything it applies to.
                meta http-equiv="Content-Security-Policy" content=(policy(&scripts));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            "\n"
            body {
                (body)
                @for source in &scripts { script { (PreEscaped(source)) } }
            }
        }
        "\n"
    };
    page.into_string()
}

/// The content security policy: no loads, no requests, and no inline code but this style and these scripts.
fn policy(scripts: &[&str]) -> String {
    let script = if scripts.is_empty() {
        "'none'".to_owned()
    } else {
        let hashes: Vec<_> = scripts.iter().map(|source| hash(source)).collect();
        hashes.join(" ")
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
