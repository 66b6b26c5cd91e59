use std::fs;

use proptest::prelude::*;
use pscale_blocks::store::Steps;
use pscale_blocks::store::conformance::{self, name, stamp};
use pscale_blocks::{
    Block, BlockStore, DirStore, MemStore, Op, Path, Summary, SummaryKind, render_json,
};

fn path() -> impl Strategy<Value = Path> {
    prop::collection::vec(0_u8..=3, 0..=4).prop_map(|digits| {
        let below = digits.into_iter();
        below.fold("0".parse().unwrap(), |path: Path, digit| {
            path.child(digit).unwrap()
        })
    })
}

fn summary() -> impl Strategy<Value = Summary> {
    "[a-z\"é]{1,9}".prop_map(|text| Summary {
        kind: SummaryKind::Summary,
        text,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let another = (path(), "[a-z]{1,9}").prop_map(|(path, text)| {
        let mut block = Block::new("another");
        block.write(&path, &text).unwrap();
        Op::Replace { block }
    });
    prop_oneof![
        4 => (path(), "[a-z\n]{1,9}").prop_map(|(path, text)| Op::Write { path, text }),
        2 => path().prop_map(|path| Op::Remove { path }),
        2 => (path(), path()).prop_map(|(from, to)| Op::Relocate { from, to }),
        6 => ("[a-z]{1,9}", summary())
            .prop_map(|(text, summary)| Op::Append { text, summary: Some(summary) }),
        1 => summary().prop_map(|summary| Op::Grow { summary }),
        1 => (0_u8..=6).prop_map(|decimal| Op::SetDecimal { decimal }),
        1 => another,
    ]
}

/// Does what can be done of `ops`; answers the number of revisions.
fn edit(store: &dyn BlockStore, ops: &[Op]) -> u32 {
    let before = store.load(&name("notes")).unwrap().rev;
    for op in ops {
        // Some cannot be done, as a path may lead nowhere; the block is as it was then.
        let _ = store.edit(&name("notes"), None, op, &stamp(1));
    }
    (store.load(&name("notes")).unwrap().rev - before) as u32
}

proptest! {
    // A case is many files; PROPTEST_CASES runs more.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn fifty_edits_are_taken_back_and_made_again(ops in prop::collection::vec(op(), 50)) {
        let notes = name("notes");
        let store = MemStore::new();
        store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
        let file = || store.load(&notes).unwrap().block.to_file();
        let first = file();
        let edits = edit(&store, &ops);
        let last = file();
        prop_assert_eq!(store.undo(&notes, edits, &stamp(2)).unwrap().steps, edits);
        prop_assert_eq!(file(), first);
        store.redo(&notes, edits, &stamp(3)).unwrap();
        prop_assert_eq!(file(), &*last);
    }

    #[test]
    fn what_is_on_the_disk_is_taken_back_and_made_again(ops in prop::collection::vec(op(), 50)) {
        let folder = tempfile::tempdir().unwrap();
        let open = || DirStore::open(folder.path()).unwrap().without_fsync();
        let file = || fs::read_to_string(folder.path().join("blocks/notes.json")).unwrap();
        let notes = name("notes");
        let store = open();
        store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
        let first = file();
        let edits = edit(&store, &ops);
        let last = file();
        drop(store);

        let store = open();
        prop_assert_eq!(store.undo(&notes, edits, &stamp(2)).unwrap().steps, edits);
        prop_assert_eq!(file(), first);
        drop(store);
        let store = open();
        store.redo(&notes, edits, &stamp(3)).unwrap();
        prop_assert_eq!(file(), &*last);

        // The log alone says what the block is.
        let notices = store.notices();
        prop_assert!(notices.is_empty(), "{:?}", notices);
        let block = store.load(&notes).unwrap().block;
        drop(store);
        fs::write(folder.path().join("blocks/notes.json"), "{").unwrap();
        fs::remove_dir_all(folder.path().join("backups")).unwrap();
        let again = open().load(&notes).unwrap();
        prop_assert_eq!(render_json(&again.block), render_json(&block));
        prop_assert_eq!(again.rev, u64::from(edits) + 3);
    }
}

#[test]
fn the_undos_of_an_older_program_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let open = || DirStore::open(folder.path()).unwrap().without_fsync();
    let notes = name("notes");
    let write = |text: &str| Op::Write {
        path: "0.1".parse().unwrap(),
        text: text.to_owned(),
    };
    let store = open();
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    for text in ["one", "two", "three"] {
        store.edit(&notes, None, &write(text), &stamp(1)).unwrap();
    }
    store.undo(&notes, 2, &stamp(2)).unwrap();
    store.redo(&notes, 2, &stamp(3)).unwrap();
    store.undo(&notes, 1, &stamp(4)).unwrap();
    drop(store);
    // Such a program named no revisions, and had no redo: an undo of an undo made the edits again.
    let path = folder.path().join("log/notes.jsonl");
    let log = fs::read_to_string(&path).unwrap();
    let old = log
        .replace(
            r#"{"op":"undo","revs":[4,3]}"#,
            r#"{"op":"undo","count":2}"#,
        )
        .replace(
            r#"{"op":"redo","revs":[3,4]}"#,
            r#"{"op":"undo","count":1}"#,
        )
        .replace(r#"{"op":"undo","revs":[4]}"#, r#"{"op":"undo","count":3}"#);
    assert_eq!(old.matches("count").count(), 3, "{old}");
    fs::write(&path, &old).unwrap();

    let store = open();
    store.names().unwrap();
    assert_eq!(store.notices(), [""; 0]);
    let steps = Steps::of(&conformance::log(&store, &notes));
    assert_eq!((steps.undo, steps.redo), (vec![3, 2], vec![]));
    assert_eq!(store.undo(&notes, 9, &stamp(5)).unwrap().steps, 2);
    assert_eq!(*store.load(&notes).unwrap().block, Block::new("n"));
    assert_eq!(store.redo(&notes, 9, &stamp(6)).unwrap().steps, 2);
    let block = store.load(&notes).unwrap().block;
    drop(store);
    // The log alone says what the block is, its old entries included.
    fs::write(folder.path().join("blocks/notes.json"), "{").unwrap();
    fs::remove_dir_all(folder.path().join("backups")).unwrap();
    let store = open();
    assert_eq!(store.load(&notes).unwrap().block, block);
    assert_eq!(block.text(&"0.1".parse().unwrap()), Ok(Some("two")));
}
