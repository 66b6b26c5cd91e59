//! Keys and addresses of `.env` files.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use test_support::EnvFileProgram;

const PROGRAM: EnvFileProgram = EnvFileProgram {
    program: env!("CARGO_BIN_EXE_hermitcrab"),
    key_name: "HERMITCRAB_API_KEY",
    ask: &["chat", "--data", "d", "--provider", "anthropic"],
    work: &["block", "list", "--data", "d"],
    prepare: |root| fs::create_dir(root.join("d")).unwrap(),
};

#[test]
fn an_address_that_was_found_moves_no_request() {
    PROGRAM.check_a_found_address_moves_no_request();
}

#[test]
fn a_real_key_is_not_sent_to_the_address_of_a_file() {
    PROGRAM.check_a_real_key_is_not_sent_to_the_address_of_a_file();
}

#[test]
fn a_bad_line_of_a_file_that_was_found_is_told_and_the_command_does_its_work() {
    PROGRAM.check_a_bad_line_is_told_and_the_work_is_done();
}

#[test]
fn the_key_file_gives_keys_only() {
    let (server, planted) = PROGRAM.plant_address("");
    let data = planted.root().join("inner/d");
    fs::create_dir_all(&data).unwrap();
    let text = format!("ANTHROPIC_BASE_URL={}\nHOME='/other'\n", server.url(""));
    fs::write(planted.root().join(".env"), "").unwrap();
    fs::write(data.join("keys.env"), text).unwrap();
    for command in ["chat", "doctor"] {
        let arguments = [command, "--data", "d", "--provider", "anthropic"];
        let stderr = planted.refuses(&arguments, &[]);
        for told in [
            "hermitcrab: the key file: ignored ANTHROPIC_BASE_URL, HOME (such a file gives keys only)\n",
            "no API key for anthropic",
        ] {
            assert!(stderr.contains(told), "{told}\n{stderr}");
        }
    }
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_file_that_was_found_does_not_move_the_data() {
    let other = tempfile::tempdir().unwrap();
    let planted = PROGRAM.plant(&format!("XDG_DATA_HOME={}\n", other.path().display()));
    let mut command = planted.command(&["block", "create", "yard", "A yard."]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains(": ignored XDG_DATA_HOME ("), "{stderr}");
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    assert!(data_folder(planted.root()).is_dir());
}

/// Returns the folder for a user's data on this system.
fn data_folder(home: &Path) -> std::path::PathBuf {
    let folder = if cfg!(target_os = "macos") {
        "Library/Application Support"
    } else {
        ".local/share"
    };
    home.join(folder).join("hermitcrab")
}
