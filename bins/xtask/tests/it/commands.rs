//! The exit codes and streams that every binary has from `bin-support`, seen from outside.

use std::io;
use std::process::{Command, Output};

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
    assert!(String::from_utf8_lossy(&output.stderr).contains("dance"));
}

#[test]
fn help_is_a_result() {
    let output = xtask(&["--help"]).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    assert!(String::from_utf8_lossy(&output.stdout).contains("demo"));
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
