//! The examples that each help ends with.

use std::path::Path;

use test_support::{check_shared_commands, run_examples};

#[test]
fn every_example_of_the_help_runs() {
    let files = [
        ("rules.txt", "MAP 'the' -> 't'\n"),
        ("more.txt", "DROP VOWELS\n"),
        (
            "notes.txt",
            "Two agents met, and one of them kept a note.\n",
        ),
        (
            "cases.json",
            r#"[{"id": "1a", "text": "Hello world!", "encodingSystem": "Leave out vowels.", "encodedText": "hlo", "decodedText": "Hello world!"}]"#,
        ),
    ];
    let commands = [
        ("", Some(0)),
        ("run", Some(0)),
        ("matrix", Some(0)),
        ("resume", Some(0)),
        ("status", Some(0)),
        ("rescore", Some(0)),
        ("score", Some(0)),
        ("lint", Some(0)),
        ("rules", Some(0)),
        ("levels", Some(0)),
        ("report", Some(0)),
        ("export", Some(0)),
        ("compare", Some(0)),
        ("estimate", Some(0)),
        ("demo", Some(0)),
        ("completions", Some(0)),
        ("man", Some(0)),
        ("paths", Some(0)),
    ];
    run_examples(
        Path::new(env!("CARGO_BIN_EXE_zer0gravity")),
        &files,
        &commands,
    );
}

#[test]
fn completions_manual_version_and_paths_are_right() {
    check_shared_commands(
        Path::new(env!("CARGO_BIN_EXE_zer0gravity")),
        env!("CARGO_PKG_VERSION"),
        Some("zer0gravity matrix --level 1"),
    );
}
