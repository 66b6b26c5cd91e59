//! The public names of each library: what its root exports is in `public-names.txt` next to its manifest.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::packages::{folder, published};
use crate::single::sources;

/// The most names that these roots re-export; the rest is in public modules.
const MOST: [(&str, usize); 7] = [
    ("bin-support", 20),
    ("hermitcrab-kernel", 40),
    ("llm-client", 60),
    ("logosphere-core", 30),
    ("popper-discovery", 30),
    ("pscale-blocks", 40),
    ("zer0gravity-engine", 20),
];

/// The lints by which a public type is `#[non_exhaustive]` or says why it is not.
const GROWTH: &str = "#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]";

/// The libraries that do not have these lints yet.
const WITHOUT_GROWTH: [&str; 2] = ["llm-client", "llm-types"];

/// The name that an item of a `use` gives to others.
fn exported(item: &str) -> &str {
    let name = item.split(" as ").last().unwrap_or(item);
    name.rsplit("::").next().unwrap_or(name).trim()
}

/// The exports of a root, one line each, sorted: `mod NAME` for a module, else the name. By house rule a root has modules
/// and one-level re-exports alone.
fn names(root: &str) -> BTreeSet<String> {
    let code: String = root
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join(" ");
    let mut names = BTreeSet::new();
    for statement in code.split(';') {
        let Some((_, public)) = statement.rsplit_once("pub ") else {
            continue;
        };
        if let Some(module) = public.strip_prefix("mod ") {
            names.insert(format!("mod {}", module.trim()));
        } else if let Some(items) = public.strip_prefix("use ") {
            let (_, items) = items.split_once('{').unwrap_or(("", items));
            let items = items.trim_end().trim_end_matches('}').split(',');
            let items = items.map(str::trim).filter(|item| !item.is_empty());
            names.extend(items.map(|item| exported(item).to_owned()));
        } else {
            names.insert(
                public
                    .split(['{', '(', ':', '='])
                    .next()
                    .unwrap()
                    .trim()
                    .to_owned(),
            );
        }
    }
    names
}

/// The lines to change in a file that holds `listed` for a root that exports `found`.
fn changes(listed: &BTreeSet<String>, found: &BTreeSet<String>) -> Vec<String> {
    let gone = listed.difference(found).map(|name| format!("-{name}"));
    let new = found.difference(listed).map(|name| format!("+{name}"));
    gone.chain(new).collect()
}

