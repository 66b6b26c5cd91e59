//! The public names of each library: its items, their fields, variants and functions are in `public-names.txt` next to its
//! manifest, each with its declaration.

use std::collections::BTreeSet;
use std::fs;

use cargo_metadata::Target;

use crate::packages::{published, root, short_name};
use crate::public_api::Api;
use crate::rust_source::sources;

/// The most names that the root of a library exports; the rest is in public modules. A library without a row has no limit.
const MOST: [(&str, usize); 11] = [
    ("bin-support", 26),
    ("hermitcrab-face", 17),
    ("hermitcrab-kernel", 40),
    ("llm-client", 60),
    ("logosphere-core", 30),
    ("popper-discovery", 30),
    ("popper-harness", 12),
    ("popper-store", 7),
    ("pscale-blocks", 40),
    ("report-kit", 20),
    ("zer0gravity-engine", 20),
];

/// The lints by which a public type is `#[non_exhaustive]` or says why it is not.
const GROWTH: &str = "#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]";

fn line(path: &str, declaration: &str) -> String {
    match declaration {
        "" => path.to_owned(),
        _ => format!("{path}: {declaration}"),
    }
}

/// The lines to change in a file that holds `listed` for a root that exports `found`.
fn changes(listed: &BTreeSet<String>, found: &BTreeSet<String>) -> Vec<String> {
    let gone = listed.difference(found).map(|name| format!("-{name}"));
    let new = found.difference(listed).map(|name| format!("+{name}"));
    gone.chain(new).collect()
}

/// The libraries that may be published: the folder of each, and its name.
fn libraries() -> Vec<(String, String)> {
    let packages = published().into_iter();
    let packages = packages.filter(|package| package.targets.iter().any(Target::is_lib));
    let names = packages.map(|package| short_name(&package.name).to_owned());
    let names = names.map(|name| (format!("crates/{name}"), name));
    let names: Vec<_> = names.collect();
    assert!(names.len() >= 14, "{names:?}");
    names
}

#[test]
fn a_change_of_the_names_is_found() {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(
        changes(
            &set(&["One", "Old: fn(u8)"]),
            &set(&["One", "Old: fn(u16)"])
        ),
        ["-Old: fn(u8)", "+Old: fn(u16)"]
    );
}

/// With `ORRERY_WRITE=1` the files are written instead.
#[test]
fn the_public_names_of_every_library_are_listed() {
    let write = std::env::var_os("ORRERY_WRITE").is_some();
    let mut wrong = Vec::new();
    for (folder, name) in libraries() {
        let items = Api::of(&sources(&folder)).items;
        let lines: Vec<_> = items
            .iter()
            .map(|(path, declaration)| line(path, declaration))
            .collect();
        let path = root().join(&folder).join("public-names.txt");
        if write {
            fs::write(&path, lines.join("\n") + "\n").unwrap();
        }
        let listed = fs::read_to_string(&path).unwrap_or_default();
        let listed = listed.lines().map(str::to_owned).collect();
        let found = lines.into_iter().collect();
        for change in changes(&listed, &found) {
            wrong.push(format!("{}: {change}", path.display()));
        }
        let in_root: BTreeSet<_> = items
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !name.contains("::") && !name.starts_with("mod "))
            .collect();
        let most = MOST.iter().find(|(library, _)| *library == name);
        let count = in_root.len();
        if most.is_some_and(|(_, most)| count > *most) {
            wrong.push(format!("{name}: {count} names in the root"));
        }
    }
    let wrong = wrong.join("\n");
    assert!(
        wrong.is_empty(),
        "to write the files: ORRERY_WRITE=1 cargo test -p xtask --test it names::\n{wrong}"
    );
}

#[test]
fn each_public_name_has_one_path_and_each_public_type_may_grow() {
    let mut wrong = Vec::new();
    for (folder, name) in libraries() {
        let second = Api::of(&sources(&folder)).second_paths();
        let root = fs::read_to_string(root().join(&folder).join("src/lib.rs")).unwrap();
        let can_grow = root.lines().any(|line| line == GROWTH);
        wrong.extend(second.iter().map(|paths| format!("{name}: {paths}")));
        if !can_grow {
            wrong.push(format!("{name}: src/lib.rs has no line {GROWTH}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
