//! The examples at the end of each help, which must run.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use test_support::{check_shared_commands, fixture, run_examples};

#[test]
fn every_example_of_the_help_runs() {
    let sample = fs::read_to_string(fixture("hermitcrab/vectors/g0_export_sample.json")).unwrap();
    let sample: Value = serde_json::from_str(&sample).unwrap();
    let old = json!({ "localStorage": sample["localStorage"], "indexedDB": sample["indexedDB"] })
        .to_string();
    let files = [
        (
            "face.jsx",
            "export default function Face() { return <p>hello</p>; }\n",
        ),
        ("old.json", old.as_str()),
        ("key.txt", "sk-ant-for-tests\n"),
    ];
    let commands = [
        ("", Some(0)),
        ("chat", Some(0)),
        ("serve", None),
        ("block", Some(0)),
        ("block list", Some(0)),
        ("block read", Some(0)),
        ("block create", Some(0)),
        ("block write", Some(0)),
        ("block append", Some(0)),
        ("block grow", Some(0)),
        ("block mv", Some(0)),
        ("block rm", Some(0)),
        ("block search", Some(0)),
        ("block diff", Some(4)),
        ("block lint", Some(0)),
        ("block export", Some(0)),
        ("block import", Some(0)),
        ("block log", Some(0)),
        ("block undo", Some(0)),
        ("block redo", Some(0)),
        ("prompt", Some(0)),
        ("compile", Some(0)),
        ("shells", Some(0)),
        ("shells list", Some(0)),
        ("shells use", Some(0)),
        ("shells show", Some(0)),
        ("cost", Some(0)),
        ("doctor", Some(0)),
        ("export", Some(0)),
        ("import", Some(0)),
        ("migrate", Some(0)),
        ("key", Some(0)),
        ("key set", Some(0)),
        ("key clear", Some(0)),
        ("key status", Some(0)),
        ("mcp", Some(0)),
        ("completions", Some(0)),
        ("man", Some(0)),
        ("demo", Some(0)),
        ("paths", Some(0)),
        ("help", Some(0)),
    ];
    run_examples(
        Path::new(env!("CARGO_BIN_EXE_hermitcrab")),
        &files,
        &commands,
    );
}

#[test]
fn completions_manual_version_and_paths_are_right() {
    check_shared_commands(
        Path::new(env!("CARGO_BIN_EXE_hermitcrab")),
        env!("CARGO_PKG_VERSION"),
        Some("hermitcrab chat"),
    );
}
