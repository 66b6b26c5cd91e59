//! Errors before the first call, and their messages.

use std::fs;
use std::io::Write as _;

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, Ran, column, finish, start, words};

/// Runs with a stub that must not be asked; the program says these words on stderr and nothing on stdout.
#[track_caller]
fn refuses(place: &Place, arguments: &[&str], code: i32, words: &[&str]) -> Ran {
    let stub = CompressionStub::start(StubMode::Ok);
    let ran = place.asking(&stub, arguments).exits(code);
    assert_eq!(stub.stats().calls, 0, "{arguments:?}");
    said(ran, arguments, words)
}

#[track_caller]
fn said(ran: Ran, arguments: &[&str], words: &[&str]) -> Ran {
    assert_eq!(ran.stdout, "", "{arguments:?}");
    for word in words {
        assert!(
            ran.stderr.contains(word),
            "{arguments:?}: {word}\n{}",
            ran.stderr
        );
    }
    ran
}

#[test]
fn usage() {
    let place = Place::new();
    place.file("set.jsonl", r#"{"id": "a", "text": "b"}"#);
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["--level", "1"],
        &["run", "--levle", "1"],
        &["run", "--level"],
        &["run", "--level", "1", "--encoding"],
    ] {
        let ran = said(place.alone(arguments).exits(2), arguments, &[]);
        assert!(
            ran.stderr.contains("Usage:") || ran.stderr.contains("--help"),
            "{}",
            ran.stderr
        );
    }
    refuses(
        &place,
        &["run"],
        2,
        &["--level", "--all", "INPUT", "zer0gravity levels"],
    );
    for arguments in [
        &["run", "--level", "1", "--all"][..],
        &["run", "--all", "--dataset", "set.jsonl"],
        &["run", "--level", "1", "--dataset", "set.jsonl"],
    ] {
        let named: Vec<_> = (arguments.iter().copied())
            .filter(|argument| ["--level", "--all", "--dataset"].contains(argument))
            .collect();
        let ran = refuses(&place, arguments, 2, &named);
        assert!(ran.stderr.contains("Usage:"), "{}", ran.stderr);
    }
}

#[test]
fn levels() {
    for level in ["abc", "0", "-1", "1.9", "9", "", "99999999999999999999"] {
        let arguments = ["run", &format!("--level={level}")];
        refuses(&Place::new(), &arguments, 2, &["1", "2", "3"]);
    }
    refuses(&Place::new(), &["run", "--level", "-1"], 2, &[]);
}

#[test]
fn rules() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    place.file("binary.txt", b"drop \xff vowels");
    place.file("blank.txt", " \n\t\u{feff}\n");
    place.file("empty.txt", "");
    place.file("large.txt", "x".repeat((1 << 20) + 1));
    for (path, reason) in [
        ("missing.txt", ""),
        ("folder", "directory"),
        ("binary.txt", "UTF-8"),
        ("blank.txt", "blank"),
        ("empty.txt", ""),
        ("large.txt", "1048576"),
    ] {
        let arguments = ["run", "--level", "1", "--encoding", path];
        refuses(&place, &arguments, 2, &[path, reason]);
    }
    // One byte less is asked for: the server refuses the key, and the run ends with its first call.
    place.file("largest.txt", "x".repeat(1 << 20));
    let stub = CompressionStub::start(StubMode::E401);
    let arguments = ["run", "--level", "3", "--encoding", "largest.txt"];
    place.asking(&stub, &arguments).exits(1);
    assert_eq!(stub.stats().calls, 1);
}

