//! `docs/popper.md` shows what the binary really prints.

use std::path::Path;

use crate::process::{Ran, file, fresh, popper};

fn guide() -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    std::fs::read_to_string(format!("{root}docs/popper.md")).unwrap()
}

/// The part of the guide under a heading.
fn section<'a>(guide: &'a str, heading: &str) -> &'a str {
    let (_, rest) = guide.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

/// The blocks of a language, in order.
fn blocks<'a>(guide: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    let parts = guide.split(begin.as_str()).skip(1);
    parts.filter_map(|part| part.split("```").next()).collect()
}

#[test]
fn the_guide_shows_real_output() {
    let guide = guide();
    let laws = file("my_laws.json", blocks(&guide, "json")[0]);
    let shown = blocks(&guide, "text");
    assert_eq!(popper(&["check", &laws]).stdout, shown[0]);
    let verdicts = file("verdicts.json", popper(&["check", "--json", &laws]).stdout);
    let again = popper(&["replay", &verdicts]).stdout + &popper(&["verify", &verdicts]).stdout;
    assert_eq!(again, shown[1]);
}

#[test]
fn the_readme_shows_real_output() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let readme = std::fs::read_to_string(format!("{root}README.md")).unwrap();
    let (_, result) = readme.split_once("## Refute a law").unwrap();
    let ran = popper(&[
        "check",
        "fixtures/popper/laws/false.json",
        "fixtures/popper/laws/true.json",
        "fixtures/popper/laws/unknown.json",
    ]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let mut printed = ran.stdout.lines();
    for line in blocks(result, "text")[0].lines() {
        assert!(
            line == "..." || printed.any(|shown| shown == line),
            "{line}"
        );
    }
}

/// The text with one time in place of all.
fn timeless(text: &str) -> String {
    let word = |word: &str| {
        let is_time = word.starts_with("20") && word.ends_with('Z') && word.contains('T');
        if is_time { "TIME" } else { word }.to_owned()
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(|one| line(one) + "\n").collect()
}

/// Runs a command of the guide as if its folder were the workspace's root.
fn follow(folder: &Path, command: &str) -> Ran {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/");
    let command = command.replace("fixtures/", fixtures);
    let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
    let mut ran: Ran = fresh(folder, &arguments).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
    ran.stdout = ran.stdout.replace(fixtures, "fixtures/");
    ran
}

#[test]
fn the_tour_of_a_discovery_run_shows_real_output() {
    let folder = tempfile::tempdir().unwrap();
    let guide = guide();
    let run = section(&guide, "A discovery run");
    let shown = blocks(run, "text");
    let ran = follow(folder.path(), blocks(run, "sh")[0]);
    assert_eq!(ran.stderr, shown[0]);
    assert_eq!(timeless(&ran.stdout), timeless(shown[1]));

    let resume = blocks(section(&guide, "Stopping and resuming"), "sh")[0];
    follow(folder.path(), resume);

    let status = section(&guide, "Status, retest, export");
    let [first, retest, rest] = blocks(status, "sh")[..] else {
        panic!("the section has three blocks of commands");
    };
    let table = timeless(&follow(folder.path(), first).stdout);
    let (head, _) = table.split_once("\n\n").unwrap();
    assert_eq!(format!("{head}\n"), timeless(blocks(status, "text")[0]));
    assert!(follow(folder.path(), retest).stdout.contains("1 law: "));
    for line in rest.lines() {
        let command = line.split('#').next().unwrap();
        follow(folder.path(), command);
    }
    for name in ["run.json", "run.csv", "run.html"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
}
