//! The lints that hold the rules for all code: a ban or a lint that is taken out is a failure.

use std::fs;

use proc_macro2::{TokenStream, TokenTree};

use crate::packages::root;
use crate::rust_source::{files, folders, is_mark, tokens};

/// The functions that a library does not call.
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
];

/// The macros that a library does not call.
const BANNED_MACROS: &[&str] = &[
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

/// The paths that a `clippy.toml` bans under a key.
fn banned<'a>(toml: &'a str, key: &str) -> Vec<&'a str> {
    let first = format!("{key} = [");
    let lines = toml.lines().skip_while(|line| *line != first);
    let lines = lines.take_while(|line| *line != "]").map(str::trim);
    let paths = lines.filter_map(|line| line.strip_prefix("{ path = \"")?.split('"').next());
    paths.collect()
}

/// The lines of the attributes that allow a lint: `expect` with its reason is the one way.
fn allows(tokens: TokenStream) -> Vec<usize> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let before = |back: usize| place.checked_sub(back).and_then(|it| tokens.get(it));
        let is_attribute =
            is_mark(before(1), '#') || is_mark(before(2), '#') && is_mark(before(1), '!');
        if is_attribute && allows_a_lint(&group.stream()) {
            found.push(group.span().start().line);
        }
        found.extend(allows(group.stream()));
    }
    found
}

/// Whether the inside of an attribute is `allow(..)`, or a `cfg_attr` with it.
fn allows_a_lint(attribute: &TokenStream) -> bool {
    let tokens: Vec<_> = attribute.clone().into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(word), TokenTree::Group(inside)] if word == "cfg_attr" => {
            let inside: Vec<_> = inside.stream().into_iter().collect();
            let parts = inside.split(|token| is_mark(Some(token), ','));
            let mut parts = parts.map(|part| part.iter().cloned().collect());
            parts.any(|part| allows_a_lint(&part))
        }
        [TokenTree::Ident(word), TokenTree::Group(_)] => word == "allow",
        _ => false,
    }
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
    let toml = "disallowed-methods = [\n  { path = \"a::b\", reason = \"c\" },\n  # { path = \"a::d\" },\n]\ndisallowed-macros = [\n  { path = \"a::e\" },\n]\n";
    let methods = banned(toml, "disallowed-methods");
    assert_eq!(missing(&["a::b", "a::d"], &methods), Some("a::d"));
    assert_eq!(banned(toml, "disallowed-method"), [""; 0]);
    assert_eq!(banned(toml, "disallowed-macros"), ["a::e"]);
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
    for (file, key, needed) in [
        (
            "crates/clippy.toml",
            "disallowed-methods",
            BANNED_IN_LIBRARIES,
        ),
        ("crates/clippy.toml", "disallowed-macros", BANNED_MACROS),
        ("bins/clippy.toml", "disallowed-methods", BANNED_IN_PROGRAMS),
    ] {
        let toml = read(file);
        assert_eq!(missing(needed, &banned(&toml, key)), None, "{file}");
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

#[test]
fn an_allowed_lint_is_found_wherever_it_is() {
    let code = "#![allow(a)]\n#[expect(a, reason = \"b\")]\nfn allow() { allow(c); #[allow(b)]\n let a = 1; }\n#[cfg_attr(test, allow(b))]\nm! { #[allow(b, reason = \"c\")] mod d {} }";
    assert_eq!(allows(code.parse().unwrap()), [1, 3, 5, 6]);
}

#[test]
fn no_source_allows_a_lint() {
    let mut wrong = Vec::new();
    for folder in folders() {
        for path in files(&root().join(folder).join("src"), "rs") {
            let lines = allows(tokens(&path)).into_iter();
            wrong.extend(lines.map(|line| format!("{}:{line}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
