use super::{append, log, name, stamp, write};
use crate::store::{LogEntry, LogRange, LoggedOp, Steps};
use crate::{Block, BlockStore, EditAuthor, Op, Stamp};

pub(super) fn logs_what_was_done(store: &dyn BlockStore) {
    let (memory, notes) = (name("memory"), name("notes"));
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    store.create(&memory, &Block::new("m"), &stamp(1)).unwrap();
    let by = Stamp {
        by: EditAuthor::Model {
            id: "a-model".to_owned(),
            web: None,
        },
        note: Some("why".to_owned()),
        ..stamp(2)
    };
    store.edit(&notes, None, &write("0.2", "two"), &by).unwrap();
    store.undo(&notes, 1, &stamp(3)).unwrap();
    store.redo(&notes, 1, &stamp(3)).unwrap();
    store.delete(&notes, &stamp(4)).unwrap();

    let mut all = log(store, &name("memory"));
    all.extend(log(store, &notes));
    let kinds = all.iter().map(|entry| match &entry.op {
        LoggedOp::Create { .. } => "create",
        LoggedOp::Delete => "delete",
        LoggedOp::Undo { revs, .. } if revs == &[2] => "undo",
        LoggedOp::Redo { revs } if revs == &[2] => "redo",
        LoggedOp::Undo { .. } | LoggedOp::Redo { .. } => "of another revision",
        LoggedOp::Edit(_) => "edit",
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["create", "create", "edit", "undo", "redo", "delete"]
    );
    let edit = &all[2];
    assert_eq!((edit.schema_version, edit.rev, edit.at), (1, 2, by.at));
    assert_eq!((&edit.by, &edit.note), (&by.by, &by.note));
    assert_eq!(edit.op, LoggedOp::Edit(write("0.2", "two")));
    assert_eq!(edit.path, "0.2".parse().ok());
    assert!(edit.inverse.is_some());
    let hashed = all[1].after_hash.is_some();
    for pair in all[1..].windows(2) {
        assert_eq!(pair[0].after_hash, pair[1].before_hash);
        assert_eq!(pair[1].before_hash.is_some(), hashed);
    }
    let newest: Vec<_> = all[1..].iter().rev().cloned().collect();
    for limit in 0..7 {
        for before in 0..7 {
            let range = LogRange::newest(limit).before(before);
            let older = newest.iter().filter(|entry| entry.rev < before);
            let expected: Vec<_> = older.take(limit).cloned().collect();
            assert_eq!(store.log(&notes, range).unwrap(), expected, "{range:?}");
        }
    }
    assert_eq!(store.log(&notes, LogRange::newest(2)).unwrap(), newest[..2]);
    assert_eq!(log(store, &name("never")), []);
    for entry in all {
        let json = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<LogEntry>(&json).unwrap(), entry);
    }
}

pub(super) fn takes_back_and_does_again(store: &dyn BlockStore) {
    let notes = name("notes");
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    let ops = [
        write("0.1", "one"),
        write("0.1.2", "below"),
        Op::Relocate {
            from: "0.1".parse().unwrap(),
            to: "0.3".parse().unwrap(),
        },
        Op::Remove {
            path: "0.3.2".parse().unwrap(),
        },
        Op::Replace {
            block: Block::new("another"),
        },
        Op::SetDecimal { decimal: 4 },
    ];
    let mut states = vec![store.load(&notes).unwrap().block];
    for op in &ops {
        store.edit(&notes, None, op, &stamp(1)).unwrap();
        states.push(store.load(&notes).unwrap().block);
    }
    for count in 1..=ops.len() {
        let edits = count as u32;
        let undone = store.undo(&notes, edits, &stamp(2)).unwrap();
        assert_eq!((undone.steps, undone.applied), (edits, None));
        assert_eq!(store.load(&notes).unwrap().block, states[ops.len() - count]);
        let redone = store.redo(&notes, edits, &stamp(3)).unwrap();
        assert_eq!((redone.steps, redone.applied), (edits, None));
        let again = store.load(&notes).unwrap();
        assert_eq!(
            (&again.block, again.rev),
            (&states[ops.len()], 7 + 2 * count as u64)
        );
    }
}