/// The public re-exports of a file that give an item a second public path: out of a public module of the same file, or out
/// of another part of the crate. `module` gives the code of a module of the file: what it holds in a module that is not
/// public has no path through it.
fn second_paths(code: &str, module: impl Fn(&str) -> String) -> Vec<&str> {
    let lines = || code.lines().map(str::trim);
    let modules: Vec<_> = lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .collect();
    lines()
        .filter(|line| {
            let Some(path) = line.strip_prefix("pub use ") else {
                return false;
            };
            let (outer, rest) = path.split_once("::").unwrap_or((path, ""));
            if !modules.contains(&outer) {
                return ["crate", "super"].contains(&outer);
            }
            let Some((inner, _)) = rest.split_once("::") else {
                return true;
            };
            let public = names(&module(outer));
            public.contains(&format!("mod {inner}")) || !public.is_disjoint(&names(line))
        })
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn modules_and_re_exports_of_a_root_are_its_names() {
    let root = "//! pub use a::Doc;\nmod a;\npub mod b;\n#[cfg(x)]\npub use a::One;\npub use a::{\n    Two, c::Three,\n};\npub use d::E as F;\npub(crate) use a::Own;\n";
    let expected = set(&["mod b", "One", "Two", "Three", "F"]);
    assert_eq!(names(root), expected);
    let changed = changes(&set(&["One", "Old"]), &set(&["One", "New"]));
    assert_eq!(changed, ["-Old", "+New"]);
}

/// With `ORRERY_WRITE=1` the files are written instead.
#[test]
fn the_public_names_of_every_library_are_listed() {
    let write = std::env::var_os("ORRERY_WRITE").is_some();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for package in published() {
        let folder = folder(&package);
        let Ok(root) = fs::read_to_string(folder.join("src/lib.rs")) else {
            continue;
        };
        seen += 1;
        let is_later = WITHOUT_GROWTH.contains(&package.name.as_str());
        assert_ne!(
            root.contains(GROWTH),
            is_later,
            "{}: {GROWTH}",
            package.name
        );
        let found = names(&root);
        let path = folder.join("public-names.txt");
        if write {
            let lines: Vec<_> = found.iter().map(|name| format!("{name}\n")).collect();
            fs::write(&path, lines.concat()).unwrap();
        }
        let listed = fs::read_to_string(&path).unwrap_or_default();
        let listed = listed.lines().map(str::to_owned).collect();
        for change in changes(&listed, &found) {
            wrong.push(format!("{}: {change}", path.display()));
        }
        if let Some((_, most)) = MOST.iter().find(|(name, _)| *name == *package.name) {
            let items = found.iter().filter(|name| !name.starts_with("mod "));
            assert!(items.count() <= *most, "{found:?}");
        }
    }
    assert!(seen >= 10, "{seen} libraries");
    let wrong = wrong.join("\n");
    assert!(
        wrong.is_empty(),
        "to write the files: ORRERY_WRITE=1 cargo test -p xtask --test it names::\n{wrong}"
    );
}

/// The libraries that give each public name one path.
const ONE_PATH: [&str; 5] = [
    "bin-support",
    "hermitcrab-kernel",
    "popper-discovery",
    "pscale-blocks",
    "zer0gravity-engine",
];

#[test]
fn each_public_name_has_one_path() {
    let code = "pub mod a;\nmod b;\npub use a::{One, Two};\npub use a::c::Five;\npub use a::d::{Six};\npub use a::e::Seven;\npub use b::Three;\npub use crate::c::Four;\n";
    let module = |_: &str| "mod c;\nmod d;\npub mod e;\npub use d::Six;".to_owned();
    let expected = [
        "pub use a::{One, Two};",
        "pub use a::d::{Six};",
        "pub use a::e::Seven;",
        "pub use crate::c::Four;",
    ];
    assert_eq!(second_paths(code, module), expected);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    for library in ONE_PATH {
        let mut files = Vec::new();
        sources(&crates.join(library).join("src"), &mut files);
        assert!(files.len() > 20, "{library}");
        for file in files {
            let code = fs::read_to_string(&file).unwrap();
            let folder = file.parent().unwrap();
            let module = |name: &str| {
                let paths = [format!("{name}.rs"), format!("{name}/mod.rs")];
                let mut read = paths
                    .iter()
                    .filter_map(|path| fs::read_to_string(folder.join(path)).ok());
                read.next().unwrap()
            };
            assert_eq!(second_paths(&code, module), [""; 0], "{}", file.display());
        }
    }
}

/// The types besides the enums of laws that may get another field or variant without a new major version.
const OPEN: &[(&str, &str)] = &[
    (
        "logosphere-core/src/measures/analysis.rs",
        "pub struct AnalysisPlan {",
    ),
    (
        "logosphere-core/src/run/control.rs",
        "pub struct RunControl {",
    ),
    ("logosphere-core/src/mind/call.rs", "pub struct MindError {"),
    (
        "logosphere-core/src/journal/reply.rs",
        "pub struct MindReply {",
    ),
    (
        "logosphere-core/src/journal/reply.rs",
        "pub struct TokenUse {",
    ),
    (
        "logosphere-core/src/verify/resume.rs",
        "pub struct ResumedRun {",
    ),
    (
        "logosphere-core/src/config/settings.rs",
        "pub struct Caps {",
    ),
    (
        "logosphere-core/src/config/settings.rs",
        "pub struct Effective {",
    ),
    (
        "logosphere-core/src/config/settings.rs",
        "pub struct Options {",
    ),
    (
        "logosphere-core/src/config/settings.rs",
        "pub struct Settings {",
    ),
    (
        "logosphere-core/src/config/settings.rs",
        "pub struct StopRules {",
    ),
    (
        "logosphere-core/src/verify/transcript.rs",
        "pub struct MindCall {",
    ),
    (
        "logosphere-core/src/verify/transcript.rs",
        "pub struct Message {",
    ),
    (
        "logosphere-core/src/verify/transcript.rs",
        "pub struct EndedRound {",
    ),
    (
        "logosphere-core/src/verify/transcript.rs",
        "pub struct Transcript {",
    ),
    (
        "popper-discovery/src/discovery/observer.rs",
        "pub enum Event<'a> {",
    ),
    (
        "popper-discovery/src/snapshot/proposer.rs",
        "pub enum Step {",
    ),
    ("popper-harness/src/decide/config.rs", "pub struct Config {"),
    (
        "popper-harness/src/decide/generators.rs",
        "pub enum CaseFamily {",
    ),
    (
        "popper-harness/src/decide/verdict.rs",
        "pub enum UnknownReason {",
    ),
    ("popper-harness/src/decide/verdict.rs", "pub struct Power {"),
    (
        "popper-harness/src/decide/verdict.rs",
        "pub struct Verdict {",
    ),
];

/// The structs of the engine with public fields that callers write as a literal: the numbers of a formula.
const CLOSED: [&str; 1] = ["TokenPair"];

/// The structs with public fields that other crates can write as a literal, so that another field breaks them.
fn literals(code: &str) -> Vec<&str> {
    let structs = closed(code, "pub struct ").into_iter();
    structs
        .filter(|line| {
            let body = code.split_once(line).map_or("", |(_, rest)| rest);
            let body = body.split_once("\n}").map_or("", |(body, _)| body);
            line.ends_with('{') && body.contains("\n    pub ")
        })
        .collect()
}

#[test]
fn callers_of_the_engine_write_no_struct_that_will_grow() {
    let code = "pub struct One {\n    pub a: u8,\n}\n#[non_exhaustive]\npub struct Two {\n    pub a: u8,\n}\npub struct Three {\n    a: u8,\n}\n";
    assert_eq!(literals(code), ["pub struct One {"]);
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/zer0gravity-engine/src");
    let mut files = Vec::new();
    sources(&engine, &mut files);
    let mut open = 0;
    for file in files {
        let code = fs::read_to_string(&file).unwrap();
        let mut found = literals(&code);
        found.retain(|line| !CLOSED.iter().any(|name| line.contains(name)));
        assert_eq!(found, [""; 0], "{}", file.display());
        open += code.matches("#[non_exhaustive]\npub struct ").count();
    }
    assert!(open >= 90, "{open} open structs");
}

/// The lines that begin an item of this kind with no `#[non_exhaustive]` in front of it.
fn closed<'a>(code: &'a str, item: &str) -> Vec<&'a str> {
    let mut is_open = false;
    let mut closed = Vec::new();
    for line in code.lines() {
        if line.starts_with(item) && !is_open {
            closed.push(line);
        }
        let is_head = line.starts_with("#[") || line.starts_with("///");
        is_open = line == "#[non_exhaustive]" || (is_open && is_head);
    }
    closed
}

#[test]
fn types_that_will_grow_are_non_exhaustive() {
    let code = "#[non_exhaustive]\n/// One.\npub enum One {\n}\npub enum Two {\n}\n";
    assert_eq!(closed(code, "pub enum "), ["pub enum Two {"]);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let read = |file: &Path| fs::read_to_string(file).unwrap();
    for &(file, item) in OPEN {
        let code = read(&crates.join(file));
        assert!(code.contains(&format!("\n{item}\n")), "{file}: {item}");
        assert_eq!(closed(&code, item), [""; 0], "{file}");
    }
    let events = read(&crates.join("logosphere-core/src/journal/event.rs"));
    assert_eq!(closed(&events, "pub struct "), [""; 0]);
    let mut enums = 0;
    let mut laws = Vec::new();
    sources(&crates.join("popper-harness/src/law"), &mut laws);
    for path in laws {
        let code = read(&path);
        assert_eq!(closed(&code, "pub enum "), [""; 0], "{}", path.display());
        enums += code.matches("\npub enum ").count();
    }
    assert!(enums >= 15, "{enums} enums of laws");
}
