//! `docs/logosphere.md` shows commands and flags that exist, and what the program really says.

use std::collections::BTreeSet;
use std::fs;

use test_support::{Guide, MindScript, MindStub, fixture};

use crate::program::{Place, words};

fn guide() -> Guide {
    Guide::read("logosphere")
}

#[test]
fn every_command_and_flag_of_the_guide_is_one() {
    let (guide, place) = (guide(), Place::new());
    let commands = guide.commands().into_iter();
    let commands = commands.filter_map(|line| line.strip_prefix("logosphere "));
    let mut names = BTreeSet::new();
    for command in commands {
        let name = command.split(' ').next().unwrap();
        names.insert(name);
        let help = place.alone(&[name, "--help"]).exits(0).stdout;
        for flag in command.split(' ').filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "{name} {flag}");
        }
    }
    let shown = words(
        "analyze demo diff export forecast leak lineage minds new null replay report resume run verify",
    );
    assert_eq!(names, BTreeSet::from_iter(shown));
}

#[test]
fn the_init_of_the_guide_is_one() {
    let (guide, place) = (guide(), Place::new());
    let init = guide.blocks("text")[0];
    place.file("init.md", init);
    let ran = place.alone(&["init-check", "init.md"]).exits(0);
    assert!(
        ran.stdout.contains("may have several lines."),
        "{}",
        ran.stdout
    );
}

#[test]
fn every_key_of_the_guide_is_a_setting() {
    let guide = guide();
    let keys = guide
        .text()
        .split("Keys: ")
        .nth(1)
        .unwrap()
        .split("The upper-case")
        .next()
        .unwrap();
    let named: BTreeSet<_> = keys.split('`').skip(1).step_by(2).collect();
    let place = Place::new();
    place
        .alone(&["run", "--output-dir", "E", "--rounds", "0"])
        .exits(0);
    let effective = place.read_json("E/config.effective.json");
    let settings = effective.as_object().unwrap().keys().map(String::as_str);
    let besides = words("config_sha256 init_sha256 schema_version software system_prompt_sha256");
    for setting in settings.filter(|setting| !besides.contains(setting)) {
        assert!(named.contains(setting), "{setting}");
    }
}

#[test]
fn the_experiment_that_is_kept_holds() {
    let place = Place::new();
    for name in ["copier", "mutator"] {
        let kept = fixture("../experiments/2026-11-22-drift-or-selection").join(name);
        let ran = place.alone(&["verify", kept.to_str().unwrap()]).exits(0);
        let told = "holds: 422 lines, 60 rounds, 300 calls, 306 messages";
        assert!(ran.stdout.contains(told), "{}", ran.stdout);
        let band = place
            .alone(&["null", kept.to_str().unwrap(), "--kind", "random-copy"])
            .exits(0);
        assert_eq!(
            band.stdout,
            fs::read_to_string(kept.join("random-copy.txt")).unwrap()
        );
    }
}

/// As written, in the order of the guide, without a key: offline. A run that names a provider or a model, or a directory
/// that has a run, is one of another directory that asks the stub.
#[test]
fn the_commands_of_the_guide_run() {
    let (guide, place) = (guide(), Place::new());
    let stub = MindStub::start(MindScript::default());
    for name in ["DIR", "OTHER"] {
        let begin = ["run", "--output-dir", name, "--rounds", "2", "--seed", "1"];
        place.alone(&begin).exits(0);
    }
    let mut walked = 0;
    for line in guide.commands() {
        let Some(command) = line.strip_prefix("logosphere ") else {
            let elsewhere = ["cargo build", "export "];
            let named = elsewhere.iter().any(|begin| line.starts_with(begin));
            assert!(named, "{line}");
            continue;
        };
        let words: Vec<_> = command.split(' ').filter(|word| !word.is_empty()).collect();
        let asks = (words.iter()).position(|word| ["--provider", "--model"].contains(word));
        let ran = match words[0] {
            "run" if asks.is_some() || words[1] == "DIR" => {
                let flags = &words[2..asks.unwrap_or(words.len())];
                let name = format!("asked-{walked}");
                place.asking(&stub, &[&["run", place.experiment(&name)], flags].concat())
            }
            // There is no journal of the first program here.
            "verify" if words.contains(&"--legacy") => continue,
            _ => place.alone(&words),
        };
        if words.contains(&"disobedient") {
            assert_eq!(ran.stdout, guide.blocks("text")[1]);
        }
        // The run in DIR was continued, the one in OTHER was not.
        let expected = if words[0] == "diff" { 4 } else { 0 };
        assert_eq!(ran.code, Some(expected), "{command}: {}", ran.stderr);
        walked += 1;
    }
    assert!(walked >= 20, "{walked}");
}
