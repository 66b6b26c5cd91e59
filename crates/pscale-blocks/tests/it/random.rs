//! Random blocks, and blocks of a size.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use pscale_blocks::{Appended, Block, Summary, SummaryKind};
use serde_json::{Map, Value};

/// Texts with all that is special somewhere: in JSON, in lines, in Unicode, in frames.
pub fn text() -> impl Strategy<Value = String> {
    let words = [
        "larch",
        "on",
        "oak",
        "is",
        " ",
        " ",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\u{b}",
        "\u{1c}",
        "\u{85}",
        "\u{2028}",
        "\n== block memory (decimal 1)\n",
        "\n0.1 ",
        "\"",
        "\\",
        "{",
        "}",
        "漢字",
        "🐚",
    ];
    let part = prop_oneof![
        9 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => prop::char::range('\u{1}', char::MAX).prop_map(String::from),
    ];
    vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// A node as JSON in its normal form, at most `levels` levels high.
fn node(levels: u32) -> impl Strategy<Value = Value> {
    let leaf = text().prop_map(Value::from);
    leaf.prop_recursive(levels, 60, 5, |inner| {
        (
            proptest::option::of(text()),
            btree_map(0..10_u8, inner, 1..5),
        )
            .prop_map(|(text, children)| {
                let mut branch = Map::new();
                if let Some(text) = text {
                    branch.insert("_".to_owned(), text.into());
                }
                branch.extend(
                    children
                        .into_iter()
                        .map(|(digit, node)| (digit.to_string(), node)),
                );
                branch.into()
            })
    })
}

fn parse(decimal: u8, tree: &Value) -> Block {
    let json = serde_json::json!({"decimal": decimal, "tree": tree});
    Block::parse(&json.to_string()).unwrap()
}

/// A block with one top-level digit and a decimal of 1 to 6.
pub fn one_rooted() -> impl Strategy<Value = Block> {
    (1..7_u8, 0..10_u8, node(5)).prop_map(|(decimal, digit, head)| {
        parse(decimal, &serde_json::json!({ digit.to_string(): head }))
    })
}

/// A strategy for any block.
pub fn block() -> impl Strategy<Value = Block> {
    let several = (0..7_u8, btree_map(0..10_u8, node(4), 1..4)).prop_map(|(decimal, nodes)| {
        let tree: Map<_, _> = nodes
            .into_iter()
            .map(|(digit, node)| (digit.to_string(), node))
            .collect();
        parse(decimal, &tree.into())
    });
    let rooted = (text(), node(4))
        .prop_map(|(text, node)| parse(0, &serde_json::json!({"_": text, "1": node})));
    prop_oneof![3 => one_rooted(), 1 => several, 1 => rooted]
}

pub fn summary(text: impl Into<String>) -> Summary {
    Summary {
        kind: SummaryKind::Summary,
        text: text.into(),
    }
}

/// Appends, with as many summaries as it takes.
pub fn append(
    block: &mut Block,
    text: &str,
    summarise: impl Fn(&str) -> String,
) -> pscale_blocks::Path {
    let mut given = None;
    loop {
        match block.append(text, given.take()).unwrap() {
            Appended::Written { path, .. } => return path,
            Appended::NeedsSummary { at, .. } => given = Some(summary(summarise(&at.to_string()))),
        }
    }
}

/// A memory with this number of entries, and all their summaries.
pub fn memory(entries: usize) -> Block {
    let mut block = Block::new(
        "The memory of Kelp: what happened, oldest first. Summaries stand above their nine entries.",
    );
    for number in 1..=entries {
        let text = format!(
            "Entry {number}: we spoke about the boat, the keel and the weather, and decided to look at the timber again tomorrow."
        );
        append(&mut block, &text, |at| {
            format!(
                "Summary of what stands below {at}: nine quiet days of planking and caulking; Ilse keeps the ledger, launch is wanted before August."
            )
        });
    }
    block
}
