//! The promises of every store, as one suite. A store in another crate runs it in its tests.
//!
//! ```
//! use pscale_blocks::MemStore;
//! use pscale_blocks::store::conformance;
//!
//! conformance::check(|| Box::new(MemStore::new()));
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a suite fails by panicking, and the line says where"
)]

mod labels;
mod undo;

use std::sync::Arc;
use std::thread;

use jiff::Timestamp;

use super::LoggedOp;
use crate::store::{BlockPresence, KEY_REMOVED, KeyFilter, LogEntry, LogRange, Origin, Origins};
use crate::{
    Appended, Applied, Block, BlockName, BlockStore, EditAuthor, Op, Path, Stamp, StoreError,
    Summary, SummaryKind,
};

/// Runs the suite; `make` answers a new, empty store each time.
///
/// # Panics
/// The store breaks a promise.
pub fn check(make: impl Fn() -> Box<dyn BlockStore>) {
    for part in [
        makes_and_reads,
        names_what_is_missing,
        compares_revisions,
        leaves_a_failed_edit_undone,
        keeps_no_edit_that_changes_nothing,
        asks_for_summaries,
        deletes_and_counts_on,
        undo::logs_what_was_done,
        undo::takes_back_and_does_again,
        undo::takes_back_what_there_is,
        undo::steps_back_and_on,
        undo::takes_back_growth,
        labels::follow_their_texts,
        labels::of_whole_blocks,
        stores_no_key,
        lets_one_of_two_threads_win,
    ] {
        part(&*make());
    }
}

/// A stamp of the person, `seconds` after the beginning of 2026.
pub fn stamp(seconds: i64) -> Stamp {
    let at = Timestamp::from_second(1_767_225_600 + seconds).unwrap();
    Stamp::new(at, EditAuthor::Person)
}

/// The name `name`.
pub fn name(name: &str) -> BlockName {
    BlockName::new(name).unwrap()
}

/// A write of `text` at `path`.
pub fn write(path: &str, text: &str) -> Op {
    Op::Write {
        path: path.parse().unwrap(),
        text: text.to_owned(),
    }
}

/// The whole log of a block, the oldest entry first.
pub fn log(store: &dyn BlockStore, name: &BlockName) -> Vec<LogEntry> {
    let mut log = store.log(name, LogRange::ALL).unwrap();
    log.reverse();
    log
}

/// An entry at the end, with the summary of a group that is full.
pub fn append(text: &str, summary: Option<&str>) -> Op {
    Op::Append {
        text: text.to_owned(),
        summary: summary.map(|text| Summary {
            kind: SummaryKind::Emergence,
            text: text.to_owned(),
        }),
    }
}

fn text(store: &dyn BlockStore, block: &BlockName, path: &str) -> Option<String> {
    let path: Path = path.parse().unwrap();
    let found = store.load(block).unwrap().block;
    found.text(&path).ok().flatten().map(str::to_owned)
}

fn makes_and_reads(store: &dyn BlockStore) {
    assert_eq!(store.names().unwrap(), []);
    let block = Block::new("what it is");
    assert_eq!(store.create(&name("notes"), &block, &stamp(0)).unwrap(), 1);
    assert_eq!(store.create(&name("memory"), &block, &stamp(1)).unwrap(), 1);
    let edited = store.edit(&name("notes"), None, &write("0.1", "one"), &stamp(2));
    assert_eq!(edited.unwrap().rev, 2);

    let loaded = store.load(&name("notes")).unwrap();
    assert_eq!((loaded.rev, loaded.hash), (2, loaded.block.hash()));
    assert_eq!(text(store, &name("notes"), "0.1").as_deref(), Some("one"));
    let rows = store.names().unwrap();
    let row = |index: usize| {
        (
            rows[index].name.as_str(),
            rows[index].rev,
            rows[index].nodes,
        )
    };
    assert_eq!(
        (rows.len(), row(0), row(1)),
        (2, ("memory", 1, 1), ("notes", 2, 2))
    );
    assert_eq!(rows[1].bytes, loaded.block.to_file().len());
    assert_eq!(
        (rows[1].decimal, rows[1].head.as_deref()),
        (1, Some("what it is"))
    );

    let again = store.create(&name("notes"), &block, &stamp(3)).unwrap_err();
    assert_eq!(again.kind(), "exists");
    assert_eq!(store.load(&name("notes")).unwrap(), loaded);
}

