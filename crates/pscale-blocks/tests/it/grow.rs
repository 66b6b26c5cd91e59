//! A2: growth and appending.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pscale_blocks::{Appended, Block, NodeLine, Path};

use crate::random::{self, summary};

/// Every node: its pscale, its text and its digits.
fn nodes(block: &Block) -> BTreeMap<Path, (i32, Option<String>, Vec<u8>)> {
    let steps = block.subtree(&Path::root(), None).unwrap();
    let rows = steps.into_iter().map(
        |NodeLine {
             path, pscale, text, ..
         }| {
            let children = block.view(&path).unwrap().children.unwrap_or_default();
            (path, (pscale, text, children.into_keys().collect()))
        },
    );
    rows.collect()
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

/// `h.rest` as `h.1.rest`.
fn moved(path: &Path) -> Path {
    let (head, rest) = path.digits().split_first().unwrap();
    let digits = [head, &1].into_iter().chain(rest);
    digits.fold(Path::root(), |path, digit| path.child(*digit).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn growth_keeps_every_node_and_its_pscale(mut block in random::one_rooted()) {
        let (before, head, nodes_before) = (nodes(&block), block.head(), block.nodes());
        let unchanged = block.clone();
        let Ok(change) = block.grow(&summary("What they come to.")) else {
            prop_assert!(before.len() == 1, "a head with children grows");
            prop_assert_eq!(block, unchanged);
            return Ok(());
        };
        let after = nodes(&block);
        prop_assert_eq!(block.head(), head);
        prop_assert_eq!(block.decimal(), unchanged.decimal() + 1);
        prop_assert_eq!(block.nodes(), nodes_before + 1);
        for (path, (pscale, text, children)) in &before {
            let (new_pscale, new_text, new_children) = &after[&moved(path)];
            prop_assert_eq!((pscale, children), (new_pscale, new_children));
            if *path == head {
                prop_assert_eq!(new_text.as_deref(), Some("What they come to."));
                prop_assert_eq!(text, &after[&head].1);
            } else {
                prop_assert_eq!(text, new_text);
                // An old path finds its node, or what stands there now.
                if let Err(pscale_blocks::BlockError::NotFound { near, .. }) = block.view(path) {
                    prop_assert!(near.is_none_or(|near| after.contains_key(&*near)));
                }
            }
        }
        let redo = block.revert(&change.inverse);
        prop_assert_eq!(&block, &unchanged);
        block.revert(&redo);
        prop_assert_eq!(nodes(&block), after);
    }
}

/// The texts of the entries in order of their paths.
fn entries(block: &Block) -> Vec<String> {
    let steps = block.subtree(&block.head(), None).unwrap();
    let entries = steps.into_iter().filter(|step| step.pscale == -1);
    entries.filter_map(|step| step.text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn entries_stay_in_the_order_of_their_appending(
        count in 0..1000_usize,
        decimal in 0..3_u8,
        generous in any::<bool>(),
    ) {
        let mut block = Block::parse(match decimal {
            0 => r#"{"decimal":0,"tree":{"_":"Log"}}"#,
            1 => r#"{"decimal":1,"tree":{"0":"Log"}}"#,
            _ => r#"{"decimal":2,"tree":{"4":"Log"}}"#,
        }).unwrap();
        let texts: Vec<_> = (0..count).map(|number| format!("entry {number}")).collect();
        for text in &texts {
            // A summary that is not needed is not stored.
            let mut given = generous.then(|| summary("given"));
            loop {
                match block.append(text, given.take()).unwrap() {
                    Appended::Written { path, .. } => {
                        prop_assert_eq!(block.pscale(&path), -1);
                        break;
                    }
                    Appended::NeedsSummary { at, entries, .. } => {
                        prop_assert_eq!(entries.len(), 9, "{} is not full", at);
                        given = Some(summary("asked for"));
                    }
                }
            }
        }
        prop_assert_eq!(entries(&block), texts);
        // Nine to a group, every full one but the last summarised: no level is deeper than it must be.
        let capacity = |decimal: u8| 9_usize.pow(u32::from(decimal));
        prop_assert!(count <= capacity(block.decimal().max(1)));
        prop_assert!(block.decimal() <= decimal.max(1) || count > capacity(block.decimal() - 1));
    }
}

fn full_but_unsummarised() -> Block {
    let mut block = Block::new("Log");
    for number in 1..=81 {
        random::append(&mut block, &format!("entry {number}"), |at| {
            format!("of {at}")
        });
    }
    block
}

#[test]
fn one_call_uses_one_summary_and_says_what_it_stored() {
    let mut block = full_but_unsummarised();
    let before = block.clone();
    let Appended::NeedsSummary {
        at,
        grows: false,
        change: None,
        ..
    } = block.append("entry 82", None).unwrap()
    else {
        panic!("the last group has no summary yet");
    };
    assert_eq!((at, &block), (path("0.9"), &before));

    let answer = block.append("entry 82", Some(summary("of 0.9"))).unwrap();
    let Appended::NeedsSummary {
        at,
        grows: true,
        entries,
        change: Some(change),
    } = answer
    else {
        panic!("the head is full: {answer:?}");
    };
    assert_eq!(at, path("0"));
    assert_eq!(entries.len(), 9);
    assert_eq!(entries[8].text.as_deref(), Some("of 0.9"));
    assert_eq!(block.text(&path("0.9")).unwrap(), Some("of 0.9"));

    let stored = block.clone();
    let answer = block.append("entry 82", Some(summary("of all"))).unwrap();
    let Appended::Written {
        path: place,
        change: growth,
    } = answer
    else {
        panic!("there is room: {answer:?}");
    };
    assert_eq!(place, path("0.2.1.1"));
    assert_eq!(block.decimal(), 3);
    // Growth and entry go back as one; so does what was stored on the way.
    block.revert(&growth.inverse);
    assert_eq!(block, stored);
    block.revert(&change.inverse);
    assert_eq!(block, before);
}

#[test]
fn an_entry_that_passes_a_limit_leaves_no_summary_behind() {
    let mut block = full_but_unsummarised();
    let before = block.clone();
    for (text, given) in [
        (" ", "of 0.9"),
        ("entry", "\n"),
        ("entry", "a\0b"),
        ("a\0b", "of 0.9"),
    ] {
        assert!(block.append(text, Some(summary(given))).is_err());
        assert_eq!(block, before);
    }
}

#[test]
fn moved_node_is_found_again() {
    let mut block = full_but_unsummarised();
    block.write(&path("0.9"), "of 0.9").unwrap();
    block.grow(&summary("of all")).unwrap();
    let Err(pscale_blocks::BlockError::NotFound { near, .. }) = block.view(&path("0.4.5")) else {
        panic!("0.4 is free after growth");
    };
    assert_eq!(near, Some(Box::new(path("0.1.4.5"))));
}

#[test]
fn a_growth_says_which_paths_are_others_now() {
    let mut block = Block::new("n");
    let told = |block: &mut Block| {
        let grown = block.grow(&summary("s")).unwrap().grown.unwrap();
        (grown.to_string(), serde_json::to_value(&grown).unwrap())
    };
    block.write(&"0.1".parse().unwrap(), "one").unwrap();
    let json = serde_json::json!({"from": "0.N", "to": "0.1.N"});
    assert_eq!(
        told(&mut block),
        ("0.1 is now 0.1.1".to_owned(), json.clone())
    );
    block.write(&"0.9".parse().unwrap(), "nine").unwrap();
    let all = "0.1 to 0.9 are now 0.1.1 to 0.1.9";
    assert_eq!(told(&mut block), (all.to_owned(), json));
    // With decimal 0 the tree itself is the head, and becomes child 0.
    let mut block = Block::parse(r#"{"decimal":0,"tree":{"_":"n","2":"two","4":"four"}}"#).unwrap();
    let json = serde_json::json!({"from": "N", "to": "0.1.N"});
    let all = "2 to 4 are now 0.1.2 to 0.1.4";
    assert_eq!(told(&mut block), (all.to_owned(), json));
}