pub(super) fn takes_back_what_there_is(store: &dyn BlockStore) {
    let notes = name("notes");
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    store
        .edit(&notes, None, &write("0.1", "one"), &stamp(1))
        .unwrap();
    store
        .edit(&notes, None, &write("0.2", "two"), &stamp(2))
        .unwrap();
    let nothing = store.undo(&notes, 0, &stamp(3)).unwrap();
    assert_eq!((nothing.steps, nothing.rev), (0, 3));
    let undone = store.undo(&notes, u32::MAX, &stamp(3)).unwrap();
    assert_eq!((undone.steps, undone.rev), (2, 4));
    assert_eq!(*store.load(&notes).unwrap().block, Block::new("n"));
}

pub(super) fn steps_back_and_on(store: &dyn BlockStore) {
    let notes = name("notes");
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    let edit = |text: &str| {
        let op = write("0.1", text);
        store.edit(&notes, None, &op, &stamp(1)).unwrap();
    };
    let text = || {
        let block = store.load(&notes).unwrap().block;
        let text = block.text(&"0.1".parse().unwrap()).ok().flatten();
        text.unwrap_or("none").to_owned()
    };
    for text in ["one", "two", "three", "four"] {
        edit(text);
    }
    let steps = || Steps::of(&log(store, &notes));
    assert_eq!(steps().undo, [5, 4, 3, 2]);
    for back in ["three", "two"] {
        store.undo(&notes, 1, &stamp(2)).unwrap();
        assert_eq!(text(), back);
    }
    let after = (vec![3, 2], vec![4, 5]);
    assert_eq!((steps().undo, steps().redo), after);
    store.redo(&notes, 1, &stamp(3)).unwrap();
    assert_eq!(text(), "three");
    store.undo(&notes, 2, &stamp(4)).unwrap();
    assert_eq!(text(), "one");
    assert_eq!(steps().redo, [3, 4, 5]);
    let redone = store.redo(&notes, 9, &stamp(5)).unwrap();
    assert_eq!((redone.steps, text()), (3, "four".to_owned()));
    let error = store.redo(&notes, 1, &stamp(5)).unwrap_err();
    assert_eq!(error.to_string(), "notes: nothing to redo");
    assert_eq!(error.kind(), "nothing_to_redo");

    // An edit in between clears what a redo would make again, and an undo does not come back to it.
    store.undo(&notes, 2, &stamp(6)).unwrap();
    edit("five");
    assert_eq!(
        store.redo(&notes, 1, &stamp(7)).unwrap_err().kind(),
        "nothing_to_redo"
    );
    for back in ["two", "one", "none"] {
        store.undo(&notes, 1, &stamp(7)).unwrap();
        assert_eq!(text(), back);
    }
    let before = store.load(&notes).unwrap();
    let error = store.undo(&notes, 1, &stamp(8)).unwrap_err();
    assert_eq!(error.to_string(), "notes: nothing to undo");
    assert_eq!(error.kind(), "nothing_to_undo");
    assert_eq!(store.load(&notes).unwrap(), before);
    store.redo(&notes, u32::MAX, &stamp(9)).unwrap();
    assert_eq!(text(), "five");
}

pub(super) fn takes_back_growth(store: &dyn BlockStore) {
    let memory = name("memory");
    store.create(&memory, &Block::new("m"), &stamp(0)).unwrap();
    for entry in 1..=100 {
        store
            .edit(
                &memory,
                None,
                &append(&entry.to_string(), Some("sum")),
                &stamp(entry),
            )
            .unwrap();
    }
    let full = store.load(&memory).unwrap().block;
    assert!(full.decimal() > 2);
    store.undo(&memory, 60, &stamp(101)).unwrap();
    store.redo(&memory, 60, &stamp(102)).unwrap();
    assert_eq!(store.load(&memory).unwrap().block, full);
}
