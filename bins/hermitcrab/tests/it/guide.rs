//! The guide `docs/hermitcrab.md`: its commands and flags exist, its outputs are real, and commands that need no model are run in their order.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use test_support::{Guide, fixture};

use crate::program::{Place, Ran, finish, start};

fn guide() -> Guide {
    Guide::read("hermitcrab")
}

/// Returns the words after the program's name, if the line runs the program.
fn arguments(line: &str) -> Option<Vec<&str>> {
    let (_, after) = line.split_once("hermitcrab ")?;
    let runs = line.starts_with("hermitcrab ") || line.contains("| hermitcrab ");
    runs.then(|| after.split(' ').collect())
}

#[test]
fn every_command_and_flag_of_the_guide_is_one() {
    let (guide, place) = (guide(), Place::new());
    let mut names = BTreeSet::new();
    for line in guide.commands() {
        let Some(words) = arguments(line) else {
            continue;
        };
        let inner = matches!(words[0], "block" | "key" | "shells");
        let name = &words[..if inner { 2 } else { 1 }];
        names.insert(name.join(" "));
        let help = place.run(&[name, &["--help"]].concat()).exits(0).stdout;
        for flag in words.iter().filter(|word| word.starts_with('-')) {
            assert!(help.contains(flag), "{name:?} {flag}");
        }
    }
    let shown = [
        "block append",
        "block create",
        "block lint",
        "block list",
        "block log",
        "block read",
        "block redo",
        "block search",
        "block undo",
        "block write",
        "chat",
        "cost",
        "doctor",
        "export",
        "import",
        "mcp",
        "migrate",
        "prompt",
        "serve",
    ];
    assert_eq!(names, BTreeSet::from(shown.map(str::to_owned)));
}

#[test]
fn every_slash_command_of_the_guide_is_one() {
    let (guide, place) = (guide(), Place::new());
    let told = guide.text().split("own commands: ").nth(1).unwrap();
    let told = told.split(". ").next().unwrap();
    let named: Vec<_> = told.split('`').skip(1).step_by(2).collect();
    assert_eq!(named.len(), 10, "{named:?}");
    let help = place.fed(b"/help\n", &["chat"]).exits(0).stdout;
    for command in named {
        assert!(
            help.contains(&format!("\n{command} ")) || help.contains(command),
            "{command}"
        );
    }
}

/// Runs a line of the guide as a shell would, with this binary as `hermitcrab`.
fn shell(place: &Place, line: &str) -> Ran {
    let here = place.bare(&[]);
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            &format!("hermitcrab() {{ \"$HERMITCRAB\" \"$@\"; }}; {line}"),
        ])
        .current_dir(place.root())
        .env_clear()
        .envs(
            here.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("HERMITCRAB", env!("CARGO_BIN_EXE_hermitcrab"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(start(&mut command))
}

#[cfg(unix)]
#[test]
fn the_commands_without_a_model_run_in_their_order() {
    let (guide, place) = (guide(), Place::new());
    fs::create_dir(place.path("notes")).unwrap();
    let sample = fixture("hermitcrab/vectors/g0_export_sample.json");
    place.file("old-export.json", fs::read(sample).unwrap());
    let mut ran = 0;
    for line in guide.commands() {
        let asks = line.contains("--provider") || line.contains("--grant ~");
        // Other tests cover its start and its end.
        let serves = arguments(line).is_some_and(|words| words[0] == "serve");
        if arguments(line).is_none() || asks || serves {
            continue;
        }
        if line.starts_with("hermitcrab block undo constitution") {
            // What a model would have changed by then.
            shell(&place, "hermitcrab block write constitution 0.1.6 Rest.").exits(0);
        }
        let done = shell(&place, line);
        assert_eq!(
            done.code,
            Some(0),
            "{line}\n{}\n{}",
            done.stderr,
            done.stdout
        );
        ran += 1;
    }
    assert!(ran >= 20, "{ran}");
}

#[cfg(unix)]
#[test]
fn the_outputs_of_the_guide_are_real() {
    let (guide, place) = (guide(), Place::new());
    let blocks = guide.section("Read and edit blocks");
    let edits = ["block create ", "block append ", "block write "];
    for line in blocks.commands() {
        if edits.iter().any(|edit| line.contains(edit)) {
            shell(&place, line).exits(0);
        }
    }
    for number in 2..10 {
        shell(&place, &format!("hermitcrab block append notes {number}")).exits(0);
    }
    let (command, shown) = blocks.blocks("text")[0].split_once('\n').unwrap();
    let done = shell(&place, command.strip_prefix("$ ").unwrap()).exits(0);
    assert_eq!(format!("{}{}", done.stdout, done.stderr), shown);

    let printed = shell(&place, "hermitcrab mcp --write --print-config").exits(0);
    let here = guide.blocks("json")[0].replace(
        "/home/you/.cargo/bin/hermitcrab",
        env!("CARGO_BIN_EXE_hermitcrab"),
    );
    assert_eq!(printed.stdout, here);
}
