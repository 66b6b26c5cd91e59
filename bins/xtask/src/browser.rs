//! A browser for the tests of the face: there already, installed, or done without.

use std::ffi::OsStr;
use std::process::Command;

use crate::workspace::is_ci;
use crate::{Error, apt};

/// Packages of Debian and its relatives.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Sees to Chromium and chromedriver. Where they can't be had, the tests that need them are left out, except in CI.
pub fn provide() -> Result<(), Error> {
    if is_there() || (apt::install(&PACKAGES) && is_there()) {
        let version = version().unwrap_or_default();
        eprintln!("xtask: {version}; the tests need Chromium 140 or newer");
        return Ok(());
    }
    let missing = "Chromium and chromedriver are not on the PATH: install both (Debian: apt-get install chromium chromium-driver)";
    if is_ci() {
        return Err(Error::NotInstalled { missing });
    }
    eprintln!("xtask: {missing}; the tests of the face in a browser are left out");
    Ok(())
}

/// Whether both programs can be run.
pub fn is_there() -> bool {
    version().is_some()
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
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    says("ORRERY_CHROMIUM", &browsers)
}
