//! Section 2: the six blocks of a new instance, node by node.

use std::collections::BTreeMap;

use hermitcrab_kernel::prompt::{CoreBlock, FIXED_LINE};
use hermitcrab_kernel::table::tool_groups;
use pscale_blocks::{Block, BlockError, NodeLine, O200k, Path, TokenCounter as _, render_json};
use serde_json::Value;

use crate::texts::{self, Place};

/// A row of the table: how long the texts of each level may be, and how many nodes stand below each signpost.
struct Row {
    block: CoreBlock,
    head: usize,
    signpost: usize,
    detail: usize,
    below: &'static [usize],
    longer: &'static [(&'static str, usize)],
}

const TABLE: [Row; 6] = [
    Row {
        block: CoreBlock::Keystone,
        head: 50,
        signpost: 8,
        detail: 22,
        below: &[4, 4, 4, 4, 3],
        longer: &[],
    },
    Row {
        block: CoreBlock::Constitution,
        head: 80,
        signpost: 28,
        detail: 110,
        below: &[5, 1, 3, 1, 3, 4],
        longer: &[("0.6.2", 220), ("0.6.3", 260)],
    },
    Row {
        block: CoreBlock::Capabilities,
        head: 60,
        signpost: 34,
        detail: 110,
        below: &[4, 6, 5, 4, 7, 7, 4],
        longer: &[],
    },
    Row {
        block: CoreBlock::Memory,
        head: 80,
        signpost: 0,
        detail: 0,
        below: &[],
        longer: &[],
    },
    Row {
        block: CoreBlock::Skills,
        head: 45,
        signpost: 30,
        detail: 110,
        below: &[4, 3, 3, 2, 2, 3],
        longer: &[],
    },
    Row {
        block: CoreBlock::Network,
        head: 45,
        signpost: 25,
        detail: 110,
        below: &[2, 2, 2, 3],
        longer: &[],
    },
];

/// The explanations of each node of the capabilities: tools with their signatures, and props.
const EXPLAINED: &[(&str, &[&str])] = &[
    ("0.1.1", &["callLLM", "call_llm"]),
    ("0.1.2", &["callAPI"]),
    ("0.1.3", &["callWithToolLoop"]),
    ("0.1.4", &["model", "fastModel", "usage"]),
    ("0.2.1", &["block_read"]),
    ("0.2.2", &["block_write"]),
    ("0.2.3", &["block_list"]),
    ("0.2.4", &["block_create"]),
    ("0.2.5", &["block_append", "block_grow"]),
    (
        "0.2.6",
        &[
            "block_move",
            "block_remove",
            "block_search",
            "block_log",
            "block_undo",
            "block_redo",
        ],
    ),
    ("0.3.1", &["get_source", "shell_list"]),
    ("0.3.2", &["recompile", "shell_use"]),
    ("0.3.3", &["patch_source"]),
    ("0.3.4", &["set_tools"]),
    ("0.3.5", &["conversation.load", "conversation_read"]),
    ("0.4.1", &["web_search"]),
    ("0.4.2", &["web_fetch"]),
    ("0.4.3", &["web_request"]),
    ("0.4.4", &["open_tab"]),
    ("0.5.1", &["fs_pick_directory"]),
    ("0.5.2", &["fs_list"]),
    ("0.5.3", &["fs_read"]),
    ("0.5.4", &["fs_write"]),
    ("0.5.5", &["fs_mkdir"]),
    ("0.5.6", &["fs_delete"]),
    ("0.5.7", &["idb_get", "idb_put", "idb_list", "idb_delete"]),
    ("0.6.1", &["clipboard_read", "clipboard_write"]),
    ("0.6.2", &["speak"]),
    ("0.6.3", &["listen"]),
    ("0.6.4", &["notify"]),
    ("0.6.5", &["download"]),
    ("0.6.6", &["get_geolocation"]),
    ("0.6.7", &["get_datetime"]),
];

/// Left free for the name of the instance.
const FREE: [&str; 2] = ["0.5.4", "0.5.5"];

#[test]
fn the_nodes_are_those_of_the_table() {
    for row in TABLE {
        let mut expected = vec!["0".to_owned()];
        for (index, below) in row.below.iter().enumerate() {
            expected.push(format!("0.{}", index + 1));
            expected.extend((1..=*below).map(|digit| format!("0.{}.{digit}", index + 1)));
        }
        let found: Vec<_> = nodes(row.block)
            .iter()
            .map(|s| s.path.to_string())
            .collect();
        assert_eq!(found, expected, "{}", row.block.name());
        assert_eq!(row.block.embedded().decimal(), 1);
    }
    assert_eq!(CoreBlock::Keystone.embedded().nodes(), 25);
    for free in FREE {
        let there = CoreBlock::Constitution.embedded().text(&path(free));
        assert!(there.is_err(), "{free} is not free");
    }
}

