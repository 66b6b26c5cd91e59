//! Packages of Debian and its relatives, where this may install them.

use std::process::Command;

use crate::workspace::{finish, works};

/// Installs packages as root on a system with apt. Returns whether it was done.
pub fn install(packages: &[&str]) -> bool {
    if !may_install() {
        return false;
    }
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
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments).is_ok()
}

/// As root on a system with apt.
fn may_install() -> bool {
    let root = Command::new("id").arg("-u").output();
    root.is_ok_and(|user| user.stdout.trim_ascii() == b"0")
        && works(Command::new("apt-get").arg("--version"))
}