#[test]
fn datasets() {
    let place = Place::new();
    place.file("binary.jsonl", b"{\"id\": \"a\", \"text\": \"\xff\"}");
    place.file("empty.jsonl", "");
    place.file("empty.json", "[]");
    place.file("empty.csv", "id,text\n");
    place.file("odd.yaml", "id: a");
    for (path, reason) in [
        ("missing.jsonl", ""),
        ("binary.jsonl", "UTF-8"),
        ("empty.jsonl", "no case"),
        ("empty.json", "no case"),
        ("empty.csv", "no case"),
        ("odd.yaml", ""),
    ] {
        refuses(&place, &["run", "--dataset", path], 2, &[path, reason]);
    }
    let long = format!(
        "{{\"id\": \"long\", \"text\": \"{}\"}}\n",
        "x ".repeat((1 << 19) + 1)
    );
    place.file("long.jsonl", long);
    refuses(
        &place,
        &["run", "--dataset", "long.jsonl"],
        2,
        &["long", "1 MiB", "--allow-long"],
    );
    let stub = CompressionStub::start(StubMode::E401);
    let arguments = ["run", "--dataset", "long.jsonl", "--allow-long"];
    place.asking(&stub, &arguments).exits(1);
    assert_eq!(stub.stats().calls, 1);
}

#[test]
fn lines_of_a_dataset_are_all_listed_and_can_be_skipped() {
    let place = Place::new();
    let lines = [
        r#"{"id": "good", "text": "Hello world!"}"#,
        r#"{"id": "cut", "text": "#,
        r#"{"text": "no id"}"#,
        r#"{"id": "textless"}"#,
        r#"{"id": 5, "text": "number"}"#,
        r#"{"id": "good", "text": "twice"}"#,
        r#"{"id": "", "text": "no name"}"#,
        r#"{"id": "bell\u0007", "text": "control"}"#,
        r#"["id", "text"]"#,
        r#"{"id": "last", "text": "Hello world!"}"#,
    ];
    place.file("set.jsonl", lines.join("\n"));
    let ran = refuses(
        &place,
        &["run", "--dataset", "set.jsonl"],
        2,
        &["set.jsonl"],
    );
    for line in (2..=9).filter(|line| *line != 3) {
        let named = [format!("line {line}"), format!(":{line}")];
        let listed = named.iter().any(|named| ran.stderr.contains(named));
        assert!(listed, "line {line}\n{}", ran.stderr);
    }
    for line in [1, 3, 10] {
        assert!(
            !ran.stderr.contains(&format!("line {line}:")),
            "{}",
            ran.stderr
        );
    }
    let stub = CompressionStub::start(StubMode::Ok);
    let arguments = ["run", "--dataset", "set.jsonl", "--skip-bad"];
    let ran = place.asking(&stub, &arguments).exits(3);
    assert_eq!(
        column(&ran.results(), "/testCaseId"),
        ["good", "line-3", "last"]
    );
    assert_eq!(column(&ran.results(), "/outcome/status"), ["ok"; 3]);
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_is_found_before_the_first_call() {
    let place = Place::new();
    place.file("file", "x");
    fs::create_dir(place.path("folder")).unwrap();
    for path in ["file/below.json", "folder", "/proc/none/out.json"] {
        refuses(
            &place,
            &["run", "--level", "1", "--output", path],
            1,
            &[path],
        );
    }
    assert_eq!(place.read("file"), "x");
}

#[test]
fn numbers() {
    for flag in ["--trials", "--decodes", "--judge-samples", "--concurrency"] {
        for number in ["0", "1001", "-1", "x", "1.5", "99999999999999999999"] {
            let arguments = ["run", "--level", "1", &format!("{flag}={number}")];
            refuses(&Place::new(), &arguments, 2, &[flag]);
        }
    }
}

#[test]
fn cassettes() {
    let place = Place::new();
    place.file("calls.jsonl", "");
    let same = words("run --level=1 --record=calls.jsonl --replay=./calls.jsonl");
    said(place.alone(&same).exits(2), &same, &["calls.jsonl"]);
    let missing = ["run", "--level=1", "--replay=missing.jsonl"];
    said(place.alone(&missing).exits(2), &missing, &["missing.jsonl"]);
}

#[test]
fn a_run_directory_in_use_or_of_another_plan() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("rules.txt", "RULES-9ab");
    let matrix = words("matrix --encoding rules.txt --level 1 --run-dir dir");
    place.asking(&stub, &matrix).exits(0);

    let mut other = matrix.clone();
    other.extend(["--trials", "2"]);
    refuses(&place, &other, 2, &["dir", "trials"]);
    place.file("rules.txt", "RULES-9ac");
    refuses(&place, &matrix, 2, &["dir", "rules"]);
    place.file("rules.txt", "RULES-9ab");

    let run = place.read("dir/run.json");
    assert!(run.contains("\"schema_version\": 2"), "{run}");
    let newer = run.replace("\"schema_version\": 2", "\"schema_version\": 99");
    place.file("dir/run.json", newer);
    refuses(&place, &matrix, 2, &["schema_version", "99"]);
    refuses(&place, &["resume", "dir"], 2, &["schema_version", "99"]);
}

