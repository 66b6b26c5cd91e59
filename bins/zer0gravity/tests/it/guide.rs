//! `docs/zer0gravity.md` shows what the program really prints, and its commands exist.

use std::fs;

use test_support::{CompressionStub, Guide, StubMode, fixture};

use crate::program::Place;

fn guide() -> Guide {
    Guide::read("zer0gravity")
}

#[test]
fn the_first_run_prints_what_the_guide_shows() {
    let ran = Place::new().alone(&["run", "--level", "1"]).exits(0);
    assert_eq!(ran.stderr, guide().blocks("text")[0]);
}

#[test]
fn every_command_of_the_guide_is_one() {
    let (guide, place) = (guide(), Place::new());
    let commands = guide.commands();
    let commands = (commands.iter()).filter_map(|line| line.strip_prefix("zer0gravity "));
    let mut names: Vec<_> = (commands.clone())
        .filter_map(|command| command.split(' ').next())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let help = place.alone(&[name, "--help"]).exits(0).stdout;
        // Every flag that the guide gives to the command is in its help.
        let own = (commands.clone()).filter(|command| command.split(' ').next() == Some(name));
        let words = own.flat_map(|command| command.split(' '));
        for flag in words.filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "{name} {flag}");
        }
    }
}

/// As written, in the order of the guide, without a key: offline. Where a command needs a server, the stub is it.
#[test]
fn the_commands_of_the_guide_run() {
    let (guide, place) = (guide(), Place::new());
    let stub = CompressionStub::start(StubMode::Ok);
    for name in ["my_rules.txt", "a.txt", "b.txt"] {
        place.file(name, "DROP VOWELS\n");
    }
    place.file(
        "texts.jsonl",
        "{\"id\": \"a\", \"text\": \"Hello world!\"}\n",
    );
    let recorded = fixture("zer0gravity/recorded");
    for entry in fs::read_dir(recorded).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(
            &path,
            place.path(path.file_name().unwrap().to_str().unwrap()),
        )
        .unwrap();
    }
    let mut walked = 0;
    for line in guide.commands() {
        let Some(command) = line.strip_prefix("zer0gravity ") else {
            let elsewhere = ["cargo build", "export ", "cd "];
            assert!(
                elsewhere.iter().any(|begin| line.starts_with(begin)),
                "{line}"
            );
            continue;
        };
        // Files of the test, and no others.
        let command = command.replace("/tmp/", "");
        let arguments: Vec<_> = command.split(' ').filter(|word| !word.is_empty()).collect();
        let ran = match arguments.iter().position(|word| *word == "--provider") {
            Some(provider) => place.asking(&stub, &arguments[..provider]),
            None => place.alone(&arguments),
        };
        // 3: the recorded run has a refusal and an unreadable judge.
        let codes = if command.contains("--replay") {
            [3, 3]
        } else {
            [0, 0]
        };
        assert!(
            codes.contains(&ran.code.unwrap()),
            "{command}: {}",
            ran.stderr
        );
        walked += 1;
    }
    assert!(walked >= 10, "{walked}");
}
