//! Keys and addresses of `.env` files. No test here reaches a network: each command ends before it would send anything, or
//! asks a listener of the test.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use test_support::{Answer, FaultServer};

use crate::program::Ran;

/// Looks like a key and is none.
const KEY: &str = "sk-not-a-real-key-0123456789";

fn listener() -> FaultServer {
    FaultServer::play(|_| Answer::json(500, "{}"))
}

/// A repository with this `.env`; the program runs in its folder `inner`.
fn planted(text: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for folder in [".git", "inner"] {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    let file = root.path().join(".env");
    fs::write(&file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    root
}

/// The program with nothing of the machine's environment but the path to programs.
fn program(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_logosphere"));
    command
        .args(arguments)
        .current_dir(root.join("inner"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", root)
        .stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> Ran {
    command.output().unwrap().into()
}

const ASK: &[&str] = &[
    "run",
    "E",
    "--provider",
    "anthropic",
    "--model",
    "claude-opus-5-5",
];

/// An experiment `E` in the folder that the program runs in, and a file of seeds.
fn experiment(root: &Path) {
    let text = crate::program::init(&[
        "What lasts is said again.",
        "Short words travel far.",
        "Copy this.",
    ]);
    fs::create_dir(root.join("inner/E")).unwrap();
    for file in ["inner/E/init.md", "inner/init.md"] {
        fs::write(root.join(file), &text).unwrap();
    }
}

#[test]
fn an_address_that_was_found_moves_no_request() {
    let server = listener();
    let root = planted(&format!("ANTHROPIC_BASE_URL={}\n", server.url("")));
    experiment(root.path());
    // The listener needs no key, the provider does: without the address the program ends before it asks.
    let ran = run(&mut program(root.path(), ASK));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let folder = root.path().canonicalize().unwrap();
    for told in [
        &format!(
            "logosphere: .env in {}: ignored ANTHROPIC_BASE_URL (a file that was found gives keys only; \
             --env-file FILE takes addresses too)\n",
            folder.display()
        ),
        "anthropic needs a key",
    ] {
        assert!(ran.stderr.contains(told), "{told}\n{}", ran.stderr);
    }
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_real_key_is_not_sent_to_the_address_of_a_file() {
    let server = listener();
    let root = planted(&format!("ANTHROPIC_BASE_URL={}\n", server.url("")));
    experiment(root.path());
    let mut command = program(root.path(), ASK);
    command
        .args(["--env-file", "../.env"])
        .env("LOGOSPHERE_API_KEY", KEY);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let told = "ANTHROPIC_BASE_URL is from ../.env and LOGOSPHERE_API_KEY from the environment: the key is not sent there; \
                put both into one file or give --base-url\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_bad_line_of_a_file_that_was_found_is_told_and_the_command_does_its_work() {
    let root = planted("# keys\nsk-secret and more\n");
    experiment(root.path());
    let ran = run(&mut program(root.path(), &["parse", "init.md"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let folder = root.path().canonicalize().unwrap();
    let told = format!(
        "logosphere: .env in {}: line 2 is not NAME=value, ignored\n",
        folder.display()
    );
    assert!(ran.stderr.starts_with(&told), "{}", ran.stderr);
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    // A file that was named must be good.
    let arguments = [&["parse", "init.md"][..], &["--env-file", "../.env"]].concat();
    let ran = run(&mut program(root.path(), &arguments));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("../.env: line 2 is not NAME=value"),
        "{}",
        ran.stderr
    );
}