#[test]
fn a_run_directory_that_another_process_uses() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("set.jsonl", r#"{"id": "a", "text": "[hold] it"}"#);
    let arguments = ["run", "--dataset", "set.jsonl", "--run-dir", "dir"];
    let child = place.start_asking(&stub, &arguments);
    stub.wait_calls(1);
    refuses(&place, &arguments, 2, &["dir", "another process"]);
    stub.release();
    finish(child).exits(0);
}

#[test]
fn a_provider_without_a_key() {
    let place = Place::new();
    for (provider, variable) in [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("openrouter", "OPENROUTER_API_KEY"),
    ] {
        let arguments = format!("run --level 1 --provider {provider} --model m");
        let arguments = words(&arguments);
        let words = ["ZER0GRAVITY_API_KEY", variable];
        said(place.alone(&arguments).exits(2), &arguments, &words);
    }
    let mixed = "run --level 1 --provider offline --judge-model m";
    let mixed: Vec<_> = mixed.split(' ').collect();
    said(place.alone(&mixed).exits(2), &mixed, &["offline"]);
}

#[test]
fn a_price_that_is_not_known_cannot_be_capped() {
    let arguments = words("run --level 1 --model unheard-of --max-usd 1");
    refuses(&Place::new(), &arguments, 2, &["unheard-of"]);
}

#[cfg(unix)]
#[test]
fn a_full_disk_under_stdout_is_a_failure() {
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        return;
    };
    if (&full).write(b"x").is_ok() {
        return;
    }
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let mut command = place.command(&["run", "--level", "3", "--quiet"]);
    command
        .args(crate::program::server(&stub.url()))
        .stdout(full);
    finish(start(&mut command)).exits(1);
}

#[test]
fn z38_datasets_are_files_of_five_kinds_and_folders() {
    let place = Place::new();
    place.file("texts/b.md", "The second text.\n");
    place.file("texts/a.txt", "The first text.\n");
    place.file("texts/c.csv", "prompt\nThe third text.\n");
    place.file("texts/.hidden.txt", "Nobody sees this.");
    place.file("texts/picture.png", "no text");
    place.file("texts/more.txt/d.txt", "A folder in the folder.");
    place.file(
        "e.jsonl",
        "{\"id\": \"e\", \"text\": \"The fifth text.\"}\n",
    );
    let run = words("run --dataset texts e.jsonl --provider offline --run-dir dir");
    let ran = place.alone(&run).exits(0);
    assert_eq!(
        column(&ran.results(), "/testCaseId"),
        ["a", "b", "row-1", "e"]
    );
    assert_eq!(ran.results()[0]["originalText"], "The first text.");
    assert!(
        ran.stderr
            .contains("texts/c.csv: the texts are taken from `prompt`"),
        "{}",
        ran.stderr
    );
    // The run holds its texts itself.
    std::fs::remove_dir_all(place.path("texts")).unwrap();
    std::fs::remove_file(place.path("dir/report.json")).unwrap();
    place.alone(&["resume", "dir"]).exits(0);
    let results = place.read_json("dir/report.json")["results"].clone();
    assert_eq!(results.as_array().unwrap().len(), 4);
}

