//! A store reads the blocks that are used, and nothing else.

use std::fs;
use std::sync::Arc;

use pscale_blocks::store::conformance::{append, log, name, stamp, write};
use pscale_blocks::store::{BlockPresence, LogRange, ReadCounts};
use pscale_blocks::{Block, BlockStore, DirStore};

use crate::data_dir::{Store, text};

/// The numbers of files of blocks, logs, archives and entries that were read.
fn counts(store: &DirStore) -> [u64; 4] {
    let ReadCounts {
        blocks,
        logs,
        archives,
        entries,
        ..
    } = store.read_counts();
    [blocks, logs, archives, entries]
}

fn reader(store: &Store) -> DirStore {
    DirStore::open_read_only(store.folder.path()).unwrap()
}

fn writer(store: &Store) -> DirStore {
    DirStore::open(store.folder.path()).unwrap().without_fsync()
}

#[test]
fn one_block_is_read_and_the_others_may_be_garbage() {
    for open in [reader, writer] {
        let store = Store::new();
        for garbage in ["blocks/other.json", "log/other.jsonl", "blocks/third.json"] {
            store.write(garbage, "\0garbage\n\0");
        }
        let files = store.list("blocks");
        let open = open(&store);
        assert_eq!(counts(&open), [0, 0, 0, 0], "to open it reads nothing");
        for _ in 0..3 {
            assert_eq!(text(&open, "0.2").as_deref(), Some("two"));
        }
        assert_eq!(open.load(&name("notes")).unwrap().rev, 3);
        assert_eq!(counts(&open), [1, 1, 0, 1]);
        assert_eq!(open.notices(), [""; 0]);
        assert_eq!(store.list("quarantine"), [""; 0]);
        assert_eq!(store.list("blocks"), files);
        // The damage is told at the first use.
        assert_eq!(open.load(&name("other")).unwrap_err().kind(), "no_block");
        let notices = open.notices().join("\n");
        assert!(
            notices.contains("other") && !notices.contains("third"),
            "{notices}"
        );
    }
}

#[test]
fn the_presence_of_a_block_costs_the_last_entry_of_its_log() {
    for open in [reader, writer] {
        let store = Store::new();
        store.write("blocks/other.json", "\0garbage\n\0");
        store.write("log/other.jsonl", store.read("log/notes.jsonl"));
        store.write("blocks/gone.json", "\0garbage\n\0");
        store.write("log/gone.jsonl", "\0garbage\n\0");
        store.write("blocks/third.json", "{}");
        store.write("log/third.jsonl", "{\"schema_version\":2}\n");
        let open = open(&store);
        let presence = |block: &str| open.presence(&name(block));
        assert_eq!(presence("notes").unwrap(), BlockPresence::Present);
        assert_eq!(counts(&open), [0, 1, 0, 1]);
        assert_eq!(presence("absent").unwrap(), BlockPresence::Absent);
        assert_eq!(presence("third").unwrap_err().kind(), "newer");
        // The damage of a block is told at its first use, unless its log cannot make it again.
        assert_eq!(presence("other").unwrap(), BlockPresence::Present);
        assert_eq!(counts(&open)[0], 0);
        assert_eq!(store.list("quarantine"), [""; 0]);
        assert_eq!(presence("gone").unwrap(), BlockPresence::Absent);
        assert_eq!(counts(&open)[0], 1);
    }
}

#[test]
fn a_long_log_costs_its_last_entry() {
    let store = Store::new();
    let open = store.open();
    for edit in 0..500 {
        let op = write("0.1", &format!("edit {edit}"));
        open.edit(&name("notes"), None, &op, &stamp(10)).unwrap();
    }
    drop(open);
    for open in [reader, writer] {
        let open = open(&store);
        assert_eq!(open.load(&name("notes")).unwrap().rev, 503);
        assert_eq!(counts(&open), [1, 1, 0, 1]);
        open.log(&name("notes"), LogRange::newest(20)).unwrap();
        assert_eq!(counts(&open), [1, 2, 0, 21]);
        drop(open);
    }
    let open = writer(&store);
    open.undo(&name("notes"), 1, &stamp(11)).unwrap();
    assert_eq!(
        counts(&open),
        [1, 2, 0, 11],
        "an undo reads the end of the log"
    );
    drop(open);

    // A log that is one edit ahead is finished from its end.
    let log = store.read("log/notes.jsonl");
    let block = store.read("blocks/notes.json");
    let open = store.open();
    let op = write("0.1", "not finished");
    open.edit(&name("notes"), None, &op, &stamp(12)).unwrap();
    drop(open);
    store.write("blocks/notes.json", &block);
    let open = writer(&store);
    assert_eq!(text(&open, "0.1").as_deref(), Some("not finished"));
    assert!(open.notices()[0].contains("was finished"));
    assert_eq!(counts(&open), [1, 2, 0, 17]);
    assert!(store.read("log/notes.jsonl").starts_with(&log));
}

