//! The command language that all programs share: bare program, JSON, data flag, first tries of a newcomer.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
#[cfg(unix)]
use test_support::program::in_terminal;

use crate::program::{Place, feed, finish, start};

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A place with a block of nine entries.
fn nine() -> Place {
    let entries: Vec<_> = (1..=9).map(|number| format!("Entry {number}.")).collect();
    let entries: Vec<_> = entries.iter().map(String::as_str).collect();
    Place::with_block("notes", "Notes about the boat.", &entries)
}

#[test]
fn bare_prints_help_on_stderr_and_makes_nothing() {
    let place = Place::new();
    let ran = finish(start(&mut place.bare(&[]))).exits(2);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.lines().count() <= 24, "{}", ran.stderr);
    assert!(ran.stderr.contains("Usage: hermitcrab"), "{}", ran.stderr);
    assert!(place.names("").is_empty());
}

#[test]
fn json_is_one_value_with_a_version_and_nothing_else_on_stdout() {
    let place = nine();
    place.file(
        "face.jsx",
        "export default function Face() { return <p>hi</p>; }\n",
    );
    place.file("broken.jsx", "export default function Face( {");
    place.file("key.txt", "sk-ant-for-tests\n");
    for (line, code) in [
        ("block list", 0),
        ("block read notes", 0),
        ("block write notes 0.1 x", 0),
        ("block append notes x", 1),
        ("block search entry", 0),
        ("block diff notes --since 1", 4),
        ("block lint", 0),
        ("memory audit notes", 0),
        ("block log", 0),
        ("block undo notes", 0),
        ("block redo notes", 0),
        ("block export notes -o notes.json", 0),
        ("block import notes.json", 0),
        ("prompt", 0),
        ("prompt --phase boot", 0),
        ("shells", 0),
        ("shells list", 0),
        ("compile face.jsx", 0),
        ("compile broken.jsx", 4),
        ("cost", 0),
        ("doctor --provider offline", 0),
        ("key status", 0),
        ("export -o all.json", 0),
        ("import all.json", 0),
    ] {
        let ran = place.run(&[&words(line)[..], &["--json"]].concat());
        let told = ran.exits(code).stdout;
        let value: Value = serde_json::from_str(&told).unwrap();
        assert!(value["schema_version"].is_u64(), "{line}: {told}");
    }
}

#[test]
fn the_data_flag_is_in_the_help_of_commands_that_use_it_and_taken_everywhere() {
    let place = Place::new();
    let help = |line: &str| {
        let mut command = place.bare(&[&words(line)[..], &["-h"]].concat());
        finish(start(&mut command)).exits(0).stdout
    };
    for line in [
        "chat",
        "serve",
        "block read",
        "prompt",
        "key status",
        "mcp",
        "cost",
    ] {
        assert!(help(line).contains("--data <DIR>"), "{line}");
    }
    for line in ["compile", "completions", "demo"] {
        assert!(!help(line).contains("--data"), "{line}");
    }
    for line in ["block list", "cost", "compile"] {
        assert!(!help(line).contains("--provider"), "{line}");
    }
    std::fs::create_dir(place.path("d")).unwrap();
    for line in [
        "--data d block list",
        "block --data d list",
        "block list --data d",
    ] {
        finish(start(&mut place.bare(&words(line)))).exits(0);
    }
}

#[test]
fn a_newcomer_is_told_the_way_on() {
    let place = nine();
    for (line, code, told) in [
        (
            "block read notes 1",
            1,
            "no node `1` in notes; entries are 0.1 to 0.9; did you mean 0.1?",
        ),
        (
            "block read note",
            1,
            "there is no block note; did you mean notes?",
        ),
        (
            "block rm notes",
            2,
            "to remove the whole block: hermitcrab block rm notes --whole",
        ),
        (
            "block append notes x",
            1,
            "notes is full (9 entries); nothing was written. Summarise them to continue: \
             hermitcrab block append notes TEXT --summary TEXT",
        ),
        (
            "block append notes x --summary nine",
            0,
            "notes grew: 0.1 to 0.9 are now 0.1.1 to 0.1.9",
        ),
        ("shells", 0, "no shells yet"),
    ] {
        place.run(&words(line)).exits(code).tells(&[told]);
    }
}

