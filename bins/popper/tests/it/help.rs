//! The help in a terminal and in a pipe, the completions, the manual, the version and the places of the program.

use std::path::Path;
use std::process::Command;

use test_support::check_shared_commands;

#[test]
fn help_has_colour_only_where_it_is_wanted() {
    let escapes = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut popper = Command::new(env!("CARGO_BIN_EXE_popper"));
        let output = popper
            .args(arguments)
            .env_clear()
            .envs(variables.to_vec())
            .output();
        let output = output.unwrap();
        let written = [output.stdout, output.stderr].concat();
        assert!(written.len() > 100, "{written:?}");
        written.contains(&0x1b)
    };
    for arguments in [&["--help"][..], &["check", "-h"], &["chekc"]] {
        assert!(!escapes(arguments, &[]), "a pipe: {arguments:?}");
        assert!(
            escapes(arguments, &[("CLICOLOR_FORCE", "1")]),
            "{arguments:?}"
        );
        let never = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
        assert!(!escapes(arguments, &never), "{arguments:?}");
    }
}

#[test]
fn help_fits_the_terminal() {
    for (columns, widest) in [("60", 60), ("80", 80), ("300", 100)] {
        let mut popper = Command::new(env!("CARGO_BIN_EXE_popper"));
        let output = popper
            .args(["run", "--help"])
            .env("COLUMNS", columns)
            .output();
        let help = String::from_utf8(output.unwrap().stdout).unwrap();
        let longest = help.lines().map(|line| line.chars().count()).max();
        assert!(
            longest.is_some_and(|found| found <= widest),
            "{columns}: {longest:?}"
        );
        assert!(
            longest.is_some_and(|found| found > widest - 15),
            "{columns}: {longest:?}"
        );
    }
}

#[test]
fn completions_manual_version_and_paths_are_right() {
    check_shared_commands(
        Path::new(env!("CARGO_BIN_EXE_popper")),
        env!("CARGO_PKG_VERSION"),
        Some("popper run --iterations 1"),
    );
}
