//! Pages in the user's browser.

use std::path::Path;

use url::Url;

use crate::{Session, escape};

/// Opens a page that the program wrote in the browser, or says that there is none; the page is there in any case.
///
/// Without a display no program is started: one in the terminal would take it over.
pub fn open_in_browser(page: &Path, session: &Session) {
    let absolute = std::path::absolute(page).unwrap_or_else(|_| page.to_owned());
    let opened = has_display()
        && Url::from_file_path(absolute).is_ok_and(|url| webbrowser::open(url.as_str()).is_ok());
    if !opened {
        let page = escape(&page.display().to_string());
        session.status(&format!("no browser can be opened; the page is {page}"));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate reads the environment for the programs"
)]
fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux")
        || is_set("DISPLAY")
        || is_set("WAYLAND_DISPLAY")
        || is_set("BROWSER")
}
