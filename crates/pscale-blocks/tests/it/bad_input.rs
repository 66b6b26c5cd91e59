//! The bad input that the specification lists, as far as it concerns one block; the tests of the stores have the rest.

use pscale_blocks::{
    Block, BlockError, BlockName, MAX_FILE, MAX_NODES, MAX_TEXT, NameError, Path, PathError,
};
use serde_json::{Value, json};

use crate::random::summary;

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

fn path_error(text: &str) -> (PathError, &'static str) {
    let error = text.parse::<Path>().unwrap_err();
    (error, BlockError::from(error).kind())
}

#[test]
fn blocks() {
    for json in [
        "{}",
        r#"{"decimal":33,"tree":{"0":"a"}}"#,
        "",
        "\u{feff}",
        "[]",
        "null",
    ] {
        assert_eq!(Block::parse(json).unwrap_err().kind(), "format", "{json}");
    }
    let error = Block::parse("{}").unwrap_err().to_string();
    assert_eq!(
        error,
        "not a block: decimal is a whole number from 0 to 32, here it is missing; tree is missing"
    );
}

#[test]
fn paths() {
    for (text, at) in [
        ("0..3", 2),
        ("0.", 2),
        (".3", 0),
        (" 0", 0),
        ("0,3", 1),
        ("0.-1", 2),
        ("0._", 2),
        ("é", 0),
        ("0.３", 2),
        ("0.3\n", 3),
        (".", 0),
    ] {
        assert_eq!(
            path_error(text),
            (PathError::Bad { at }, "bad_path"),
            "{text:?}"
        );
    }
    assert_eq!(
        path_error(&"1".repeat(33)),
        (PathError::TooDeep, "too_deep")
    );
    let error = serde_json::from_str::<Path>("0.10")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(r#"a path in quotes, such as "0.3.1""#),
        "{error}"
    );
}

#[test]
fn edits() {
    let mut block = Block::new("head");
    let before = block.clone();
    let write = |block: &mut Block, at: &str, text: &str| block.write(&path(at), text).unwrap_err();
    assert_eq!(write(&mut block, "0.1", " "), BlockError::EmptyContent);
    assert_eq!(
        write(&mut block, "0.1", "\u{2003}\n"),
        BlockError::EmptyContent
    );
    let new_root = BlockError::NewRoot {
        path: path("2.1"),
        head: path("0"),
    };
    assert_eq!(write(&mut block, "2.1", "text"), new_root);
    assert_eq!(write(&mut block, "0.1", "a\0b").kind(), "format");
    assert_eq!(write(&mut block, "", "text").kind(), "new_root");
    let long = "x".repeat(MAX_TEXT + 1);
    let too_large = BlockError::TooLarge {
        what: "text in bytes",
        limit: MAX_TEXT,
        size: MAX_TEXT + 1,
    };
    assert_eq!(write(&mut block, "0.1", &long), too_large);
    assert_eq!(block.append(&long, None), Err(too_large.clone()));
    assert_eq!(block.grow(&summary("s")), Err(BlockError::NothingToGrow));
    assert_eq!(block.remove(&path("0")).unwrap_err().kind(), "not_empty");
    assert_eq!(block.remove(&path("0.1")).unwrap_err().kind(), "not_found");
    assert_eq!(block, before);
    assert!(block.write(&path("0.1"), &"x".repeat(MAX_TEXT)).is_ok());
    assert_eq!(block.grow(&summary(" \t")), Err(BlockError::EmptyContent));
    assert_eq!(block.grow(&summary(long)), Err(too_large));
}

#[test]
fn blocks_with_several_trees_do_not_grow() {
    let mut block = Block::parse(r#"{"decimal":1,"tree":{"0":{"1":"a"},"5":"b"}}"#).unwrap();
    assert_eq!(block.grow(&summary("s")), Err(BlockError::ManyRoots));
    assert!(
        block
            .write(&path("5"), "a tree that exists may be written to")
            .is_ok()
    );
}

#[test]
fn growth_ends_at_32_levels() {
    let mut block = Block::new("head");
    block.write(&path("0.1"), "entry").unwrap();
    let mut grown = 0;
    let end = loop {
        match block.grow(&summary("s")) {
            Ok(_) => grown += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((grown, end), (30, BlockError::TooDeep));
    let deepest = vec!["0"; 32].join(".");
    block.write(&path(&deepest), "as deep as can be").unwrap();
    // Entries below the deepest level have no place.
    block.set_decimal(32).unwrap();
    let before = block.clone();
    assert_eq!(block.append("entry", None).unwrap_err().kind(), "too_deep");
    assert_eq!(block, before);
}

/// A node with this number of leaves below it, ten to a branch.
fn wide(leaves: usize) -> Value {
    let mut level = vec![json!("leaf"); leaves];
    while level.len() > 1 {
        let parents = level.chunks(10).map(|children| {
            let digits = (0..10).map(|digit: u8| digit.to_string());
            digits.zip(children.iter().cloned()).collect()
        });
        level = parents.collect();
    }
    level.remove(0)
}

#[test]
fn nodes_have_a_limit() {
    let half = wide(100_000);
    let json = format!(r#"{{"decimal":1,"tree":{{"0":{{"1":{half},"2":{half}}}}}}}"#);
    let error = Block::parse(&json).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the number of nodes would be 222"),
        "{error}"
    );
    assert!(
        error.to_string().contains(&MAX_NODES.to_string()),
        "{error}"
    );
}

#[test]
fn files_have_a_limit() {
    let mut block = Block::new("head");
    // Line ends take two bytes in JSON: the limit is on the file, not on the texts.
    let text = "\n".repeat(MAX_TEXT - 1) + "x";
    let (mut place, mut entries) = (path("0.1.1"), 0);
    let error = loop {
        let before = block.clone();
        if let Err(error) = block.write(&place, &text) {
            assert_eq!(block, before);
            break error;
        }
        entries += 1;
        place = path(&format!("0.{}.{}", entries / 9 + 1, entries % 9 + 1));
    };
    assert_eq!(entries, 31);
    let BlockError::TooLarge { limit, size, .. } = error else {
        panic!("{error}");
    };
    assert!(limit == MAX_FILE && size > limit);
    assert!(block.file_bytes() <= MAX_FILE);
    assert_eq!(block.nodes(), 1 + 4 + 31);
    assert!(Block::parse(&" ".repeat(4 * MAX_FILE + 1)).is_err());
}

#[test]
fn names() {
    let long = "x".repeat(65);
    for name in [
        "", "../x", "a/b", "CON", "con", "com1", "lpt9", &long, "Memory", "1a", "-a", "a b",
        "a.json", "é", "a\0",
    ] {
        let NameError { why, .. } = BlockName::new(name).unwrap_err();
        assert!(!why.is_empty());
    }
    for name in ["a", "com0", "console", "a-b_9", &long[1..]] {
        assert_eq!(BlockName::new(name).unwrap().as_str(), name);
    }
}
