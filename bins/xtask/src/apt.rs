//! Packages of Debian and its relatives, where this may install them.

use std::process::Command;

use crate::workspace::works;

/// The last lines of a failed call that are shown.
const SHOWN: usize = 5;

/// Installs packages as root on a system with apt. Returns whether it was done.
pub fn install(packages: &[&str]) -> bool {
    if !may_install() {
        return false;
    }
    // The lists may be missing, or name packages that the mirror no longer has. Without a network those that are there
    // may still do.
    run(&["update", "-q"]);
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(packages);
    run(&arguments)
}

/// Runs apt-get; what it prints is shown only where it fails. Returns whether it succeeded.
fn run(arguments: &[&str]) -> bool {
    eprintln!("xtask: apt-get {}", arguments.join(" "));
    let mut command = Command::new("apt-get");
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(arguments);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("xtask: cannot start apt-get: {error}");
            return false;
        }
    };
    if output.status.success() {
        return true;
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    for line in &lines[lines.len().saturating_sub(SHOWN)..] {
        eprintln!("{line}");
    }
    false
}

/// As root on a system with apt.
fn may_install() -> bool {
    let root = Command::new("id").arg("-u").output();
    root.is_ok_and(|user| user.stdout.trim_ascii() == b"0")
        && works(Command::new("apt-get").arg("--version"))
}
