//! Labels follow the texts that came from outside.

use super::{append, name, stamp, write};
use crate::store::{Origin, Origins};
use crate::{Block, BlockName, BlockStore, EditAuthor, Op, Path, Stamp, Summary, SummaryKind};

/// A stamp of a model that has read this page.
fn read(page: &str) -> Stamp {
    let by = EditAuthor::Model {
        id: "m".to_owned(),
        web: None,
    };
    Stamp::new(stamp(0).at, by).with_from(origins(page))
}

fn origins(page: &str) -> Origins {
    let url = page.to_owned();
    Origins::from(Origin::Web { url })
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

/// The labelled nodes, each with its page.
fn labels(store: &dyn BlockStore, block: &BlockName) -> Vec<(String, String)> {
    let labels = store.labels(block).unwrap();
    assert_eq!(labels.rev(), store.load(block).unwrap().rev);
    let rows = labels.nodes().iter().map(|(path, origins)| {
        let [Origin::Web { url }] = origins.listed() else {
            panic!("{origins:?}");
        };
        (path.to_string(), url.clone())
    });
    rows.collect()
}

/// The labels are these pairs of a path and a page.
fn assert_labels(store: &dyn BlockStore, block: &BlockName, expected: &[(&str, &str)]) {
    let found = labels(store, block);
    let pairs = found
        .iter()
        .map(|(path, page)| (path.as_str(), page.as_str()));
    assert!(
        pairs.eq(expected.iter().copied()),
        "{found:?}, not {expected:?}"
    );
}

pub(super) fn follow_their_texts(store: &dyn BlockStore) {
    let notes = name("notes");
    assert_eq!(store.labels(&notes).unwrap_err().kind(), "no_block");
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    let edit = |op: &Op, stamp: &Stamp| drop(store.edit(&notes, None, op, stamp).unwrap());
    let check = |expected: &[(&str, &str)]| assert_labels(store, &notes, expected);
    check(&[]);
    edit(&write("0.1", "clean"), &stamp(1));
    edit(&write("0.2.4", "from a"), &read("a"));
    edit(&append("from b", None), &read("b"));
    check(&[("0.2.4", "a"), ("0.3", "b")]);
    // What the person writes has no label, also if it is approved and came from outside.
    let approved = stamp(2).with_from(origins("c"));
    edit(&write("0.3", "by the person"), &approved);
    check(&[("0.2.4", "a")]);
    store.undo(&notes, 1, &stamp(3)).unwrap();
    check(&[("0.2.4", "a"), ("0.3", "b")]);
    store.redo(&notes, 1, &read("d")).unwrap();
    check(&[("0.2.4", "a")]);

    // A name is a text, too, also when another head is written.
    let pages = name("pages");
    store.create(&pages, &Block::new("p"), &read("p")).unwrap();
    let head = Op::Write {
        path: Block::new("p").head(),
        text: "by the person".to_owned(),
    };
    store.edit(&pages, None, &head, &stamp(4)).unwrap();
    assert_labels(store, &pages, &[]);
    assert_eq!(*store.labels(&pages).unwrap().name(), origins("p"));
    assert!(store.labels(&notes).unwrap().name().is_empty());

    let (from, to) = (path("0.2"), path("0.5.1"));
    edit(&Op::Relocate { from, to }, &read("e"));
    check(&[("0.5.1.4", "a")]);
    let text = "sum".to_owned();
    let kind = SummaryKind::Summary;
    let summary = Summary { kind, text };
    edit(&Op::Grow { summary }, &read("f"));
    check(&[("0.1", "f"), ("0.1.5.1.4", "a")]);
    let path = path("0.1.5");
    edit(&Op::Remove { path }, &stamp(4));
    check(&[("0.1", "f")]);
    store.undo(&notes, 3, &stamp(5)).unwrap();
    check(&[("0.2.4", "a")]);
    store.redo(&notes, 2, &stamp(6)).unwrap();
    check(&[("0.1", "f"), ("0.1.5.1.4", "a")]);
    store.delete(&notes, &stamp(7)).unwrap();
    store.create(&notes, &Block::new("n"), &stamp(8)).unwrap();
    check(&[]);
}

pub(super) fn of_whole_blocks(store: &dyn BlockStore) {
    let notes = name("notes");
    let mut block = Block::new("n");
    let put = |block: &mut Block, at: &str, text: &str| drop(block.write(&path(at), text).unwrap());
    put(&mut block, "0.1", "one");
    put(&mut block, "0.2", "two");
    store.create(&notes, &block, &read("a")).unwrap();
    let check = |expected: &[(&str, &str)]| assert_labels(store, &notes, expected);
    check(&[("0", "a"), ("0.1", "a"), ("0.2", "a")]);
    // A person corrects one text, moves another and leaves the third.
    let before = block.clone();
    put(&mut block, "0", "corrected");
    put(&mut block, "0.4", "two");
    block.remove(&path("0.2")).unwrap();
    let replace = |block: &Block, stamp: &Stamp| {
        let block = block.clone();
        store
            .edit(&notes, None, &Op::Replace { block }, stamp)
            .unwrap();
    };
    replace(&block, &stamp(1));
    check(&[("0.1", "a"), ("0.4", "a")]);
    store.undo(&notes, 1, &stamp(2)).unwrap();
    check(&[("0", "a"), ("0.1", "a"), ("0.2", "a")]);
    assert_eq!(*store.load(&notes).unwrap().block, before);
    // Single nodes of a block that replaces all have labels.
    let labels = [(path("0.1"), origins("b"))].into();
    replace(&Block::new("other"), &stamp(3));
    check(&[]);
    replace(&before, &stamp(4).with_labels(labels));
    check(&[("0.1", "b")]);
}
