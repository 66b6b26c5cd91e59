//! Keys and addresses of `.env` files.
#![cfg(unix)]

use test_support::EnvFileProgram;

const PROGRAM: EnvFileProgram = EnvFileProgram {
    program: env!("CARGO_BIN_EXE_popper"),
    key_name: "POPPER_API_KEY",
    ask: &[
        "run",
        "--db",
        "x.db",
        "--iterations",
        "1",
        "--provider",
        "anthropic",
    ],
    work: &["simulate", ">.<X", "--steps", "1"],
    prepare: |_| {},
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
fn a_key_that_was_found_goes_to_the_provider_and_a_line_says_so() {
    PROGRAM.check_a_found_key_is_named(&[
        "--model",
        "claude-opus-5-5",
        "--max-usd",
        "0.000001",
        "--quiet",
    ]);
}
