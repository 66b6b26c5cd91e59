//! A browser for the tests of the face: there already, installed, or done without.

use std::process::Command;

use crate::Error;
use crate::workspace::{Workspace, finish, works};

/// Packages of Debian and its relatives.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Sees to Chromium and chromedriver. Where they can't be had, the tests that need them are left out, except in CI.
pub fn provide(_workspace: &Workspace) -> Result<(), Error> {
    if is_there() || (may_install() && install()) {
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
    let runs = |name: &str| works(Command::new(name).arg("--version"));
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .any(|name| runs(name))
        && runs("chromedriver")
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
    let packages = || {
        let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
        arguments.extend(PACKAGES);
        apt(&arguments)
    };
    // Its lists may be missing or old.
    let installed = packages().or_else(|_| apt(&["update", "-q"]).and_then(|()| packages()));
    installed.is_ok() && is_there()
}
