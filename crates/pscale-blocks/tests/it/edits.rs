//! Every edit can be taken back and made again, and one that fails changes nothing.

use proptest::prelude::*;
use proptest::sample::Index;
use pscale_blocks::{Applied, Block, BlockError, Change, Inverse, MAX_DEPTH, MAX_TEXT, Op, Path};

use crate::random::{self, summary};

/// An operation on a block that is not known yet: the indices choose among its nodes.
#[derive(Debug, Clone)]
enum Wish {
    Write(Place, String),
    Remove(Index),
    Relocate(Index, Place),
    Append(String, Option<String>),
    Grow(String),
    Replace(Block),
    SetDecimal(u8),
}

/// A node, or one some levels below it, which may not exist.
type Place = (Index, Vec<u8>);

fn place() -> impl Strategy<Value = Place> {
    (any::<Index>(), proptest::collection::vec(0..10_u8, 0..4))
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        4 => (place(), random::text()).prop_map(|(place, text)| Wish::Write(place, text)),
        3 => any::<Index>().prop_map(Wish::Remove),
        3 => (any::<Index>(), place()).prop_map(|(from, to)| Wish::Relocate(from, to)),
        3 => (random::text(), proptest::option::of(random::text())).prop_map(|(text, summary)| Wish::Append(text, summary)),
        2 => random::text().prop_map(Wish::Grow),
        1 => random::block().prop_map(Wish::Replace),
        1 => (0..35_u8).prop_map(Wish::SetDecimal),
    ]
}

impl Wish {
    fn of(self, block: &Block) -> Op {
        let nodes = block.subtree(&Path::root(), None).unwrap();
        let node = |index: Index| index.get(&nodes).path;
        let place = |(index, below): Place| {
            let start = if below.len() == 3 {
                Path::root()
            } else {
                node(index)
            };
            below
                .iter()
                .fold(start, |path, digit| path.child(*digit).unwrap_or(path))
        };
        match self {
            Self::Write(at, text) => Op::Write {
                path: place(at),
                text,
            },
            Self::Remove(index) => Op::Remove { path: node(index) },
            Self::Relocate(from, to) => Op::Relocate {
                from: node(from),
                to: place(to),
            },
            Self::Append(text, given) => Op::Append {
                text,
                summary: given.map(summary),
            },
            Self::Grow(text) => Op::Grow {
                summary: summary(text),
            },
            Self::Replace(block) => Op::Replace { block },
            Self::SetDecimal(decimal) => Op::SetDecimal { decimal },
        }
    }
}