#[test]
fn undo_goes_further_back_and_redo_forward_and_each_prints_the_change() {
    let place = Place::with_block("yard", "What the yard holds.", &["Larch", "Oak"]);
    let run = |line: &str| place.run(&words(line)).exits(0).stdout;
    let lines = |text: String| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(run("block undo yard")), ["- 0.2  Oak"]);
    assert_eq!(lines(run("block undo yard")), ["- 0.1  Larch"]);
    assert_eq!(lines(run("block redo yard")), ["+ 0.1  Larch"]);
    assert_eq!(lines(run("block redo yard")), ["+ 0.2  Oak"]);
    run("block write yard 0.1 Ash");
    place.run(&words("block redo yard")).exits(1);
    assert_eq!(
        lines(run("block undo yard")),
        ["- 0.1  Ash", "+ 0.1  Larch"]
    );
}

#[cfg(unix)]
#[test]
fn a_terminal_gets_its_width_and_colours_and_a_pipe_the_whole() {
    let place = Place::new();
    let head = "Notes about the boat, its keel, its mast and the weather of each day at sea.";
    place
        .run(&["block", "create", "notes-of-a-voyage", head])
        .exits(0);
    let bold = "\u{1b}[1m";
    let list = ["block", "list"];
    let shown = |line: &[&str], columns, variable: &str| {
        let mut command = place.command(line);
        in_terminal(command.env(variable, "1"), columns).stdout
    };
    for columns in [60, 80, 120] {
        for line in [&list[..], &["chat", "-h"]] {
            let text = shown(line, columns, "NO_COLOR");
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(usize::from(columns)), "{line:?}\n{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        }
        let text = shown(&list, columns, "UNUSED");
        assert!(text.contains(bold), "{text}");
        assert!(text.contains("notes-of-a-voyage"), "{text}");
    }
    let piped = |variable: &str| finish(start(place.command(&list).env(variable, "1"))).stdout;
    let pipe = piped("UNUSED");
    assert!(pipe.lines().any(|row| row.ends_with(head)), "{pipe}");
    assert!(!pipe.contains('\u{1b}'), "{pipe}");
    assert!(piped("CLICOLOR_FORCE").contains(bold));
}

#[test]
fn a_demo_has_at_most_eight_lines_of_eighty_columns_and_its_result_as_json() {
    let place = Place::new();
    let demo = |line: &str| finish(start(&mut place.bare(&words(line))));
    let ran = demo("demo --dir D --open").exits(0);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert!(lines.len() <= 8, "{}", ran.stdout);
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{}",
        ran.stdout
    );
    assert!(
        place
            .read("D/conversation.txt")
            .contains("you: remember: The keel is laid.")
    );
    demo("demo --dir D")
        .exits(2)
        .tells(&["D: the folder is not empty", "give --dir another one"]);
    let told = demo("demo --dir E --json").exits(0).json();
    assert_eq!(told["line"], "offline: 8 blocks; next request 982 tokens");
    assert!(Path::new(told["page"].as_str().unwrap()).ends_with("E/conversation.txt"));
    // The numbers are those that the other commands print.
    let at = |line: &str| {
        demo(&format!("{line} --json --data E/data"))
            .exits(0)
            .json()
    };
    assert_eq!(at("block list")["blocks"].as_array().unwrap().len(), 8);
    assert_eq!(at("prompt --provider offline")["tokens"]["total"], 982);
}

#[test]
fn tools_are_traced_with_v_alone() {
    let place = Place::new();
    let chat = |flags: &[&str]| {
        let arguments = [&["chat", "--provider", "offline"], flags].concat();
        let mut command = place.command(&arguments);
        feed(command.stderr(Stdio::piped()), b"remember: x\n")
            .exits(0)
            .stderr
    };
    let quiet = chat(&[]);
    assert!(
        quiet.contains("first start: created 6 blocks in data"),
        "{quiet}"
    );
    assert!(!quiet.contains("block_append "), "{quiet}");
    let traced = chat(&["-v"]);
    assert!(traced.contains("  block_append "), "{traced}");
}
