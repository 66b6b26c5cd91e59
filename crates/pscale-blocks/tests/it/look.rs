//! Questions to a whole block: its levels, a text in it, its differences from another block, its oddities.

use proptest::prelude::*;
use pscale_blocks::{Block, BlockExcerpt, Hit, LintKind, Path};

use crate::random;

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

fn keeper() -> Block {
    let json = serde_json::json!({"decimal": 2, "tree": {"0": {
        "_": "Ledger of a lighthouse keeper.",
        "1": {"_": "Nine quiet nights.", "1": "Lamp oil delivered.", "2": "A gull nested\nin the GALLERY of İzmir."},
        "2": {"1": {"_": "Storm.", "1": "The Alder, safe."}}
    }}});
    Block::parse(&json.to_string()).unwrap()
}

#[test]
fn level_holds_the_nodes_of_one_width() {
    let paths = |pscale| {
        let steps = keeper().level(pscale);
        assert!(steps.iter().all(|step| step.pscale == pscale));
        let paths = steps.iter().map(|step| step.path.to_string());
        paths.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(paths(1), "0");
    assert_eq!(paths(0), "0.1 0.2");
    assert_eq!(paths(-1), "0.1.1 0.1.2 0.2.1");
    assert_eq!(paths(-2), "0.2.1.1");
    assert_eq!((paths(2), paths(-3)), (String::new(), String::new()));
}

#[test]
fn whole_block_is_cut_at_the_deepest_level_that_fits() {
    let block = keeper();
    assert_eq!(block.whole(6000), BlockExcerpt::Full(block.clone()));
    let cut = |budget| {
        let json = serde_json::to_value(block.whole(budget)).unwrap();
        assert_eq!(
            (&json["decimal"], &json["truncated"]),
            (&2.into(), &true.into())
        );
        json["tree"]["0"].clone()
    };
    let full = pscale_blocks::render_json(&block);
    assert_eq!(
        block.whole(full.chars().count()),
        BlockExcerpt::Full(block.clone())
    );
    assert_eq!(
        cut(full.chars().count() - 1)["1"]["_"],
        "Nine quiet nights."
    );
    let two = serde_json::json!({"_": "Ledger of a lighthouse keeper.", "1": "Nine quiet nights. (+2)", "2": "(+2)"});
    assert_eq!(cut(150), two);
    // One level in any case.
    assert_eq!(cut(10), "Ledger of a lighthouse keeper. (+6)");
}

#[test]
fn search_finds_in_any_case_and_shows_where() {
    let found = |needle: &str, limit| -> Vec<_> {
        let hits = keeper().search(needle, limit).into_iter();
        hits.map(|hit| (hit.path, hit.text)).collect()
    };
    let hit = |at: &str, text: &str| (path(at), text.to_owned());
    let gallery = hit("0.1.2", "A gull nested in the GALLERY of İzmir.");
    // In lower case the last name's first letter is two.
    for needle in ["gallery", "İZMIR"] {
        assert_eq!(found(needle, 5), std::slice::from_ref(&gallery));
    }
    assert_eq!(
        found("L", 2),
        [
            hit("0", "Ledger of a lighthouse keeper."),
            hit("0.1.1", "Lamp oil delivered.")
        ]
    );
    assert!(found("l", 0).is_empty() && found(" ", 5).is_empty() && found("whale", 5).is_empty());

    let mut block = Block::new("head");
    block
        .write(
            &path("0.1"),
            &format!("{}ILSE{}", "é ".repeat(100), " x".repeat(100)),
        )
        .unwrap();
    let [Hit { text, .. }] = &block.search("ilse", 5)[..] else {
        panic!("one node");
    };
    assert!(
        text.starts_with("…é é") && text.ends_with("x…") && text.contains(" ILSE "),
        "{text}"
    );
    assert!(text.chars().count() <= 162);
}

#[test]
fn diff_tells_the_texts_that_differ() {
    let mut block = keeper();
    block
        .write(&path("0.1.1"), "Lamp oil delivered twice.")
        .unwrap();
    block.write(&path("0.2"), "Storms.").unwrap();
    block.remove(&path("0.2.1.1")).unwrap();
    let row = |at: &str, before: Option<&str>, after: Option<&str>| {
        (
            path(at),
            before.map(str::to_owned),
            after.map(str::to_owned),
        )
    };
    let diff = |before: &Block, after: &Block| -> Vec<_> {
        let rows = before.diff(after).into_iter();
        rows.map(|row| (row.path, row.before, row.after)).collect()
    };
    assert_eq!(
        diff(&keeper(), &block),
        [
            row(
                "0.1.1",
                Some("Lamp oil delivered."),
                Some("Lamp oil delivered twice.")
            ),
            row("0.2", None, Some("Storms.")),
            row("0.2.1.1", Some("The Alder, safe."), None),
        ]
    );
}

fn lints(block: &Block) -> Vec<(String, LintKind)> {
    let lints = block.lint();
    lints
        .iter()
        .map(|lint| (lint.path.to_string(), lint.kind))
        .collect()
}

#[test]
fn lint_remarks_on_what_is_odd() {
    assert_eq!(lints(&keeper()), []);
    let mut block = Block::new("head");
    block.set_decimal(2).unwrap();
    for digit in 1..=9 {
        block
            .write(&path(&format!("0.1.{digit}")), "entry")
            .unwrap();
    }
    block.write(&path("0.2.0"), "an entry at 0").unwrap();
    block.write(&path("0.3"), &"long ".repeat(500)).unwrap();
    block
        .write(&path("0.4.1.1.1.1.1.1.1.1.1.1.1.1.1"), "deep")
        .unwrap();
    assert_eq!(
        lints(&block),
        [
            ("0.1".to_owned(), LintKind::Uncompressed),
            ("0.2.0".to_owned(), LintKind::EntryAtZero),
            ("0.3".to_owned(), LintKind::LongText { bytes: 2500 }),
            ("0.4.1.1.1.1.1.1.1.1.1.1.1".to_owned(), LintKind::Deep),
        ]
    );
    let several = Block::parse(r#"{"decimal":1,"tree":{"0":"a","5":"b"}}"#).unwrap();
    assert_eq!(lints(&several), [("5".to_owned(), LintKind::ManyRoots)]);
    let shown: Vec<_> = block.lint().iter().map(ToString::to_string).collect();
    assert_eq!(shown[0], "0.1: nine entries and no text that sums them up");
    let json = serde_json::to_value(&block.lint()[2]).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"path": "0.3", "lint": "long_text", "bytes": 2500})
    );
}

proptest! {
    #[test]
    fn blocks_without_a_difference_have_equal_trees(one in random::block(), other in random::block()) {
        let trees = |block: &Block| serde_json::to_value(block).unwrap()["tree"].take();
        prop_assert_eq!(one.diff(&other).is_empty(), trees(&one) == trees(&other));
        prop_assert!(one.diff(&one.clone()).is_empty());
        // Every text is found by itself; nothing is odd enough to panic.
        one.lint();
        for step in one.subtree(&Path::root(), None).unwrap() {
            let Some(text) = step.text.filter(|text| !text.trim().is_empty()) else {
                continue;
            };
            let hits = one.search(&text, usize::MAX);
            prop_assert!(hits.iter().any(|hit| hit.path == step.path));
        }
    }
}
