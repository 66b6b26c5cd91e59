//! One of everything: names that left llm-client stay away, and one thing is defined once.
//!
//! Not held: two places replace a file without `durable`, a granted folder of the kernel and the installed React of the face.

use std::fs;
use std::path::{Path, PathBuf};

use crate::packages::root;

/// Public names that llm-client had.
const GONE: [&str; 33] = [
    // The tool loop.
    "LoopBounds",
    "LoopError",
    "LoopOutcome",
    "LoopProgress",
    "LoopStop",
    "Step",
    "ToolResult",
    "Toolbox",
    "run_tools",
    // Replies that are asked for again.
    "Structured",
    "StructuredOpts",
    "find_json",
    "parse_json",
    "structured",
    "structured_value",
    // The chain of models, and requests and tokens per minute.
    "FallbackOn",
    "fallback",
    "fallback_on",
    "requests_per_minute",
    "tokens_per_minute",
    // Scripted models.
    "Rule",
    "RuleError",
    "RuleMatch",
    "RuleReply",
    "RuleTool",
    "Script",
    // What is no choice of the caller.
    "Bytes3",
    "Estimator",
    "Policy",
    "ProgressLimit",
    "SizeCaps",
    "SseDecoder",
    "SseEvent",
];

/// The definitions that the whole workspace has once, with their files.
const ONCE: [(&str, &str); 12] = [
    ("CallIds", "crates/llm-client/src/codec/ids.rs"),
    ("Clock", "crates/llm-types/src/clock.rs"),
    ("Echo", "crates/llm-client/src/offline.rs"),
    ("ErrorClass", "crates/llm-types/src/error_class.rs"),
    ("FakeClock", "crates/test-support/src/clock.rs"),
    ("FaultServer", "crates/test-support/src/server/mod.rs"),
    ("Provider", "crates/llm-client/src/provider/mod.rs"),
    ("Redactor", "crates/llm-client/src/redact.rs"),
    ("ScriptedModel", "crates/test-support/src/model.rs"),
    ("SystemClock", "crates/llm-types/src/clock.rs"),
    ("Usd", "crates/llm-types/src/cost.rs"),
    ("complete_reply", "crates/llm-client/src/client/finisher.rs"),
];

/// The Rust files under `folder`.
pub fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// The name that a line of code defines, and whether the definition is public.
fn defined(line: &str) -> Option<(&str, bool)> {
    let mut words = line.split_whitespace().peekable();
    let is_public = words.next_if_eq(&"pub").is_some();
    if !is_public {
        words.next_if(|word| word.starts_with("pub("));
    }
    while words
        .next_if(|word| matches!(*word, "async" | "const" | "unsafe"))
        .is_some()
    {}
    let kinds = ["enum", "fn", "mod", "static", "struct", "trait", "type"];
    words.next_if(|word| kinds.contains(word))?;
    let rest = words.next()?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some((&rest[..end.unwrap_or(rest.len())], is_public))
}

#[test]
fn a_definition_has_its_name() {
    assert_eq!(defined("pub struct Usd(pub i64);"), Some(("Usd", true)));
    assert_eq!(
        defined("    pub(crate) async fn run<T>("),
        Some(("run", false))
    );
    assert_eq!(defined("trait Provider: Send {"), Some(("Provider", false)));
    assert_eq!(defined("pub use a::Usd;"), None);
    assert_eq!(defined("// struct Usd"), None);
}

#[test]
fn what_left_llm_client_is_gone() {
    let package = root().join("crates/llm-client");
    let mut files = Vec::new();
    sources(&package.join("src"), &mut files);
    assert!(files.len() > 40);
    let mut back = Vec::new();
    for file in &files {
        for line in fs::read_to_string(file).unwrap().lines() {
            if let Some((name, true)) = defined(line)
                && GONE.contains(&name)
            {
                back.push(format!("{}: {name}", file.display()));
            }
        }
    }
    let listed = fs::read_to_string(package.join("public-names.txt")).unwrap();
    back.extend(
        listed
            .lines()
            .filter(|name| GONE.contains(name))
            .map(str::to_owned),
    );
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    for dependency in ["jsonschema", "schemars"] {
        if manifest.contains(dependency) {
            back.push(dependency.to_owned());
        }
    }
    assert!(back.is_empty(), "{back:#?}");
    assert!(!package.join("tests/it/purity.rs").exists());
}

#[test]
fn what_is_one_thing_is_defined_once() {
    let root = root();
    let mut files = Vec::new();
    for folder in ["bins", "crates"] {
        for package in fs::read_dir(root.join(folder)).unwrap() {
            sources(&package.unwrap().path().join("src"), &mut files);
        }
    }
    let mut found = Vec::new();
    for file in &files {
        let path = file.strip_prefix(&root).unwrap().to_string_lossy();
        for line in fs::read_to_string(file).unwrap().lines() {
            if let Some((name, _)) = defined(line) {
                let once = ONCE.iter().filter(|(one, _)| *one == name);
                found.extend(once.map(|(one, _)| (*one, path.replace('\\', "/"))));
            }
        }
    }
    found.sort();
    let expected: Vec<_> = ONCE.map(|(name, file)| (name, file.to_owned())).into();
    assert_eq!(found, expected);
}

/// The files of logosphere-core that may name an event: they define, write, read, make or apply events. All other
/// readers of a run are observers of the one fold.
const EVENTS: [&str; 11] = [
    "journal/file.rs",
    "journal/line.rs",
    "journal/read.rs",
    "journal/sink.rs",
    "run/calls.rs",
    "run/orchestrator.rs",
    "run/recorder.rs",
    "state.rs",
    "verify/fold.rs",
    "verify/process.rs",
    "verify/rebuild.rs",
];

#[test]
fn l31_events_of_a_journal_are_matched_by_the_fold_alone() {
    let source = root().join("crates/logosphere-core/src");
    let mut files = Vec::new();
    sources(&source, &mut files);
    let names_an_event = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        // The events of XML have the same name.
        if text.contains("use quick_xml") {
            return false;
        }
        let code = text.lines().map(str::trim_start);
        code.filter(|line| !line.starts_with("//")).any(|line| {
            let mut before = line.split("Event::");
            let first = before.next().unwrap_or_default();
            before.next().is_some() && !first.ends_with(char::is_alphanumeric)
        })
    };
    let mut found: Vec<_> = (files.iter().filter(|file| names_an_event(file)))
        .map(|file| file.strip_prefix(&source).unwrap().to_str().unwrap())
        .collect();
    found.sort_unstable();
    assert_eq!(found, EVENTS);
}
