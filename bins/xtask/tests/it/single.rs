//! One of everything: names that left llm-client stay away, and one thing is defined once.
//!
//! Not held: two places replace a file without `durable`, a granted folder of the kernel and the installed React of the face.

use std::fs;

use crate::definitions::definitions;
use crate::packages::root;
use crate::rust_source::{folders, sources};

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
const ONCE: [(&str, &str); 14] = [
    ("CallIds", "crates/llm-client/src/codec/ids.rs"),
    ("Clock", "crates/llm-types/src/clock.rs"),
    ("Echo", "crates/llm-client/src/offline.rs"),
    ("ErrorClass", "crates/llm-types/src/error_class.rs"),
    ("FakeClock", "crates/test-support/src/clock.rs"),
    ("FaultServer", "crates/test-support/src/server/mod.rs"),
    ("KeyForms", "crates/llm-types/src/keys.rs"),
    ("KeyGates", "crates/hermitcrab-kernel/src/storage/gates.rs"),
    ("Provider", "crates/llm-client/src/provider/mod.rs"),
    ("Redactor", "crates/llm-client/src/redact.rs"),
    ("ScriptedModel", "crates/test-support/src/model.rs"),
    ("SystemClock", "crates/llm-types/src/clock.rs"),
    ("Usd", "crates/llm-types/src/cost.rs"),
    ("complete_reply", "crates/llm-client/src/client/finisher.rs"),
];

#[test]
fn what_left_llm_client_is_gone() {
    let package = root().join("crates/llm-client");
    let mut back = Vec::new();
    for source in sources("crates/llm-client") {
        let mut names = definitions(&source);
        names.retain(|it| it.is_item() && it.is_public && GONE.contains(&it.name.as_str()));
        back.extend(
            names
                .iter()
                .map(|it| format!("{}: {}", source.path.display(), it.name)),
        );
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
    let mut found = Vec::new();
    for source in folders().iter().flat_map(|folder| sources(folder)) {
        let path = source.path.strip_prefix(&root).unwrap().to_string_lossy();
        for definition in definitions(&source).iter().filter(|it| it.is_item()) {
            let once = ONCE.iter().filter(|(one, _)| *one == definition.name);
            found.extend(once.map(|(one, _)| (*one, path.replace('\\', "/"))));
        }
    }
    found.sort();
    let expected: Vec<_> = ONCE.map(|(name, file)| (name, file.to_owned())).into();
    assert_eq!(found, expected);
}

/// The functions that take keys out of a text, and what they search for.
const REDACTION: [&str; 5] = [
    "KeyForms",
    "redact",
    "redact_exact",
    "redact_written",
    "remove_keys",
];

/// The files of hermitcrab that may call them.
const GATES: [&str; 6] = [
    // The gates of the kernel: to the disk, and to the model and the page.
    "crates/hermitcrab-kernel/src/storage/gates.rs",
    // The gate of a block store.
    "crates/pscale-blocks/src/store/secrets.rs",
    // They run without a kernel: the MCP server answers its client, the others read what a file or the person brings.
    "bins/hermitcrab/src/commands/block/create.rs",
    "crates/bin-support/src/mcp/text.rs",
    "bins/hermitcrab/src/takeover.rs",
    "crates/hermitcrab-migrate/src/export.rs",
];

#[test]
fn h61_keys_are_taken_out_of_texts_at_the_gates_alone() {
    let root = root();
    let mut found = Vec::new();
    for folder in folders() {
        let others = ["crates/bin-support", "crates/pscale-blocks"];
        if !folder.contains("hermitcrab") && !others.contains(&&*folder) {
            continue;
        }
        for source in sources(&folder) {
            let code = source.tokens.to_string();
            let calls = code.split(' ').any(|word| REDACTION.contains(&word));
            let imports = code.contains("pub use secrets");
            if calls && !imports {
                let path = source.path.strip_prefix(&root).unwrap();
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    let mut expected = GATES.to_vec();
    expected.sort_unstable();
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
    "verify/fold.rs",
    "verify/process.rs",
    "verify/rebuild.rs",
    "verify/state/run_state.rs",
];

#[test]
fn l31_events_of_a_journal_are_matched_by_the_fold_alone() {
    let folder = root().join("crates/logosphere-core/src");
    let mut found = sources("crates/logosphere-core");
    found.retain(|source| {
        let code = source.tokens.to_string();
        // The events of XML have the same name.
        let is_xml = code.contains("use quick_xml");
        !is_xml
            && code
                .split(' ')
                .zip(code.split(' ').skip(1))
                .any(|it| it == ("Event", "::"))
    });
    let found = found
        .iter()
        .map(|it| it.path.strip_prefix(&folder).unwrap().to_str().unwrap());
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    assert_eq!(found, EVENTS);
}