fn names_what_is_missing(store: &dyn BlockStore) {
    store
        .create(&name("memory"), &Block::new("m"), &stamp(0))
        .unwrap();
    store
        .create(&name("gone"), &Block::new("g"), &stamp(0))
        .unwrap();
    store.delete(&name("gone"), &stamp(1)).unwrap();
    let near = |asked: &str| match store.load(&name(asked)).unwrap_err() {
        StoreError::NoBlock { near, .. } => near.map(|near| near.to_string()),
        other => panic!("{other}"),
    };
    assert_eq!(near("memroy").as_deref(), Some("memory"));
    assert_eq!(near("goner"), None, "what was deleted is not offered");
    assert_eq!(near("x"), None);
    let missing = name("memoir");
    let presence = ["memory", "gone", "memoir"].map(|block| store.presence(&name(block)).unwrap());
    let (live, deleted) = (BlockPresence::Present, BlockPresence::Deleted);
    assert_eq!(presence, [live, deleted, BlockPresence::Absent]);
    let errors = [
        store
            .edit(&missing, None, &write("0", "x"), &stamp(2))
            .unwrap_err(),
        store.undo(&missing, 1, &stamp(2)).unwrap_err(),
        store.delete(&missing, &stamp(2)).unwrap_err(),
    ];
    assert!(errors.iter().all(|error| error.kind() == "no_block"));
    assert_eq!(store.names().unwrap().len(), 1);
}

fn compares_revisions(store: &dyn BlockStore) {
    let notes = name("notes");
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    store
        .edit(&notes, Some(1), &write("0.1", "one"), &stamp(1))
        .unwrap();
    let late = store.edit(&notes, Some(1), &write("0.1", "two"), &stamp(2));
    assert!(
        matches!(
            late,
            Err(StoreError::Revision {
                expected: 1,
                actual: 2,
                ..
            })
        ),
        "{late:?}"
    );
    assert_eq!(text(store, &notes, "0.1").as_deref(), Some("one"));
}

fn leaves_a_failed_edit_undone(store: &dyn BlockStore) {
    let notes = name("notes");
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    let before = store.load(&notes).unwrap();
    for (op, kind) in [
        (write("0.1", " "), "empty_content"),
        (write("2.1", "x"), "new_root"),
        (write("0.1", &"x".repeat((64 << 10) + 1)), "too_large"),
        (
            Op::Remove {
                path: "0.5".parse().unwrap(),
            },
            "not_found",
        ),
        (Op::SetDecimal { decimal: 33 }, "format"),
        (
            Op::Grow {
                summary: Summary {
                    kind: SummaryKind::Summary,
                    text: "s".to_owned(),
                },
            },
            "nothing_to_grow",
        ),
    ] {
        let error = store.edit(&notes, None, &op, &stamp(1)).unwrap_err();
        assert_eq!(error.kind(), kind, "{op:?}");
    }
    assert_eq!(store.load(&notes).unwrap(), before);
    assert_eq!(log(store, &notes).len(), 1);
}

fn keeps_no_edit_that_changes_nothing(store: &dyn BlockStore) {
    let notes = name("notes");
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    let block = store.load(&notes).unwrap().block;
    for op in [
        write("0", "n"),
        Op::Replace {
            block: Block::clone(&block),
        },
        Op::SetDecimal { decimal: 1 },
    ] {
        assert_eq!(
            store.edit(&notes, Some(1), &op, &stamp(1)).unwrap().rev,
            1,
            "{op:?}"
        );
    }
    assert_eq!(log(store, &notes).len(), 1);
}

fn asks_for_summaries(store: &dyn BlockStore) {
    let memory = name("memory");
    store.create(&memory, &Block::new("m"), &stamp(0)).unwrap();
    for entry in 1..=9 {
        store
            .edit(
                &memory,
                None,
                &append(&entry.to_string(), None),
                &stamp(entry),
            )
            .unwrap();
    }
    let full = store
        .edit(&memory, None, &append("10", None), &stamp(10))
        .unwrap();
    assert_eq!(full.rev, 10, "nothing was stored");
    assert!(matches!(
        full.applied,
        Some(Applied::Appended(Appended::NeedsSummary {
            grows: true,
            ..
        }))
    ));
    let grown = store
        .edit(&memory, Some(10), &append("10", Some("nine")), &stamp(11))
        .unwrap();
    assert_eq!(grown.rev, 11);
    assert_eq!(text(store, &memory, "0.1").as_deref(), Some("nine"));
    assert_eq!(text(store, &memory, "0.2.1").as_deref(), Some("10"));
    let op = &log(store, &memory)[10].op;
    assert_eq!(
        *op,
        LoggedOp::Edit(append("10", Some("nine"))),
        "the kind of summary is kept"
    );
}

