//! Keys and addresses of `.env` files.
#![cfg(unix)]

use test_support::EnvFileProgram;

const PROGRAM: EnvFileProgram = EnvFileProgram {
    program: env!("CARGO_BIN_EXE_zer0gravity"),
    key_name: "ZER0GRAVITY_API_KEY",
    ask: &["run", "--level", "1", "--provider", "anthropic"],
    work: &["lint"],
    prepare: |_| {},
};

#[test]
fn z27_an_address_that_was_found_moves_no_request() {
    PROGRAM.check_a_found_address_moves_no_request();
}

#[test]
fn z27_a_real_key_is_not_sent_to_the_address_of_a_file() {
    PROGRAM.check_a_real_key_is_not_sent_to_the_address_of_a_file();
}

#[test]
fn a_bad_line_of_a_file_that_was_found_is_told_and_the_command_does_its_work() {
    PROGRAM.check_a_bad_line_is_told_and_the_work_is_done();
}
