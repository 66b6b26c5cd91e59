//! Inputs that mean harm, or are not what their name says: one clear line each, no crash, no endless wait.

use serde_json::{Value, json};
use test_support::program::in_terminal;

use crate::process::{command, file, law, popper, quick, without_folder};

/// Commands that read a file, with the flag or place for it last.
const READERS: [&[&str]; 6] = [
    &["check"],
    &["check", "fixtures/popper/laws/false.json", "--config"],
    &["check", "fixtures/popper/laws/false.json", "--expect"],
    &["simulate", ".", "--steps", "1", "--universe"],
    &["universe", "check"],
    &["verify"],
];

#[test]
fn what_is_no_json_is_refused_by_every_reader_in_one_line() {
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("blank", b" \n\t".to_vec()),
        ("bom_only", b"\xef\xbb\xbf".to_vec()),
        ("not_utf8", b"{\"law_id\": \"\xff\xfe\"}".to_vec()),
        ("utf16", b"\xff\xfe{\0}\0".to_vec()),
        ("nul", vec![0; 100]),
        ("half", b"{\"law_id\": \"a\", ".to_vec()),
        ("deep_arrays", b"[".repeat(100_000)),
        ("deep_objects", b"{\"a\":".repeat(100_000)),
        (
            "deep_closed",
            [b"[".repeat(100_000), b"]".repeat(100_000)].concat(),
        ),
        ("escape", "{\"\u{1b}[2J\u{202e}\": 1}".as_bytes().to_vec()),
    ] {
        let path = file(&format!("hostile_{name}"), bytes);
        for reader in READERS {
            let mut arguments = reader.to_vec();
            arguments.push(&path);
            let ran = popper(&arguments);
            assert_eq!(
                (ran.code, ran.stdout.contains("PASS")),
                (Some(2), false),
                "{name} {reader:?}: {}",
                ran.stderr
            );
            assert!(
                !ran.stderr.contains(['\u{1b}', '\u{202e}']),
                "{name} {reader:?}"
            );
            let first = ran.stderr.lines().next().unwrap();
            assert!(first.contains(&path), "{name} {reader:?}: {first}");
            assert!(first.len() < path.len() + 400, "{name} {reader:?}: {first}");
        }
    }
}

#[test]
fn a_folder_and_a_file_that_is_not_there_are_named() {
    for path in ["fixtures/popper", "/nowhere/at.all"] {
        for reader in READERS {
            let mut arguments = reader.to_vec();
            arguments.push(path);
            let ran = popper(&arguments);
            assert_eq!(ran.code, Some(2), "{reader:?}");
            let start = format!("popper: cannot read {path}: ");
            assert!(ran.stderr.starts_with(&start), "{reader:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn ten_megabytes_of_broken_laws_are_answered_briefly() {
    let path = file("hostile_large.json", format!("[{}1]", "1,".repeat(5 << 20)));
    let ran = popper(&["check", &path]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.lines().count() < 110);
    assert!(
        ran.stderr.contains("more laws cannot be read"),
        "{}",
        ran.stderr
    );

    let mut law = law("long");
    law["claim"] = json!("x".repeat(10 << 20));
    let path = file("hostile_long.json", law.to_string());
    let ran = popper(&["check", &path]);
    assert_eq!((ran.code, ran.stderr.len() < 1000), (Some(2), true));
    assert!(ran.stderr.contains("$.claim"), "{}", ran.stderr);
}

#[test]
fn an_endless_device_is_refused() {
    if !std::path::Path::new("/dev/zero").exists() {
        return;
    }
    let ran = popper(&["universe", "check", "/dev/zero"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            Some(2),
            "popper: /dev/zero: larger than 256 MiB, the largest input; split the file\n"
        )
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let path = file("bom.json", format!("\u{feff}{}", law("a")));
    let ran = popper(&["check", "--json", "--config", &quick(), &path]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn two_laws_of_one_name_are_two_laws() {
    let path = file(
        "twins.json",
        Value::from(vec![law("twin"), law("twin")]).to_string(),
    );
    let ran = popper(&["check", "--json", "--config", &quick(), &path]);
    assert_eq!(
        (ran.code, ran.json().as_array().unwrap().len()),
        (Some(0), 2)
    );
}

#[test]
fn names_cannot_steer_the_terminal_and_are_whole() {
    let mut loud = law("\u{1b}[2J<script>alert(1)</script>\n\u{202e}");
    loud["observables"][0]["expr"] = json!("count('>') + momentum");
    let laws = json!([loud, law(&"long ".repeat(50))]);
    let path = file("names.json", laws.to_string());
    let ran = popper(&["check", "--config", &quick(), &path]);
    insta::assert_snapshot!(without_folder(&ran.text()));
}

/// Characters that no text of others may bring to a terminal.
const STEERING: [char; 4] = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}'];

#[test]
fn symbols_and_names_as_json_cannot_steer_a_terminal() {
    let built_in = popper(&["universe", "show", "--json"]).stdout;
    let turned = built_in.replace('X', "\u{202e}");
    let universe = file("turned.json", turned.replace("kinetic_grid_v1", "turned"));
    let mut loud = law("\u{9b}2J\u{202e}");
    loud["observables"][0]["expr"] = json!("count('>') + momentum");
    let laws = file("loud.json", json!([loud]).to_string());
    let start = "\u{202e}".repeat(3);
    for arguments in [
        &["universe", "show", &universe, "--json"] as &[&str],
        &["universe", "show", &universe],
        &["simulate", &start, "-u", &universe, "--json"],
        &["simulate", &start, "-u", &universe],
        &["check", "--json", "--config", &quick(), &laws],
    ] {
        let piped = popper(arguments);
        assert!(piped.stdout.contains(STEERING), "{arguments:?}: {piped:?}");
        let shown = in_terminal(&mut command(arguments), 100).stdout;
        assert!(!shown.contains(STEERING), "{arguments:?}: {shown}");
        assert!(shown.contains(r"\u{202e}"), "{arguments:?}: {shown}");
    }
}
