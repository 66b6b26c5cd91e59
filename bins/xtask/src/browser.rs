//! A browser for the tests of the face: there already, installed, or done without.

use std::ffi::OsStr;
use std::process::Command;

use crate::Error;
use crate::workspace::{Workspace, finish, works};

/// Packages of Debian and its relatives.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Sees to Chromium and chromedriver. Where they can't be had, the tests that need them are left out, except in CI.
pub fn provide(_workspace: &Workspace) -> Result<(), Error> {
    if is_there() || (may_install() && install()) {
        let version = version().unwrap_or_default();
        eprintln!("xtask: {version}; the tests need Chromium 140 or newer");
        return Ok(());
    }
    let missing = "Chromium and chromedriver are not on the PATH: install both (Debian: apt-get install chromium chromium-driver)";
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        return Err(Error::NoBrowser { missing });
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

/// As root on a system with apt.
fn may_install() -> bool {
    let root = Command::new("id").arg("-u").output();
    root.is_ok_and(|user| user.stdout.trim_ascii() == b"0")
        && works(Command::new("apt-get").arg("--version"))
}

fn install() -> bool {
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(arguments);
        finish(&mut command)
    };
    // Its lists may be missing, or name packages that the mirror no longer has. Without a network those that are there
    // may still do.
    if let Err(error) = apt(&["update", "-q"]) {
        eprintln!("xtask: {error}");
    }
    let mut packages = vec!["install", "-y", "-q", "--no-install-recommends"];
    packages.extend(PACKAGES);
    apt(&packages).is_ok() && is_there()
}
