//! The order of `.ci/run` and what makes it fail: the script itself, with a `cargo` that writes down its arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::packages::root;

/// Writes down `CI` and its arguments, then fails where they contain the text of the file `fail`.
const CARGO: &str = r#"#!/bin/sh
folder=$(dirname "$0")
echo "CI=$CI $*" >> "$folder/calls"
case "$*" in *"$(cat "$folder/fail")"*) exit 1 ;; esac
"#;

pub fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the gate with a `cargo` that fails at `fail`; returns its exit code, its output and the calls.
fn gate(fail: &str, arguments: &[&str]) -> (Option<i32>, String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    program(&folder.path().join("cargo"), CARGO);
    fs::write(folder.path().join("fail"), fail).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let output = Command::new(root().join(".ci/run"))
        .args(arguments)
        .env("PATH", path)
        .env_remove("ORRERY_ADVISORIES")
        .output()
        .unwrap();
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
    let calls = calls.lines().map(str::to_owned).collect();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8(text).unwrap(),
        calls,
    )
}

/// No call contains this.
const NEVER: &str = "no such call";

#[test]
fn the_steps_run_from_quick_to_slow_and_each_says_its_seconds() {
    let (code, output, calls) = gate(NEVER, &[]);
    assert_eq!(code, Some(0), "{output}");
    let steps: Vec<_> = output
        .lines()
        .filter_map(|line| line.strip_prefix("ci: "))
        .collect();
    let names: Vec<_> = steps
        .iter()
        .filter_map(|step| step.split(':').next())
        .collect();
    assert_eq!(
        names,
        [
            "Cargo.lock",
            "format",
            "cargo-deny",
            "licences",
            "lints",
            "features",
            "documentation",
            "tests",
            "pictures",
            "campaigns",
            "advisories",
        ]
    );
    assert!(steps.iter().all(|step| step.ends_with(" s")), "{output}");
    assert!(calls.contains(&"CI=1 xtask test".to_owned()), "{calls:?}");
}

#[test]
fn every_call_that_resolves_dependencies_is_locked() {
    let (_, _, calls) = gate(NEVER, &[]);
    for call in calls {
        // The alias is locked in `.cargo/config.toml`, and its tasks by themselves.
        let free = ["xtask ", "fmt ", "deny --version"];
        let locked = call.contains(" --locked") || free.iter().any(|part| call.contains(part));
        assert!(locked, "{call}");
    }
    let config = fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
    assert!(config.contains("xtask = \"run --locked "));
}

#[test]
fn the_first_failure_ends_it() {
    let ends = [
        ("metadata", "Cargo.lock"),
        ("check licenses", "licences"),
        ("clippy", "lints"),
        ("xtask features", "features"),
        ("xtask test", "tests"),
        ("xtask pictures --check", "pictures"),
        ("xtask campaign", "campaigns"),
        ("check --disable-fetch", "advisories"),
    ];
    for (fail, step) in ends {
        let (code, output, calls) = gate(fail, &[]);
        assert_eq!(code, Some(1), "{output}");
        assert!(calls.last().unwrap().contains(fail), "{calls:?}");
        let last = output.lines().last().unwrap();
        assert!(last.starts_with(&format!("ci: {step}: failed")), "{output}");
    }
}

#[test]
fn a_cargo_deny_that_cannot_be_installed_is_a_failure() {
    let (code, output, calls) = gate("deny", &[]);
    assert_eq!(code, Some(1), "{output}");
    assert!(
        calls.last().unwrap().contains("install cargo-deny"),
        "{calls:?}"
    );
}

#[test]
fn without_a_database_advisories_are_said_to_be_unchecked() {
    let (code, output, _) = gate("fetch db", &[]);
    assert_eq!(code, Some(0), "{output}");
    assert!(
        output.contains("advisories: not checked (no database)"),
        "{output}"
    );
}

#[test]
fn fast_leaves_out_the_tests_alone() {
    let (code, output, calls) = gate(NEVER, &["--fast"]);
    assert_eq!(code, Some(0), "{output}");
    assert!(!calls.iter().any(|call| call.contains("xtask test")));
    assert!(calls.iter().any(|call| call.contains("xtask docs")));
    assert!(calls.iter().any(|call| call.contains("xtask pictures")));
    assert!(calls.iter().any(|call| call.contains("clippy")));
}

/// Whether a commit's subject names packages or a folder, then says what it does, in at most 72 characters.
fn is_subject(subject: &str) -> bool {
    let is_name = |name: &str| {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        name == "*" || !name.is_empty() && name.chars().all(is_word)
    };
    let parts = subject.split_once(": ");
    subject.chars().count() <= 72
        && parts.is_some_and(|(names, what)| {
            names.split(", ").all(is_name)
                && what.starts_with(char::is_lowercase)
                && !what.ends_with('.')
        })
}

#[test]
fn the_newest_commits_say_what_they_change() {
    for good in ["xtask: hold the order", "a-b, c: add it", "*: rename"] {
        assert!(is_subject(good), "{good}");
    }
    let long = format!("docs: add {}", "x".repeat(80));
    for bad in [
        "wip",
        "Merge branch 'x'",
        "docs: Add it",
        "docs: add it.",
        "Docs: add it",
        &long,
    ] {
        assert!(!is_subject(bad), "{bad}");
    }
    // A source archive has no history.
    let root = root();
    if !root.join(".git").exists() {
        return;
    }
    let log = Command::new("git")
        .args(["log", "-30", "--format=%s"])
        .current_dir(&root)
        .output()
        .unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    let bad: Vec<_> = log.lines().filter(|subject| !is_subject(subject)).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}
