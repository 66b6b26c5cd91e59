//! A3: from text to block and back.

use proptest::prelude::*;
use pscale_blocks::{Block, MAX_DEPTH, render_json};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::random;

fn reasons(json: &str) -> Vec<String> {
    let errors = Block::parse(json).unwrap_err();
    errors.issues.iter().map(ToString::to_string).collect()
}

#[test]
fn every_fault_is_told_with_its_node() {
    let json = r#"{"decimal":1,"name":"x","tree":{"0":{"_":"a","1":null,"12":"b","2":{"3":[1],"3":{}},"4":{"_":7,"_":"t"}}}}"#;
    insta::assert_snapshot!("faults", reasons(json).join("\n"));
    let (block, issues) = Block::parse_lenient(json).unwrap();
    assert_eq!(issues.len(), reasons(json).len());
    assert_eq!(
        render_json(&block),
        r#"{"decimal":1,"tree":{"0":{"_":"a","4":"t"}}}"#
    );
    let dropped: Vec<_> = issues
        .iter()
        .filter_map(|issue| issue.content.as_deref())
        .collect();
    assert_eq!(dropped, [r#""x""#, "null", r#""b""#, "[1]", "{}", "7"]);
}

#[test]
fn lenient_reading_needs_a_decimal_and_a_node() {
    for json in [
        "",
        "7",
        "{}",
        r#"{"tree":{"0":"a"}}"#,
        r#"{"decimal":33,"tree":{"0":"a"}}"#,
        r#"{"decimal":1.5,"tree":{"0":"a"}}"#,
        r#"{"decimal":1,"tree":{"x":"a"}}"#,
        r#"{"decimal":1,"tree":{"_":"a"}}"#,
    ] {
        assert_eq!(
            Block::parse_lenient(json).unwrap_err().kind(),
            "format",
            "{json}"
        );
    }
}

#[test]
fn tree_with_a_text_alone_is_a_block_with_decimal_0() {
    let json = r#"{"decimal":0,"tree":{"_":"All there is."}}"#;
    let mut block = Block::parse(json).unwrap();
    assert_eq!(render_json(&block), json);
    assert_eq!(block.head_text(), Some("All there is."));
    let change = block.write(&"1".parse().unwrap(), "More.").unwrap();
    block.revert(&change.inverse);
    assert_eq!(render_json(&block), json);
}

#[test]
fn file_has_one_form() {
    let json = r#"  {"tree":{"0":{"9":{"_":"leaf"},"1":"é \"\n","_":"head"}},"decimal":1}  "#;
    insta::assert_snapshot!("file", Block::parse(json).unwrap().to_file());
}

/// A chain of nodes as deep as this.
fn deep(levels: usize) -> String {
    let tree = (0..levels).fold(json!("end"), |node, _| json!({ "1": node }));
    json!({"decimal": 1, "tree": tree}).to_string()
}

#[test]
fn deepest_node_is_32_levels_down() {
    assert!(Block::parse(&deep(MAX_DEPTH)).is_ok());
    assert!(reasons(&deep(MAX_DEPTH + 1))[0].contains("below depth 32"));
    for levels in [100, 200, 100_000] {
        assert!(Block::parse(&deep_text(levels)).is_err());
        assert!(Block::parse_lenient(&deep_text(levels)).is_err());
    }
}

/// As `deep`, for more levels than a value of JSON can have.
fn deep_text(levels: usize) -> String {
    format!(
        r#"{{"decimal":1,"tree":{}"end"{}}}"#,
        r#"{"1":"#.repeat(levels),
        "}".repeat(levels)
    )
}

/// The text of a block with something changed in it.
fn spoiled() -> impl Strategy<Value = String> {
    let parts = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "null",
        "1",
        "-1",
        "\"_\":",
        "\"0\":",
        "\"00\":",
        "\"decimal\":",
        "\\u0000",
        "\\ud800",
        " ",
        "\u{feff}",
        "1e999",
    ];
    let edits = proptest::collection::vec(
        (
            any::<prop::sample::Index>(),
            any::<bool>(),
            prop::sample::select(parts.to_vec()),
        ),
        0..4,
    );
    (random::block(), edits).prop_map(|(block, edits)| {
        let mut json = render_json(&block);
        for (at, cut, part) in edits {
            let at = json.floor_char_boundary(at.index(json.len() + 1));
            if cut {
                json.truncate(at);
            }
            json.insert_str(at, part);
        }
        json
    })
}

/// The rules of the format, on the parsed value and without our code. Keys that are there twice are not seen here.
fn in_the_format(value: &Value) -> bool {
    fn node(value: &Value, depth: usize) -> bool {
        match value {
            Value::String(text) => text.len() <= 64 << 10 && !text.contains('\0'),
            Value::Object(entries) => {
                !entries.is_empty()
                    && entries.iter().all(|(key, value)| match key.as_str() {
                        "_" => value.is_string() && node(value, depth),
                        "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" => {
                            depth < 32 && node(value, depth + 1)
                        }
                        _ => false,
                    })
            }
            _ => false,
        }
    }
    let Some(fields) = value.as_object() else {
        return false;
    };
    let decimal = value["decimal"].as_u64();
    fields.len() == 2
        && decimal.is_some_and(|decimal| {
            decimal <= 32 && (decimal == 0 || value["tree"].get("_").is_none())
        })
        && value["tree"].is_object()
        && node(&value["tree"], 0)
}

/// A branch with a text alone is a leaf.
fn normal(value: &Value) -> Value {
    match value.as_object() {
        Some(entries) if entries.len() == 1 && entries.contains_key("_") => entries["_"].clone(),
        Some(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), normal(value)))
            .collect(),
        None => value.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn any_bytes_are_a_block_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(Block::parse(&text).is_err());
        prop_assert!(Block::parse_lenient(&text).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn strict_accepts_what_is_in_the_format_and_nothing_else(json in spoiled()) {
        let value: Option<Value> = serde_json::from_str(json.strip_prefix('\u{feff}').unwrap_or(&json)).ok();
        let strict = Block::parse(&json);
        match (value, &strict) {
            (Some(value), Ok(block)) => {
                prop_assert!(in_the_format(&value));
                let tree: Value = value["tree"].as_object().unwrap().iter().map(|(key, value)| (key.clone(), normal(value))).collect();
                prop_assert_eq!(serde_json::to_value(block).unwrap(), json!({"decimal": value["decimal"], "tree": tree}));
            }
            (Some(value), Err(errors)) => {
                let twice = errors.issues.iter().any(|issue| issue.reason.contains("twice"));
                prop_assert!(twice || !in_the_format(&value), "{errors}");
            }
            (None, strict) => prop_assert!(strict.is_err()),
        }
        // What the lenient reader keeps is a block, and it is the same block where nothing is wrong.
        if let Ok((kept, issues)) = Block::parse_lenient(&json) {
            prop_assert_eq!(&Block::parse(&kept.to_file()).unwrap(), &kept);
            prop_assert_eq!(issues.is_empty(), strict.is_ok());
        }
    }
}

proptest! {
    #[test]
    fn file_and_json_read_back(block in random::block()) {
        for text in [block.to_file(), render_json(&block), format!("\u{feff}{}", block.to_file())] {
            let read = Block::parse(&text).unwrap();
            prop_assert_eq!(&read, &block);
            prop_assert_eq!(read.hash(), block.hash());
        }
        prop_assert_eq!(block.file_bytes(), block.to_file().len());
        prop_assert_eq!(Block::parse(&block.to_file()).unwrap().to_file(), block.to_file());
    }
}

proptest! {
    #[test]
    fn file_and_hash_are_those_of_plain_json(block in random::block()) {
        let file = serde_json::to_string_pretty(&block).unwrap() + "\n";
        prop_assert_eq!(block.file_bytes(), file.len());
        prop_assert_eq!(block.to_file(), file);
        let hash: [u8; 32] = Sha256::digest(render_json(&block)).into();
        prop_assert_eq!(block.hash(), hash);
    }
}

#[test]
fn every_character_is_escaped_as_in_plain_json() {
    let mut text: String = ('\u{1}'..='\u{17f}').collect();
    text += &"a piece without an escape, and longer ".repeat(3);
    for begin in 0..40 {
        let block = Block::new("x".repeat(begin) + &text + "\"");
        let file = serde_json::to_string_pretty(&block).unwrap() + "\n";
        assert_eq!(block.to_file(), file);
    }
}
