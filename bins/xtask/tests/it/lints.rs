//! The lints that hold the rules for all code: a ban or a lint that is taken out is a failure.

use std::fs;

use crate::packages::root;
use crate::rust_source::{files, folders};

/// The functions and macros that a library does not call.
const BANNED_IN_LIBRARIES: &[&str] = &[
    "std::env::var",
    "std::env::var_os",
    "std::env::vars",
    "std::env::vars_os",
    "std::env::set_var",
    "std::env::remove_var",
    "std::env::args",
    "std::env::args_os",
    "std::env::current_dir",
    "std::env::set_current_dir",
    "std::env::current_exe",
    "std::env::home_dir",
    "std::env::temp_dir",
    "std::time::SystemTime::now",
    "std::time::SystemTime::elapsed",
    "std::time::Instant::now",
    "std::time::Instant::elapsed",
    "std::thread::sleep",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "rand::rng",
    "rand::make_rng",
    "rand::random",
    "getrandom::fill",
    "getrandom::u32",
    "getrandom::u64",
    "std::process::exit",
    "std::process::abort",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::print",
    "std::println",
    "std::eprint",
    "std::eprintln",
    "std::dbg",
];

/// The functions that a program does not call.
const BANNED_IN_PROGRAMS: &[&str] = &[
    "std::time::SystemTime::now",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
];

/// The lints of the workspace, with all that may be allowed.
const LINTS: &[&str] = &[
    r#"missing_docs = "warn""#,
    r#"unsafe_code = "forbid""#,
    r#"pedantic = { level = "warn", priority = -1 }"#,
    r#"expect_used = "warn""#,
    r#"unwrap_used = "warn""#,
    r#"module_name_repetitions = "allow""#,
    r#"cast_possible_truncation = "allow""#,
    r#"cast_possible_wrap = "allow""#,
    r#"cast_precision_loss = "allow""#,
    r#"cast_sign_loss = "allow""#,
    r#"many_single_char_names = "allow""#,
    r#"similar_names = "allow""#,
    r#"must_use_candidate = "allow""#,
];

/// The paths that a `clippy.toml` bans.
fn banned(toml: &str) -> Vec<&str> {
    let lines = toml.lines().map(str::trim);
    let paths = lines.filter_map(|line| line.strip_prefix("{ path = \"")?.split('"').next());
    paths.collect()
}

/// The lines under `[workspace.lints]` in a manifest.
fn lints(manifest: &str) -> Vec<&str> {
    let sections = manifest
        .split("\n[")
        .filter(|it| it.starts_with("workspace.lints"));
    let lines = sections.flat_map(|section| section.lines().skip(1));
    lines.filter(|line| line.contains('=')).collect()
}

fn has_lints(manifest: &str) -> bool {
    manifest.contains("\n[lints]\nworkspace = true\n")
}

/// The first of `needed` that `found` does not have.
fn missing<'a>(needed: &[&'a str], found: &[&str]) -> Option<&'a str> {
    needed.iter().find(|it| !found.contains(it)).copied()
}

#[test]
fn a_line_that_is_taken_out_is_found() {
    let toml = "disallowed-methods = [\n  { path = \"a::b\", reason = \"c\" },\n  # { path = \"a::d\" },\n]\n";
    assert_eq!(missing(&["a::b", "a::d"], &banned(toml)), Some("a::d"));
    let manifest =
        "[workspace]\n\n[workspace.lints.rust]\na = \"warn\"\n# b = \"c\"\n\n[other]\nd = 1\n";
    assert_eq!(lints(manifest), ["a = \"warn\"", "# b = \"c\""]);
    assert!(has_lints("[package]\n\n[lints]\nworkspace = true\n"));
    assert!(!has_lints("[package]\n\n# [lints]\n# workspace = true\n"));
}

#[test]
fn the_bans_and_lints_bind_every_package() {
    let root = root().canonicalize().unwrap();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    for (file, needed) in [
        ("crates/clippy.toml", BANNED_IN_LIBRARIES),
        ("bins/clippy.toml", BANNED_IN_PROGRAMS),
    ] {
        let toml = read(file);
        assert_eq!(missing(needed, &banned(&toml)), None, "{file}");
    }
    assert_eq!(lints(&read("Cargo.toml")), LINTS);
    for folder in folders() {
        assert!(
            has_lints(&read(&format!("{folder}/Cargo.toml"))),
            "{folder}"
        );
        // Clippy takes the nearest file, so one in a package would replace the bans.
        let names = files(&root.join(&folder), "toml").into_iter();
        let mut own = names.filter(|path| path.to_string_lossy().ends_with("clippy.toml"));
        assert_eq!(own.next(), None);
    }
}
