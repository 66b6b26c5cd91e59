//! The completions, the manual, the version and the places of the program.

use std::path::Path;

use test_support::check_shared_commands;

#[test]
fn z47_completions_manual_version_and_paths_are_right() {
    check_shared_commands(
        Path::new(env!("CARGO_BIN_EXE_zer0gravity")),
        env!("CARGO_PKG_VERSION"),
        Some("zer0gravity matrix --level 1"),
    );
}