#[test]
fn every_text_keeps_to_its_length() {
    for row in TABLE {
        let longer: BTreeMap<_, _> = row.longer.iter().copied().collect();
        for step in nodes(row.block) {
            let place = step.path.to_string();
            let limit = longer
                .get(place.as_str())
                .copied()
                .unwrap_or(match step.path.depth() {
                    1 => row.head,
                    2 => row.signpost,
                    _ => row.detail,
                });
            let text = step.text.unwrap_or_default();
            let tokens = O200k.count(&text);
            let name = row.block.name();
            assert!(tokens > 0, "{name} {place} has no text");
            assert!(
                tokens <= limit,
                "{name} {place}: {tokens} tokens, {limit} allowed"
            );
        }
    }
}

#[test]
fn the_files_are_in_normal_form_and_have_their_hashes() {
    for core in CoreBlock::ALL {
        let block = Block::parse(core.file()).unwrap();
        assert_eq!(block.to_file(), core.file(), "{}", core.name());
        assert_eq!(&block, core.embedded());
        let hash = block.hash().map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(hash, core.sha256(), "{}", core.name());
    }
}

#[test]
fn only_tools_props_and_groups_that_exist_are_named() {
    for place in all_texts() {
        let unknown = texts::unknown_names(&place);
        assert!(unknown.is_empty(), "{place}: {unknown:?}");
    }
}

/// The two tests around this one find what they are for.
#[test]
fn names_that_do_not_exist_are_found() {
    let text = "Call blockReed(name), block_reed or `evil`; see browser.vibrate and props.key. \
                fs_list(root, path), group store, is in group shells; memory 0.7 and 0.6.1 say more.";
    let place = Place::new("constitution", "0.9", Some(text.to_owned()));
    let expected = [
        "block_reed",
        "blockReed",
        "browser.vibrate",
        "evil",
        "group shells",
        "props.key",
    ];
    let mut unknown = texts::unknown_names(&place);
    unknown.sort_by_key(|name| name.to_lowercase().replace('_', " "));
    assert_eq!(unknown, expected);
    let stated = [("fs_list".to_owned(), "store".to_owned())];
    assert_eq!(texts::stated_groups(text), stated);
    let paths = [("memory", "0.7"), ("constitution", "0.6.1")]
        .map(|(block, path)| (block.to_owned(), path.to_owned()));
    assert_eq!(texts::paths(&place), paths);

    let tool = hermitcrab_kernel::table::tool("call_llm").unwrap();
    let right = "call_llm(prompt, system?, model?: \"default\" or \"fast\", max_tokens?: int)";
    assert_eq!(texts::signature_fault(right, tool), None);
    for wrong in [
        "call_llm",
        "call_llm(prompt, system?, model?, max_tokens?)",
        "call_llm(prompt, system, model?, max_tokens?: int)",
        "call_llm(prompt, model?, max_tokens?: int)",
        "call_llm(prompt, system?, model?, max_tokens?: int, effort?)",
        "call_llm(prompt, system?, model?: \"slow\", max_tokens?: int)",
    ] {
        assert!(texts::signature_fault(wrong, tool).is_some(), "{wrong}");
    }
}

#[test]
fn every_signature_is_that_of_the_tool() {
    let capabilities = CoreBlock::Capabilities.embedded();
    for (place, names) in EXPLAINED {
        let text = capabilities.text(&path(place)).unwrap().unwrap();
        for name in *names {
            assert!(texts::names(text, name), "{place} does not name {name}");
            if let Some(tool) = hermitcrab_kernel::table::tool(name) {
                let fault = texts::signature_fault(text, tool);
                assert_eq!(fault, None, "{place}: {name}");
            }
        }
    }
    let explained: Vec<_> = EXPLAINED.iter().flat_map(|(_, names)| *names).collect();
    for tool in tool_groups().iter().flat_map(|group| &group.tools) {
        assert!(
            explained.contains(&&tool.name.as_str()),
            "{} is nowhere explained",
            tool.name
        );
    }
}

#[test]
fn a_tool_is_said_to_be_in_its_own_group() {
    for place in all_texts() {
        for (tool, group) in texts::stated_groups(&place.text) {
            let known = hermitcrab_kernel::table::tool_group(&group);
            assert!(
                known.iter().any(|t| t.name == tool),
                "{place}: {tool} is not in {group}"
            );
        }
    }
}

#[test]
fn every_path_that_is_mentioned_resolves() {
    let mut count = 0;
    for place in all_texts() {
        for (block, mentioned) in texts::paths(&place) {
            count += 1;
            let target = CoreBlock::ALL
                .into_iter()
                .find(|core| core.name().as_str() == block)
                .unwrap_or_else(|| panic!("{place} mentions a block {block}"));
            if target == CoreBlock::Constitution && FREE.contains(&mentioned.as_str()) {
                continue;
            }
            let there = target.embedded().text(&path(&mentioned));
            assert!(there.is_ok(), "{place} mentions {block} {mentioned}");
        }
    }
    assert!(count > 15, "only {count} paths were found in the texts");
}