#[test]
fn readers_share_a_block_and_an_edit_leaves_theirs_alone() {
    let store = Store::new();
    let open = writer(&store);
    let [one, two] = [(); 2].map(|()| open.load(&name("notes")).unwrap().block);
    assert!(Arc::ptr_eq(&one, &two));
    let before = Block::clone(&one);
    let op = append("three", None);
    open.edit(&name("notes"), None, &op, &stamp(9)).unwrap();
    assert_eq!(*one, before);
    assert_eq!(text(&open, "0.3").as_deref(), Some("three"));
}

#[test]
fn a_reader_sees_what_another_process_does_and_reads_an_unchanged_block_once() {
    let store = Store::new();
    let (notes, new) = (name("notes"), name("new"));
    let reader = reader(&store);
    for _ in 0..300 {
        assert_eq!(text(&reader, "0.2").as_deref(), Some("two"));
    }
    assert_eq!(counts(&reader), [1, 1, 0, 1]);

    let writer = writer(&store);
    let op = write("0.2", "II");
    writer.edit(&notes, None, &op, &stamp(9)).unwrap();
    assert_eq!(text(&reader, "0.2").as_deref(), Some("II"));
    assert_eq!(counts(&reader), [2, 2, 0, 2]);
    assert_eq!(reader.load(&notes).unwrap().rev, 4);
    assert_eq!(log(&reader, &notes).len(), 4);
    writer.undo(&notes, 1, &stamp(10)).unwrap();
    assert_eq!(text(&reader, "0.2").as_deref(), Some("two"));

    // A block that is new, one that is gone, and one that is back.
    assert_eq!(reader.load(&new).unwrap_err().kind(), "no_block");
    writer.create(&new, &Block::new("n"), &stamp(11)).unwrap();
    assert_eq!(reader.load(&new).unwrap().rev, 1);
    writer.delete(&new, &stamp(12)).unwrap();
    assert_eq!(reader.load(&new).unwrap_err().kind(), "no_block");
    assert_eq!(reader.names().unwrap().len(), 2);
    writer.create(&new, &Block::new("m"), &stamp(13)).unwrap();
    writer
        .create(&name("newer"), &Block::new("m"), &stamp(13))
        .unwrap();
    let rows = reader.names().unwrap();
    assert_eq!(
        rows.iter().map(|row| row.rev).collect::<Vec<_>>(),
        [3, 1, 5, 1]
    );

    // An editor that replaces the file with one of the same length, and a hand that damages it.
    let edited = store.read("blocks/notes.json").replace("two", "owt");
    store.write("draft", edited);
    fs::rename(store.path("draft"), store.path("blocks/notes.json")).unwrap();
    assert_eq!(text(&reader, "0.2").as_deref(), Some("owt"));
    store.write("blocks/notes.json", "{");
    assert_eq!(text(&reader, "0.2").as_deref(), Some("two"));
    let told: Vec<_> = reader.notices();
    assert_eq!(told.len(), 1, "{told:?}");

    // A later program has taken over.
    store.write("store.json", r#"{"schema_version": 2}"#);
    for error in [
        reader.load(&notes).unwrap_err(),
        reader.names().unwrap_err(),
    ] {
        assert_eq!(error.kind(), "newer");
    }
}

#[test]
fn each_notice_is_handed_on_once() {
    let store = Store::new();
    store.write("blocks/BAD", "");
    store.write("blocks/other.json", "{");
    let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&heard);
    let open = reader(&store).on_notice(move |line| sink.lock().unwrap().push(line.to_owned()));
    assert_eq!(heard.lock().unwrap().len(), 1, "the finding of the opening");
    for _ in 0..2 {
        open.names().unwrap();
    }
    let heard = heard.lock().unwrap();
    assert_eq!(*heard, open.notices());
    assert!(
        heard.len() == 2 && heard[1].contains("other is damaged"),
        "{heard:?}"
    );
}
