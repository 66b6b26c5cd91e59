//! `cargo xtask fresh` with a cargo that is a script: what it gets, and what is found in what it leaves.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::gate::program;

/// Writes down its environment; the demo shows five pages, one of them with a wide line on demand.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
  metadata*) echo "{\"workspace_root\": \"$PLACE/repository\", \"target_directory\": \"$PLACE/target\"}"; exit 0 ;;
esac
# The environment of a newcomer has no PLACE.
log=$(cat registry.txt)
echo "cargo $* [HOME=$HOME OFFLINE=$CARGO_NET_OFFLINE KEY=$ANTHROPIC_API_KEY]" >> "$log"
case "$*" in
  "xtask demo")
    mkdir -p target/demo
    for page in popper zer0gravity hermitcrab logosphere index; do
      echo > "target/demo/$page.html"
      echo "$page  target/demo/$page.html"
    done
    ls "$PATH" >> "$log" ;;
  *test*) [ -e fails ] && touch "$HOME/.left" && exit 1 ;;
esac
exit 0
"#;

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let mut git = Command::new("git");
    git.args(identity).args(arguments).current_dir(folder);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Runs it on a repository with these files; returns the output and what cargo wrote down.
fn fresh(files: &[&str]) -> (Output, String) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in [
        "repository",
        "bin",
        "temporary",
        "home/.cargo/registry/cache",
    ] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    program(&folder.join("bin/cargo"), CARGO);
    let repository = folder.join("repository");
    let log = folder.join("log");
    fs::write(repository.join("registry.txt"), log.to_str().unwrap()).unwrap();
    for name in files {
        fs::write(repository.join(name), "").unwrap();
    }
    git(&repository, &["init", "--quiet"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "first"]);
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("fresh")
        .env("PATH", path)
        .env("CARGO", folder.join("bin/cargo"))
        .env("PLACE", folder)
        .env("HOME", folder.join("home"))
        .env("TMPDIR", folder.join("temporary"))
        .env("ANTHROPIC_API_KEY", "secret")
        .env_remove("CARGO_HOME")
        .output()
        .unwrap();
    (output, fs::read_to_string(log).unwrap())
}

#[test]
fn both_commands_run_in_a_clone_with_nothing_else() {
    let (output, log) = fresh(&[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let calls: Vec<_> = log
        .lines()
        .filter(|line| line.starts_with("cargo "))
        .collect();
    let names = ["fetch --locked", "xtask demo", "xtask test --no-install"];
    assert_eq!(calls.len(), names.len(), "{log}");
    for (call, name) in calls.iter().zip(names) {
        assert!(call.starts_with(&format!("cargo {name} [HOME=")), "{call}");
        assert!(call.ends_with("/home OFFLINE=true KEY=]"), "{call}");
    }
    let programs: Vec<_> = log
        .lines()
        .filter(|line| !line.starts_with("cargo "))
        .collect();
    for name in ["cargo", "git", "sh", "sed", "cat"] {
        assert!(programs.contains(&name), "{name}: {log}");
    }
    for name in [
        "node",
        "python3",
        "chromium",
        "chromedriver",
        "postgres",
        "just",
        "bash",
        "cargo-nextest",
    ] {
        assert!(!programs.contains(&name), "{name}: {log}");
    }
}

#[test]
fn a_failed_command_and_a_file_in_the_home_are_found() {
    let (output, _) = fresh(&["fails"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("xtask test --no-install` ended with exit status: 1"),
        "{said}"
    );
    assert!(said.contains("written outside: "), "{said}");
    assert!(said.contains("/home/.left"), "{said}");
}