#[test]
fn the_shell_contract_lists_the_props_and_nothing_else() {
    let text = text_of(CoreBlock::Constitution, "0.6.2");
    for prop in texts::props() {
        assert!(texts::lists_prop(&text, prop), "{prop} is missing");
    }
    let pattern = text_of(CoreBlock::Constitution, "0.6.3");
    for expected in [
        "function App(props)",
        "value={text}",
        "\"Enter\"",
        "disabled={busy}",
        "{error",
    ] {
        assert!(pattern.contains(expected), "{expected}");
    }
}

/// A head is sent with every call: an order in it would be obeyed again and again.
#[test]
fn a_face_is_asked_for_only_when_none_is_running() {
    let head = text_of(CoreBlock::Constitution, "0");
    assert!(
        head.contains("When no face is running, write one"),
        "{head}"
    );
    assert_eq!(head.matches("write").count(), 1);
    for kept in [
        "A person is present",
        "emancipating",
        "pscale",
        "Fulcrum",
        "Limn",
        "drives",
    ] {
        assert!(head.contains(kept), "{kept}");
    }
}

#[test]
fn what_explains_a_tool_has_an_example_and_a_failure() {
    for row in TABLE {
        if row.block == CoreBlock::Keystone {
            continue;
        }
        for step in nodes(row.block)
            .iter()
            .filter(|step| step.path.depth() == 3)
        {
            let text = step.text.as_deref().unwrap();
            let place = format!("{} {}", row.block.name(), step.path);
            if row
                .longer
                .iter()
                .any(|(path, _)| step.path.to_string() == *path)
            {
                continue;
            }
            assert!(text.contains("Failure"), "{place} has no failure");
            assert!(text.contains("Example"), "{place} has no example");
        }
    }
    for step in nodes(CoreBlock::Network) {
        if step.path.depth() == 3 {
            let text = step.text.unwrap();
            assert!(
                text.starts_with("No tool ") && text.contains(" yet. By hand: "),
                "{text}"
            );
        }
    }
    for step in nodes(CoreBlock::Capabilities) {
        if step.path.depth() == 2 {
            let text = step.text.unwrap();
            assert!(text.contains(" Group"), "{text} ends without a group");
        }
    }
}

#[test]
fn the_keystone_has_the_nodes_of_the_vectors() {
    let vectors = std::fs::read(test_support::fixture("hermitcrab/vectors/vectors.json")).unwrap();
    let vectors: Value = serde_json::from_slice(&vectors).unwrap();
    let cases = vectors["path_read"].as_array().unwrap();
    let keystone = CoreBlock::Keystone.embedded();
    let mut seen = 0;
    for case in cases.iter().filter(|case| case["block"] == "keystone") {
        seen += 1;
        let expected = &case["expected"];
        match keystone.view(&path(case["path"].as_str().unwrap())) {
            Ok(view) => {
                assert_eq!(expected["found"], true, "{case}");
                let digits: Vec<_> = view
                    .children
                    .iter()
                    .flatten()
                    .map(|c| c.0.to_string())
                    .collect();
                assert_eq!(
                    expected["children_digits"],
                    serde_json::json!(digits),
                    "{case}"
                );
            }
            Err(BlockError::NotFound { deepest, .. }) => {
                assert_eq!(expected["error"], "not_found", "{case}");
                assert_eq!(expected["deepest"], deepest.to_string(), "{case}");
            }
            Err(other) => panic!("{case}: {other}"),
        }
    }
    assert_eq!(seen, 10);
    assert!(O200k.count(&render_json(keystone)) <= 640);
}

fn nodes(core: CoreBlock) -> Vec<NodeLine> {
    core.embedded().subtree(&Path::root(), None).unwrap()
}

fn text_of(core: CoreBlock, place: &str) -> String {
    core.embedded()
        .text(&path(place))
        .unwrap()
        .unwrap()
        .to_owned()
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

/// Every text that a model may read: of the blocks, of the tools, of the prompt.
fn all_texts() -> Vec<Place> {
    let blocks = CoreBlock::ALL.into_iter().flat_map(|core| {
        nodes(core)
            .into_iter()
            .map(move |step| Place::new(core.name().as_str(), &step.path.to_string(), step.text))
    });
    let tools = tool_groups()
        .iter()
        .flat_map(|group| &group.tools)
        .map(|tool| Place::new("tool", &tool.name, Some(tool.description.clone())));
    let lines = crate::prompt::boot_lines()
        .into_iter()
        .chain([FIXED_LINE.to_owned()]);
    let lines = lines.map(|line| Place::new("prompt", "line", Some(line)));
    blocks.chain(tools).chain(lines).collect()
}