fn deletes_and_counts_on(store: &dyn BlockStore) {
    let notes = name("notes");
    store
        .create(&notes, &Block::new("first"), &stamp(0))
        .unwrap();
    store
        .edit(&notes, None, &write("0.1", "one"), &stamp(1))
        .unwrap();
    store.delete(&notes, &stamp(2)).unwrap();
    assert_eq!(store.load(&notes).unwrap_err().kind(), "no_block");
    assert_eq!(store.names().unwrap(), []);
    assert_eq!(
        store
            .create(&notes, &Block::new("second"), &stamp(3))
            .unwrap(),
        4
    );
    assert_eq!(text(store, &notes, "0").as_deref(), Some("second"));
    let revs = log(store, &notes).into_iter().map(|entry| entry.rev);
    assert_eq!(revs.collect::<Vec<_>>(), [1, 2, 3, 4]);
    let error = store.undo(&notes, 3, &stamp(4)).unwrap_err();
    assert_eq!(error.kind(), "nothing_to_undo", "no edit since it was made");
}

fn stores_no_key(store: &dyn BlockStore) {
    let key = "sk-ant-api03-0123456789";
    let notes = name("notes");
    let stamp = Stamp {
        by: EditAuthor::Web {
            url: format!("https://example.org/?key={key}"),
        },
        note: Some(format!("with {key}")),
        ..stamp(0)
    };
    store.create(&notes, &Block::new(key), &stamp).unwrap();
    assert_eq!(text(store, &notes, "0").as_deref(), Some(KEY_REMOVED));
    let summary = Summary {
        kind: SummaryKind::Summary,
        text: key.to_owned(),
    };
    for (op, keys) in [
        (write("0.1", &format!("{key} {key}")), 4),
        (append(key, None), 3),
        (Op::Grow { summary }, 3),
        (
            Op::Replace {
                block: Block::new(format!("a {key}")),
            },
            3,
        ),
    ] {
        let edited = store.edit(&notes, None, &op, &stamp).unwrap();
        assert_eq!(edited.keys_removed, keys, "{op:?}");
    }
    assert_eq!(store.undo(&notes, 1, &stamp).unwrap().keys_removed, 2);
    store.delete(&notes, &stamp).unwrap();
    let log = serde_json::to_string(&log(store, &notes)).unwrap();
    assert!(log.contains(KEY_REMOVED) && !log.contains("sk-"), "{log}");
    hides_what_a_filter_does(store);
}

/// The filter of a key without a form.
#[derive(Debug)]
struct OneKey;

impl KeyFilter for OneKey {
    fn hide(&self, text: String) -> String {
        text.replace("a-known-key", "[redacted]")
    }
}

fn hides_what_a_filter_does(store: &dyn BlockStore) {
    store.add_filter(Arc::new(OneKey));
    let notes = name("filtered");
    let url = "https://example.org/?k=a-known-key".to_owned();
    let from = Origins::from(Origin::Web { url });
    let labels = [(Path::root(), from.clone())].into();
    let stamp = stamp(0).with_from(from).with_labels(labels);
    let block = |text: &str| Block::new(format!("{text} a-known-key"));
    store.create(&notes, &block("first"), &stamp).unwrap();
    for op in [
        write("0.1", "a-known-key"),
        append("a-known-key", None),
        Op::Replace {
            block: block("second"),
        },
    ] {
        store.edit(&notes, None, &op, &stamp).unwrap();
    }
    let read = text(store, &notes, "0");
    assert_eq!(read.as_deref(), Some("second [redacted]"));
    let log = log(store, &notes);
    assert_eq!(log[0].from.listed().len(), 1);
    assert_eq!(log[0].labels[&Path::root()], log[0].from);
    let log = serde_json::to_string(&log).unwrap();
    assert!(!log.contains("a-known-key"), "{log}");
}

fn lets_one_of_two_threads_win(store: &dyn BlockStore) {
    let notes = name("notes");
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    for rev in 1..=20 {
        let attempt = |text: &str| {
            let edited = store.edit(
                &notes,
                Some(rev),
                &write("0.1", &format!("{text} {rev}")),
                &stamp(1),
            );
            edited
                .map(|edited| edited.rev)
                .map_err(|error| error.kind())
        };
        let mut results = thread::scope(|scope| {
            let one = scope.spawn(|| attempt("one"));
            let two = scope.spawn(|| attempt("two"));
            [one.join().unwrap(), two.join().unwrap()]
        });
        results.sort();
        assert_eq!(results, [Ok(rev + 1), Err("revision")]);
    }
}
