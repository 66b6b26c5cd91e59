//! The exit codes and streams of xtask, which are those of every binary, and what it is made of.

use std::io;
use std::process::{Command, Output};

use crate::packages::root;

fn xtask(arguments: &[&str]) -> io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(arguments)
        .output()
}

#[test]
fn a_wrong_command_is_a_usage_error_on_stderr() {
    let output = xtask(&["dance"]).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8_lossy(&output.stderr);
    let line = "xtask: unknown task \"dance\"; tasks: demo, test, check, docs, features, fresh, dist, pictures, campaign, peers, sizes\n";
    assert_eq!(said, line);
    let wrong_calls = [
        (&["demo", "--loud"][..], "demo: unknown flag \"--loud\""),
        (&["test", "it"], "test takes no argument \"it\""),
        (&[], "no task; tasks: demo, "),
        (&["peers", "gpt"], "unknown peer \"gpt\"; known: aimock, "),
        (&["demo", "gpt"], "unknown program \"gpt\"; known: popper, "),
    ];
    for (wrong, problem) in wrong_calls {
        let output = xtask(wrong).unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with(&format!("xtask: {problem}")), "{said}");
    }
}

#[test]
fn help_is_a_result() {
    let output = xtask(&["--help"]).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let help = String::from_utf8_lossy(&output.stdout);
    let tasks = help.split_once("Tasks:\n").unwrap().1.lines();
    let names: Vec<_> = tasks
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() >= 5, "{help}");
    for name in names {
        let output = xtask(&[name, "--help"]).unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}");
        let help = String::from_utf8_lossy(&output.stdout);
        let usage = format!("\n\nUsage: cargo xtask {name}");
        assert!(help.contains(&usage), "{help}");
        assert!(
            help.lines().all(|line| line.chars().count() <= 80),
            "{help}"
        );
    }
}

#[test]
fn each_task_is_a_recipe_of_the_same_name() {
    let help = String::from_utf8(xtask(&["--help"]).unwrap().stdout).unwrap();
    let (_, tasks) = help.split_once("Tasks:\n").unwrap();
    let recipes = std::fs::read_to_string(root().join("justfile")).unwrap();
    for task in tasks
        .lines()
        .filter_map(|line| line.split_whitespace().next())
    {
        let mut lines = recipes.lines();
        let is_recipe = |line: &str| {
            let head = line.split_once(':').map(|(head, _)| head);
            head.and_then(|head| head.split(' ').next()) == Some(task)
        };
        assert!(lines.any(is_recipe), "no recipe {task}");
        let command = lines.next().unwrap().trim();
        assert!(
            command.starts_with(&format!("cargo xtask {task}")),
            "{task}: {command}"
        );
    }
}

#[test]
fn a_task_waits_for_few_crates() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--package",
            "xtask",
            "--edges",
            "normal,build",
        ])
        .args(["--prefix", "none", "--no-dedupe", "--format", "{p}"])
        .output()
        .unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let crates: std::collections::BTreeSet<_> = tree.lines().collect();
    assert!((2..=12).contains(&crates.len()), "{crates:?}");
    let others = ["serde_derive", "clap", "bin-support"];
    assert!(!others.iter().any(|name| tree.contains(name)), "{tree}");
}

#[test]
fn an_error_is_printed_once_with_the_program_in_front() {
    // Outside of any workspace there is nothing to run the task in.
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("demo")
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with("xtask: cannot read the workspace: "),
        "{stderr}"
    );
    assert_eq!(
        stderr.matches("cannot read the workspace").count(),
        1,
        "{stderr}"
    );
}
