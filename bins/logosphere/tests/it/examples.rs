//! The examples that each help ends with.

use std::path::Path;

use test_support::{check_shared_commands, run_examples};

#[test]
fn every_example_of_the_help_runs() {
    let files = [("answer.txt", "A message.\n")];
    let commands = [
        ("", Some(0)),
        ("new", Some(0)),
        ("check-init", Some(0)),
        ("run", Some(0)),
        ("resume", Some(0)),
        ("status", Some(0)),
        ("verify", Some(0)),
        ("check-leaks", Some(0)),
        ("diff", Some(0)),
        ("analyze", Some(0)),
        ("report", Some(0)),
        ("export", Some(0)),
        ("lineage", Some(0)),
        ("estimate", Some(0)),
        ("null-model", Some(0)),
        ("minds", Some(0)),
        ("parse", Some(0)),
        ("demo", Some(0)),
        ("completions", Some(0)),
        ("man", Some(0)),
        ("paths", Some(0)),
        ("help", Some(0)),
    ];
    run_examples(
        Path::new(env!("CARGO_BIN_EXE_logosphere")),
        &files,
        &commands,
    );
}

#[test]
fn completions_manual_version_and_paths_are_right() {
    check_shared_commands(
        Path::new(env!("CARGO_BIN_EXE_logosphere")),
        env!("CARGO_PKG_VERSION"),
        Some("logosphere run --rounds 1"),
    );
}
