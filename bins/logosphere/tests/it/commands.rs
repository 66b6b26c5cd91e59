//! The small commands: a new experiment, a check of its seeds, one answer read.

use std::fs;

use crate::program::{Place, init};

#[test]
fn new_makes_a_folder_that_runs() {
    let place = Place::new();
    for expected in ["first", "first-2", "first-3"] {
        let ran = place.alone(&["new", "first"]).exits(0);
        assert!(ran.all().contains(expected), "{}", ran.all());
    }
    let names = place.names("experiments");
    let ends: Vec<_> = names.iter().map(|name| &name[10..]).collect();
    assert_eq!(ends, ["-first", "-first-2", "-first-3"], "{names:?}");
    let experiment = format!("experiments/{}", names[0]);
    assert!(
        place
            .read(&format!("{experiment}/init.md"))
            .contains("~init")
    );
    place
        .alone(&["check-init", &format!("{experiment}/init.md")])
        .exits(0);
    place.alone(&["run", &experiment, "--rounds", "1"]).exits(0);
}

#[test]
fn a_template_of_ones_own_is_used() {
    let place = Place::new();
    place.file("init-template.txt", init(&["A seed of mine."]));
    place.alone(&["new", "mine"]).exits(0);
    let name = place.names("experiments").remove(0);
    assert_eq!(
        place.read(&format!("experiments/{name}/init.md")),
        init(&["A seed of mine."])
    );
    // And from another experiment.
    place.seeded("other", &["Another seed."]);
    place.alone(&["new", "copy", "--from", "other"]).exits(0);
    let name = place
        .names("experiments")
        .into_iter()
        .find(|name| name.ends_with("-copy"))
        .unwrap();
    assert_eq!(
        place.read(&format!("experiments/{name}/init.md")),
        init(&["Another seed."])
    );
}

#[test]
fn names_that_no_folder_should_have() {
    let place = Place::new();
    let long = "x".repeat(65);
    for name in [
        "../x",
        "..",
        "a/b",
        "a\\b",
        ".hidden",
        "Upper",
        "with space",
        "",
        "con",
        "nul",
        "com1",
        "aux.txt",
        &long,
    ] {
        let ran = place.alone(&["new", name]).exits(2);
        assert!(
            !place.path("experiments").exists(),
            "{name}: {}",
            ran.stderr
        );
    }
    for name in ["a", "2026.first_run-b", &long[1..]] {
        place.alone(&["new", name]).exits(0);
    }
}

#[test]
fn init_check_shows_seeds_as_they_are_stored() {
    let place = Place::new();
    place.file("init.md", init(&["One.", "Two\nlines."]));
    let ran = place.alone(&["check-init", "init.md"]).exits(0);
    for words in ["One.", "lines.", "~init"] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
    // BOM and CRLF are accepted.
    let crlf = format!("\u{feff}{}", init(&["One."]).replace('\n', "\r\n"));
    place.file("crlf.md", crlf);
    let ran = place.alone(&["check-init", "crlf.md"]).exits(0);
    assert!(ran.stdout.contains("One."), "{}", ran.stdout);
}

#[test]
fn warnings_about_seeds() {
    let place = Place::new();
    place.file("equal.md", init(&["Same.", "Same."]));
    place.file(
        "after.md",
        init(&["One."]) + "---\nthis is not read at all\n",
    );
    for (file, word) in [("equal.md", "equal"), ("after.md", "this is not read")] {
        let ran = place.alone(&["check-init", file]).exits(0);
        assert!(ran.all().contains(word), "{file}: {}", ran.all());
    }
    let many: Vec<_> = (0..20).map(|n| format!("Seed {n}.")).collect();
    place.seeded("E", &many.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = place.alone(&["run", "E", "--rounds", "1"]).exits(0);
    assert!(ran.stderr.contains("15"), "{}", ran.stderr);
}

#[test]
fn one_answer_is_read_in_every_mode() {
    let place = Place::new();
    place.file(
        "answer.txt",
        "thought\n---\none\n---\ntwo\n---\n\n---\n~bard\n",
    );
    for mode in ["lenient", "strict"] {
        let ran = place
            .alone(&["parse", "answer.txt", "--mode", mode])
            .exits(0);
        for word in ["thought", "one", "two"] {
            assert!(ran.stdout.contains(word), "{mode}: {word}\n{}", ran.stdout);
        }
        assert_eq!(
            ran.stdout.contains("~bard"),
            mode != "strict",
            "{mode}\n{}",
            ran.stdout
        );
    }
    let mut command = place.command(&["parse"]);
    let answer = fs::File::open(place.path("answer.txt")).unwrap();
    let ran = crate::program::finish(crate::program::start(command.stdin(answer))).exits(0);
    assert!(ran.stdout.contains("blank_block"), "{}", ran.stdout);
    // What a mind wrote moves no cursor.
    place.file(
        "hostile.txt",
        "t\n---\n\u{1b}[2J\u{202e}evil\u{9b}31m\n---\n\n---\n",
    );
    let ran = place.alone(&["parse", "hostile.txt"]).exits(0);
    for char in ['\u{1b}', '\u{202e}', '\u{9b}'] {
        assert!(!ran.stdout.contains(char), "{:?}", ran.stdout);
    }
}

#[test]
fn help_names_every_command() {
    let place = Place::new();
    let ran = place.alone(&["--help"]).exits(0);
    for command in [
        "new",
        "check-init",
        "run",
        "resume",
        "status",
        "verify",
        "check-leaks",
        "diff",
        "analyze",
        "report",
        "export",
        "lineage",
        "estimate",
        "null-model",
        "parse",
        "demo",
        "completions",
    ] {
        assert!(ran.stdout.contains(command), "{command}\n{}", ran.stdout);
        place.alone(&[command, "--help"]).exits(0);
    }
    for shell in ["bash", "zsh", "fish"] {
        let ran = place.alone(&["completions", shell]).exits(0);
        assert!(ran.stdout.contains("logosphere"), "{shell}");
    }
}
