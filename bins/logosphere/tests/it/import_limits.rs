//! Inputs of `import` that are refused, and files that are not regular ones.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use crate::program::{Place, finish, start};

const JOURNAL: &str = "old/logs/experiment.jsonl";
const POSTS: &str = "{\"text\": \"a\", \"author\": \"Al\"}\n{\"text\": \"b\"}\n";

/// A run of the Python program without a round, in `old`.
fn old_run(place: &Place) {
    place.file("old/init.md", "n\n---\none\n---\n\n---\n~init\n");
    let start = json!({"type": "experiment_start", "config": {"K_SAMPLES": 2, "M_ACTIVE_POOL": 2},
        "init_signature": "~init", "num_seed_messages": 1});
    place.file(JOURNAL, format!("{start}\n"));
}

#[cfg(unix)]
fn pipe(place: &Place, name: &str) -> std::path::PathBuf {
    let path = place.path(name);
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    path
}

#[test]
fn flags_that_do_not_fit_the_files_are_refused() {
    let place = Place::new();
    place.file("posts.jsonl", POSTS);
    old_run(&place);
    for (line, words) in [
        ("posts.jsonl --map parent=answers", "--map parent=answers"),
        (
            "posts.jsonl --map text=text,text=author",
            "two columns for the field text",
        ),
        (
            "posts.jsonl --map text=text --map text=author",
            "two columns",
        ),
        ("posts.jsonl --round recorded", "--round recorded"),
        (
            "old/logs/experiment.jsonl --format reference --map text=body",
            "--map is for JSON lines and CSV",
        ),
    ] {
        let arguments = format!("import {line} --name a");
        let arguments: Vec<&str> = arguments.split(' ').collect();
        place.alone(&arguments).exits(2).tells(&[words]);
    }
    assert!(!place.path("experiments").exists());
}

#[test]
fn files_of_the_python_program_are_given_once() {
    let place = Place::new();
    old_run(&place);
    place.file("a.json", "{}");
    place.file("novel_memes.yaml", "round: 1\ncontent: |-\n  a\n");
    let import = |files: &[&str]| {
        place.alone(&[&["import", "--format", "reference", "--name", "old"], files].concat())
    };
    for (files, words) in [
        (
            &[JOURNAL, "a.json", "b.json"][..],
            "a.json and b.json: expected one diversity_metrics.json",
        ),
        (
            &[JOURNAL, "old/init.md", "nowhere.md"],
            "expected one init.md",
        ),
        (
            &["novel_memes.yaml", "old/init.md"],
            "old/init.md: only a journal",
        ),
        (&[JOURNAL, "nowhere.md"], "nowhere.md: no such file"),
    ] {
        import(files).exits(2).tells(&[words]);
    }
    place.file("old/init.md", b"\xff\n---\none\n---\n\n---\n~init\n");
    import(&[JOURNAL]).exits(2).tells(&["init.md: not UTF-8"]);
    assert!(!place.path("experiments").exists());

    // A journal without its end is read, and it is said.
    old_run(&place);
    import(&[JOURNAL]).exits(0).tells(&["no experiment_end"]);
    let result = import(&[JOURNAL, "--json"]).exits(0).json();
    assert_eq!(result["unended"], true);
}

#[test]
fn a_file_in_the_place_of_the_experiments_is_named() {
    let place = Place::new();
    place.file("posts.jsonl", POSTS);
    place.file("experiments", "");
    for command in [&["import", "posts.jsonl", "--name", "a"][..], &["new", "a"]] {
        let ran = place.alone(command).exits(2);
        ran.tells(&["experiments: a file; expected the directory of experiments"]);
    }
}

#[test]
fn a_folder_without_a_name_is_named_by_its_path() {
    let place = Place::new();
    for path in [".", "..", "/", "a/.."] {
        place.file("a/b", "");
        for format in ["jsonl", "csv"] {
            let ran = place.alone(&["import", path, "--format", format, "--name", "a"]);
            ran.exits(2)
                .tells(&[&format!("logosphere: {path}: cannot be read")]);
        }
    }
    assert!(!place.path("experiments").exists());
}

#[test]
fn stdin_is_read_for_a_dash() {
    let place = Place::new();
    let read = |arguments: &[&str]| {
        let mut command = place.command(&[&["import", "-", "--name", "a"], arguments].concat());
        let mut child = start(command.stdin(Stdio::piped()));
        // A command that refuses its flags does not read.
        let _ = child.stdin.take().unwrap().write_all(POSTS.as_bytes());
        finish(child)
    };
    let ran = read(&["--format", "jsonl"]).exits(0);
    let file = place.read(&format!("{}/imported.jsonl", ran.stdout.trim()));
    assert!(
        file.contains("\"sources\":[{\"name\":\"stdin\",\"sha256\":"),
        "{file}"
    );
    assert_eq!(file.lines().count(), 3);
    read(&[]).exits(2).tells(&["-: unknown ending"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_to_its_end() {
    let place = Place::new();
    let path = pipe(&place, "posts.jsonl");
    let child = start(&mut place.command(&["import", "posts.jsonl", "--name", "a"]));
    // More than a pipe holds.
    let text = POSTS.repeat(20_000);
    let mut writer = fs::File::options().write(true).open(&path).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    drop(writer);
    finish(child)
        .exits(0)
        .tells(&["40000 messages of 1 authors"]);
}

#[cfg(unix)]
#[test]
fn the_first_signal_ends_the_wait_for_a_pipe() {
    for name in ["-INT", "-TERM"] {
        for text in [String::new(), POSTS.to_owned(), "x".repeat(1 << 20)] {
            let place = Place::new();
            let path = pipe(&place, "posts.jsonl");
            let child = start(&mut place.command(&["import", "posts.jsonl", "--name", "a"]));
            let mut writer = fs::File::options().write(true).open(&path).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
            crate::program::signal(child.id(), name);
            finish(child).exits(130);
            assert!(!place.path("experiments").exists());
            drop(writer);
        }
    }
}

#[cfg(unix)]
#[test]
fn seeds_are_a_regular_file_of_a_limited_size() {
    let place = Place::new();
    old_run(&place);
    place.experiment("E");
    let check = |words: &str| {
        let import = ["import", JOURNAL, "--format", "reference", "--name", "a"];
        for command in [&import[..], &["run", "E"], &["new", "b", "--from", "E"]] {
            place.alone(command).exits(2).tells(&["init.md: ", words]);
        }
    };
    for folder in ["old", "E"] {
        fs::remove_file(place.path(&format!("{folder}/init.md"))).unwrap();
        pipe(&place, &format!("{folder}/init.md"));
    }
    check("not a regular file");
    for folder in ["old", "E"] {
        let path = place.path(&format!("{folder}/init.md"));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    }
    check("not a regular file");
    for folder in ["old", "E"] {
        let path = place.path(&format!("{folder}/init.md"));
        fs::remove_file(&path).unwrap();
        // A file of holes, which takes no space.
        let file = fs::File::create(path).unwrap();
        file.set_len((1 << 30) + 1).unwrap();
    }
    check("longer than 1 GiB; expected a file of 1 GiB or less");
    let device = ["import", "/dev/zero", "--format", "jsonl", "--name", "a"];
    place
        .alone(&device)
        .exits(2)
        .tells(&["/dev/zero: a device"]);
}