#[test]
fn z38_folders_and_ids_that_cannot_be_used_are_named() {
    let place = Place::new();
    place.file("none/picture.png", "");
    place.file("one/a.txt", "one");
    place.file("two/a.md", "two");
    place.file("bad/a.txt", b"\xff");
    place.file("full/a.txt", "full");
    let none = ["none", "holds no file", ".json, .jsonl, .csv, .txt or .md"];
    refuses(&place, &["run", "--dataset", "none"], 2, &none);
    let same = ["\"a\"", "one/a.txt", "two/a.md"];
    refuses(&place, &["run", "--dataset", "one", "two"], 2, &same);
    refuses(
        &place,
        &["run", "--dataset", "bad"],
        2,
        &["bad/a.txt", "UTF-8"],
    );
    let output = ["run", "--dataset", "full", "--output", "full/a.txt"];
    refuses(&place, &output, 2, &["full/a.txt"]);
    assert_eq!(place.read("full/a.txt"), "full");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/dev/zero", place.path("none/endless.txt")).unwrap();
        refuses(&place, &["run", "--dataset", "none"], 2, &none);
        std::os::unix::fs::symlink("loop.txt", place.path("none/loop.txt")).unwrap();
        refuses(&place, &["run", "--dataset", "none"], 2, &["loop.txt"]);
    }
    refuses(&place, &["run"], 2, &["zer0gravity levels"]);
    let levels = place.alone(&["levels"]).exits(0);
    assert!(
        levels
            .stdout
            .starts_with("level 1: Simple Phrases. Baseline test"),
        "{}",
        levels.stdout
    );
    let cases = place.alone(&["levels", "--json"]).exits(0);
    place.file("levels.json", &cases.stdout);
    let run = ["run", "--dataset", "levels.json", "--provider", "offline"];
    assert_eq!(place.alone(&run).exits(0).results().len(), 4);
}

/// Every message says where, what is wrong and what to do; these are whole.
#[test]
fn z43_messages_say_where_what_and_what_to_do() {
    let place = Place::new();
    let dataset = [
        ("latin.jsonl", &b"{\"text\": \"\xe9\"}"[..]),
        ("empty.jsonl", b""),
        ("list.jsonl", b"[1]"),
        ("no-text.csv", b"id,words\n1,a\n"),
        ("twice.csv", b"id,text,text\n1,a,b\n"),
        ("cells.csv", b"id,text\n1,a,b\n"),
        ("open.csv", b"id,text\n1,\"a\n"),
        ("control.jsonl", b"{\"id\": \"a\\u0007\", \"text\": \"a\"}"),
        (
            "ids.jsonl",
            b"{\"id\": \"a\", \"text\": \"a\"}\n{\"id\": \"a\", \"text\": \"b\"}",
        ),
        ("set.pdf", b"a"),
    ];
    for (name, bytes) in dataset {
        place.file(name, bytes);
    }
    place.file("set.jsonl", r#"{"id": "a", "text": "b"}"#);
    place.file("blank.txt", " \n");
    place.file("foreign/calls.jsonl", "{}\n");
    place.file("old/run.json", "{}");
    fs::create_dir(place.path("nothing")).unwrap();
    let read = |name: &'static str| ["run", "--dataset", name];
    let told = |arguments: &[&str]| place.alone(arguments).exits(2).stderr;
    let mut messages = Vec::new();
    for (name, _) in dataset {
        messages.push(told(&read(name)));
    }
    for arguments in [
        &["run"][..],
        &["run", "--level", "1", "--encoding", "blank.txt"],
        &["run", "--dataset", "nothing"],
        &words("run --level 1 --judge-model a --judge-model a --provider llamacpp"),
        &words("run --level 1 --decoder-model a --provider offline"),
        &words("run --level 1 --max-usd 1 --provider llamacpp --model m --trials 0"),
        &["run", "--dataset", "set.jsonl", "--run-dir", "foreign"],
        &["resume", "nothing"],
        &["resume", "old"],
        &["rescore", "nothing"],
        &["report", "nothing"],
        &["export", "set.jsonl"],
        &["compare", "set.jsonl", "set.jsonl"],
        &["estimate", "--level", "1", "--like", "nothing"],
        &["score", "set.jsonl"],
    ] {
        messages.push(told(arguments));
    }
    insta::assert_snapshot!(messages.join("\n"));
}
