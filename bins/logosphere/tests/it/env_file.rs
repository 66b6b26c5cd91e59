//! Keys and addresses of `.env` files.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use test_support::EnvFileProgram;

const PROGRAM: EnvFileProgram = EnvFileProgram {
    program: env!("CARGO_BIN_EXE_logosphere"),
    key_name: "LOGOSPHERE_API_KEY",
    ask: &[
        "run",
        "E",
        "--provider",
        "anthropic",
        "--model",
        "claude-opus-5-5",
    ],
    work: &["parse", "init.md"],
    prepare: experiment,
};

/// An experiment `E`, and a file of seeds.
fn experiment(folder: &Path) {
    let text = crate::program::init(&[
        "What lasts is said again.",
        "Short words travel far.",
        "Copy this.",
    ]);
    fs::create_dir(folder.join("E")).unwrap();
    for file in ["E/init.md", "init.md"] {
        fs::write(folder.join(file), &text).unwrap();
    }
}

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
