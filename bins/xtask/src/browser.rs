//! A browser for the tests of pages: present, installed, or missing.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use crate::apt;
use crate::workspace::{is_ci, works};

/// Packages of Debian and its relatives.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// The names of the browser.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Looks for Chromium and chromedriver, and installs them where that is possible. Returns whether they can be run.
pub fn provide(may_install: bool) -> bool {
    let mut found = version();
    if found.is_none() && may_install && apt::install(&PACKAGES) {
        found = version();
    }
    if let Some(version) = &found {
        eprintln!("xtask: {version}; the tests need Chromium 140 or newer");
    }
    found.is_some()
}

/// The text about a missing browser, for this number of tests.
pub fn missing(tests: usize) -> String {
    let packages = PACKAGES.join(" ");
    format!(
        "Chromium and chromedriver are missing and this user may not install packages; {tests} browser tests are skipped. \
         To run them: sudo apt-get install {packages}"
    )
}

/// Whether a missing browser is an error.
pub fn is_required() -> bool {
    is_ci() || std::env::var_os("ORRERY_BROWSER").is_some_and(|value| value == "required")
}

/// The version that Chromium prints, if it and chromedriver can be run: those that `ORRERY_CHROMIUM` and
/// `ORRERY_CHROMEDRIVER` name, else those on the PATH.
fn version() -> Option<String> {
    let says = |variable: &str, names: &[&str]| {
        let named = std::env::var_os(variable).filter(|value| !value.is_empty());
        let names = match &named {
            Some(program) => vec![program.as_os_str()],
            None => names.iter().map(OsStr::new).collect(),
        };
        names.iter().find_map(|name| {
            let output = Command::new(name).arg("--version").output().ok()?;
            let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            output.status.success().then_some(text)
        })
    };
    says("ORRERY_CHROMEDRIVER", &["chromedriver"])?;
    says("ORRERY_CHROMIUM", &BROWSERS)
}

/// The program that takes pictures of pages: the one that `ORRERY_CHROMIUM` names, else `chromium` or another name of it.
pub fn chromium() -> OsString {
    let named = std::env::var_os("ORRERY_CHROMIUM").filter(|value| !value.is_empty());
    let found = || {
        let works = |name: &&&str| works(Command::new(name).arg("--version"));
        BROWSERS.iter().find(works).unwrap_or(&BROWSERS[0])
    };
    named.unwrap_or_else(|| found().into())
}
