//! `docs/popper.md` shows what the binary really prints.

use std::path::Path;

use test_support::Guide;

use crate::process::{Ran, file, fresh, popper, words};

#[test]
fn the_guide_shows_real_output() {
    let guide = Guide::read("popper");
    let laws = file("my_laws.json", guide.blocks("json")[0]);
    let shown = guide.blocks("text");
    assert_eq!(popper(&["check", &laws]).stdout, shown[0]);
    let verdicts = file("verdicts.json", popper(&["check", "--json", &laws]).stdout);
    let again = popper(&["replay", &verdicts]).stdout + &popper(&["verify", &verdicts]).stdout;
    assert_eq!(again, shown[1]);
}

#[test]
fn the_readme_shows_real_output() {
    let result = Guide::read("../README").section("Refute a law");
    let ran = popper(&words(
        "check fixtures/popper/laws/false.json fixtures/popper/laws/true.json fixtures/popper/laws/unknown.json",
    ));
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let mut printed = ran.stdout.lines();
    for line in result.blocks("text")[0].lines() {
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
    let guide = Guide::read("popper");
    let run = guide.section("Run a discovery");
    let shown = run.blocks("text");
    let ran = follow(folder.path(), run.blocks("sh")[0]);
    assert_eq!(ran.stderr, shown[0]);
    assert_eq!(timeless(&ran.stdout), timeless(shown[1]));

    let resume = guide.section("Stop and resume a run");
    follow(folder.path(), resume.blocks("sh")[0]);

    let status = guide.section("See the status, retest a law, export a run");
    let [first, retest, rest] = status.blocks("sh")[..] else {
        panic!("the section has three blocks of commands");
    };
    let table = timeless(&follow(folder.path(), first).stdout);
    let (head, _) = table.split_once("\n\n").unwrap();
    assert_eq!(format!("{head}\n"), timeless(status.blocks("text")[0]));
    assert!(follow(folder.path(), retest).stdout.contains("1 law: "));
    for line in rest.lines() {
        let command = line.split('#').next().unwrap();
        follow(folder.path(), command);
    }
    for name in ["run.json", "run.csv", "run.html"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
}