/// The block is one that the parser lets in, and all that it counts is right.
fn check_sound(block: &Block) {
    let read = Block::parse(&block.to_file()).unwrap();
    assert_eq!(format!("{block:?}"), format!("{read:?}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn edits_are_taken_back_and_made_again(
        start in random::block(),
        wishes in proptest::collection::vec(wish(), 1..20),
    ) {
        let mut block = start.clone();
        let mut undo = Vec::new();
        for wish in wishes {
            let before = block.clone();
            let op = wish.of(&block);
            // A log holds operations and inverses as JSON.
            let op: Op = serde_json::from_str(&serde_json::to_string(&op).unwrap()).unwrap();
            let applied = block.apply(&op);
            check_sound(&block);
            let change = applied.as_ref().ok().and_then(Applied::change);
            let Some(Change { inverse, .. }) = change else {
                prop_assert_eq!(&block, &before, "{:?}", op);
                continue;
            };
            let read: Inverse = serde_json::from_str(&serde_json::to_string(inverse).unwrap()).unwrap();
            prop_assert_eq!(&read, inverse);
            undo.push((before, read));
        }
        let end = block.clone();
        let mut redo = Vec::new();
        for (before, inverse) in undo.into_iter().rev() {
            let after = block.clone();
            redo.push((after, block.revert(&inverse)));
            prop_assert_eq!(&block, &before);
            check_sound(&block);
        }
        prop_assert_eq!(&block, &start);
        for (after, inverse) in redo.into_iter().rev() {
            block.revert(&inverse);
            prop_assert_eq!(&block, &after);
        }
        prop_assert_eq!(&block, &end);
        check_sound(&block);
    }

    /// The log is a file: a person may have changed it, or the block alone.
    #[test]
    fn inverse_of_another_block_leaves_a_block(
        mut block in random::block(),
        mut other in random::block(),
        wishes in proptest::collection::vec(wish(), 1..6),
    ) {
        for wish in wishes {
            let op = wish.of(&other);
            if let Ok(applied) = other.apply(&op)
                && let Some(change) = applied.change()
            {
                block.revert(&change.inverse);
                check_sound(&block);
            }
        }
    }
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

#[test]
fn forged_inverse_changes_nothing_or_leaves_a_block() {
    let long = "x".repeat(MAX_TEXT + 1);
    let deep = format!(
        r#"{{"node":{{"path":"{}","node":{{"1":{{"1":"deep"}}}}}}}}"#,
        path(&"1".repeat(31))
    );
    let before = Block::parse(r#"{"decimal":1,"tree":{"0":{"_":"head","1":"leaf"}}}"#).unwrap();
    for forged in [
        r#"{"text":{"path":"0.1","text":null}}"#.to_owned(),
        r#"{"text":{"path":"","text":"no"}}"#.to_owned(),
        r#"{"text":{"path":"0","text":"\u0000"}}"#.to_owned(),
        format!(r#"{{"text":{{"path":"0","text":"{long}"}}}}"#),
        r#"{"node":{"path":"0","node":null}}"#.to_owned(),
        r#"{"node":{"path":"","node":"leaf"}}"#.to_owned(),
        r#"{"decimal":{"decimal":33}}"#.to_owned(),
        deep,
    ] {
        let mut block = before.clone();
        let steps: Inverse = serde_json::from_str(&format!("[{forged}]")).unwrap_or_default();
        block.revert(&steps);
        assert_eq!(block, before, "{forged}");
        check_sound(&block);
    }
    for forged in [
        r#"{"regrow":{"summary":"s"}}"#,
        r#"{"regrow":{"summary":"s"}},{"decimal":{"decimal":0}}"#,
        r#"{"shrink":{"decimal":3}}"#,
    ] {
        let many = vec![forged; 10_000].join(",");
        let steps: Inverse = serde_json::from_str(&format!("[{many}]")).unwrap();
        let mut block = before.clone();
        block.revert(&steps);
        check_sound(&block);
    }
}

#[test]
fn write_tells_which_levels_it_made() {
    let mut block = Block::new("head");
    let change = block.write(&path("0.3.2.1"), "deep").unwrap();
    assert_eq!(
        (change.path, change.created),
        (path("0.3.2.1"), vec![path("0.3"), path("0.3.2")])
    );
    // A leaf on the way keeps its text.
    let change = block.write(&path("0.3.2.1.1"), "deeper").unwrap();
    assert!(change.created.is_empty());
    assert_eq!(block.text(&path("0.3.2.1")).unwrap(), Some("deep"));
    // What is left with nothing goes with the last node below it.
    block.remove(&path("0.3.2.1")).unwrap();
    assert_eq!(block, Block::new("head"));
}

#[test]
fn nodes_move_with_all_below_them() {
    let mut block = Block::new("head");
    block.write(&path("0.1.1"), "below").unwrap();
    let change = block.relocate(&path("0.1"), &path("0.2.5")).unwrap();
    assert_eq!(
        (change.path, change.created),
        (path("0.2.5"), vec![path("0.2")])
    );
    assert_eq!(block.text(&path("0.2.5.1")).unwrap(), Some("below"));
    assert!(block.view(&path("0.1")).is_err());

    let before = block.clone();
    let kind = |block: &mut Block, from: &str, to: &str| {
        let error = block.relocate(&path(from), &path(to)).unwrap_err();
        error.kind()
    };
    assert_eq!(kind(&mut block, "0.2.5", "0.2"), "exists");
    assert_eq!(kind(&mut block, "0.2.5", "0.2.5.7"), "into_itself");
    assert_eq!(kind(&mut block, "0.9", "0.8"), "not_found");
    assert_eq!(kind(&mut block, "0.2", "3"), "new_root");
    assert_eq!(kind(&mut block, "0", "0.8"), "not_empty");
    let deepest = vec!["0"; MAX_DEPTH].join(".");
    assert_eq!(kind(&mut block, "0.2", &deepest), "too_deep");
    assert_eq!(block, before);
}

#[test]
fn decimal_is_for_people_and_has_its_limits() {
    let mut block = Block::new("head");
    block.set_decimal(32).unwrap();
    assert_eq!(block.pscale(&path("0")), 31);
    assert!(matches!(
        block.set_decimal(33),
        Err(BlockError::Format { .. })
    ));
    block.set_decimal(0).unwrap();
    block.write(&Path::root(), "the tree itself").unwrap();
    assert!(matches!(
        block.set_decimal(1),
        Err(BlockError::Format { .. })
    ));
    assert_eq!(block.head_text(), Some("the tree itself"));
}
