use super::{append, name, stamp, write};
use crate::store::LogEntry;
use crate::{Block, BlockStore, LoggedOp, Op, Provenance, Stamp};

pub(super) fn logs_what_was_done(store: &dyn BlockStore) {
    let (memory, notes) = (name("memory"), name("notes"));
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    store.create(&memory, &Block::new("m"), &stamp(1)).unwrap();
    let by = Stamp {
        by: Provenance::Model {
            id: "a-model".to_owned(),
            web: None,
        },
        note: Some("why".to_owned()),
        ..stamp(2)
    };
    store.edit(&notes, None, &write("0.2", "two"), &by).unwrap();
    store.undo(&notes, 1, &stamp(3)).unwrap();
    store.delete(&notes, &stamp(4)).unwrap();

    let all = store.log(None, 0).unwrap();
    let kinds = all.iter().map(|entry| match &entry.op {
        LoggedOp::Create { .. } => "create",
        LoggedOp::Delete => "delete",
        LoggedOp::Undo { count: 1 } => "undo",
        LoggedOp::Undo { .. } => "undo of more",
        LoggedOp::Edit(_) => "edit",
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["create", "create", "edit", "undo", "delete"]
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
    assert_eq!(store.log(Some(&notes), 3).unwrap(), all[3..]);
    assert_eq!(store.log(Some(&name("never")), 0).unwrap(), []);
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
        // An undo that was undone is two edits, which cancel each other.
        let edits = (count + 2 * (count - 1)) as u32;
        let undone = store.undo(&notes, edits, &stamp(2)).unwrap();
        assert_eq!((undone.undone, undone.applied), (edits, None));
        assert_eq!(store.load(&notes).unwrap().block, states[ops.len() - count]);
        assert_eq!(store.undo(&notes, 1, &stamp(3)).unwrap().undone, 1);
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
    assert_eq!((nothing.undone, nothing.rev), (0, 3));
    let undone = store.undo(&notes, u32::MAX, &stamp(3)).unwrap();
    assert_eq!((undone.undone, undone.rev), (2, 4));
    assert_eq!(store.load(&notes).unwrap().block, Block::new("n"));
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
    store.undo(&memory, 1, &stamp(102)).unwrap();
    assert_eq!(store.load(&memory).unwrap().block, full);
}
