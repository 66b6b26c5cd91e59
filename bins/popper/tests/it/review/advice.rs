//! A library gives facts; flags and commands are named by the binary alone.

use std::fs;
use std::path::Path;

use crate::process::fresh;
use crate::process::{Ran, words};
use crate::runs::Place;

/// Lines of a source file that are code, up to its unit tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    let numbered = lines.enumerate();
    numbered.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn scan(folder: &Path, found: &mut Vec<String>) -> usize {
    let commands = words("run resume status retest export report check replay verify");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // A page is read away from the program: its appendix has the commands that write and check it.
        if path.ends_with("report") {
            continue;
        }
        if path.is_dir() {
            files += scan(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files += 1;
            let text = fs::read_to_string(&path).unwrap();
            for (number, line) in code(&text) {
                let names_command = commands
                    .iter()
                    .any(|command| line.contains(&format!("popper {command}")));
                let is_flag = |rest: &str| rest.starts_with(|c: char| c.is_ascii_lowercase());
                let names_flag = line.split("--").skip(1).any(is_flag);
                if names_command || names_flag {
                    found.push(format!("{}:{}: {line}", path.display(), number + 1));
                }
            }
        }
    }
    files
}

#[test]
fn no_library_of_popper_names_a_command_or_a_flag() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut found = Vec::new();
    for name in ["popper-harness", "popper-discovery", "popper-store"] {
        let files = scan(&root.join(name).join("src"), &mut found);
        assert!(files > 5, "{name}");
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_binary_says_what_to_do() {
    let place = Place::new();
    let missing = place.popper(&["status"]);
    let line = "popper: popper.db: there is no database; `popper run` makes one\n";
    assert_eq!((missing.code, missing.stderr.as_str()), (Some(2), line));
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    let arguments = ["run", "--run-id", "1", "--seed", "9", "--db", "popper.db"];
    let other: Ran = fresh(place.path(), &arguments).output().unwrap().into();
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(
        other.stderr.ends_with("; --new-run begins a new one\n"),
        "{}",
        other.stderr
    );
}
