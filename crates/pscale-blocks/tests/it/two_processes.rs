use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pscale_blocks::store::LogRange;
use pscale_blocks::store::conformance::{log, name, stamp, write};
use pscale_blocks::{Block, BlockStore, DirStore, MAX_TEXT, StoreError};

use crate::child::{self, Process};

#[test]
fn one_process_writes_and_others_read() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("data");
    let mut child = Process::start("two_processes::child_holds", &dir, "");
    assert_eq!(child.hear().as_deref(), Some("open"));

    let locked = DirStore::open(&dir).unwrap_err();
    let StoreError::Locked { dir: which, pid } = &locked else {
        panic!("{locked}");
    };
    assert_eq!((which, *pid), (&dir, Some(child.id())));
    assert_eq!(locked.kind(), "locked");

    let reader = DirStore::open_read_only(&dir).unwrap();
    let notes = name("notes");
    assert_eq!(*reader.load(&notes).unwrap().block, Block::new("n"));
    assert_eq!(log(&reader, &notes).len(), 1);
    let errors = [
        reader
            .edit(&notes, None, &write("0.1", "x"), &stamp(1))
            .unwrap_err(),
        reader
            .create(&name("other"), &Block::new("o"), &stamp(1))
            .unwrap_err(),
        reader.delete(&notes, &stamp(1)).unwrap_err(),
    ];
    assert!(
        errors.iter().all(|error| error.kind() == "read_only"),
        "{errors:?}"
    );
    assert_eq!(*reader.load(&notes).unwrap().block, Block::new("n"));
    assert_eq!(fs::read_dir(dir.join("blocks")).unwrap().count(), 1);

    // The lock dies with its process, however that ends.
    child.kill();
    DirStore::open(&dir)
        .unwrap()
        .edit(&notes, Some(1), &write("0.1", "x"), &stamp(1))
        .unwrap();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
#[expect(clippy::disallowed_methods, reason = "it waits for its parent")]
fn child_holds() {
    let (dir, _) = child::task();
    let store = DirStore::open(dir).unwrap();
    store
        .create(&name("notes"), &Block::new("n"), &stamp(0))
        .unwrap();
    child::say("open");
    // Until the parent ends it.
    let _ = std::io::Read::read(&mut std::io::stdin(), &mut [0]);
}

#[test]
fn a_second_opening_in_one_process_is_locked_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirStore::open(folder.path()).unwrap();
    assert_eq!(DirStore::open(folder.path()).unwrap_err().kind(), "locked");
    drop(store);
    DirStore::open(folder.path()).unwrap();
}

#[test]
fn a_reader_sees_a_save_that_is_half_done_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let notes = name("notes");
    let store = DirStore::open(dir).unwrap();
    store.create(&notes, &Block::new("n"), &stamp(0)).unwrap();
    let before = fs::read(dir.join("blocks/notes.json")).unwrap();
    store
        .edit(&notes, None, &write("0.1", "one"), &stamp(1))
        .unwrap();
    // The log is one edit ahead, and the next line is being written.
    fs::write(dir.join("blocks/notes.json"), &before).unwrap();
    let log = dir.join("log/notes.jsonl");
    let mut lines = fs::read(&log).unwrap();
    lines.extend(b"{\"schema_version\":1,\"rev\":3,");
    fs::write(&log, &lines).unwrap();

    let reader = DirStore::open_read_only(dir).unwrap();
    let found = reader.load(&notes).unwrap();
    assert_eq!((found.rev, &*found.block), (1, &Block::new("n")));
    assert_eq!(fs::read(&log).unwrap(), lines, "a reader repairs nothing");
}

const EDITS: u64 = 200;

/// The text of `notes` at a revision. Those of every second one are equal, and so are their hashes.
fn text_at(rev: u64) -> String {
    ["a", "b"][(rev % 2) as usize].repeat(MAX_TEXT)
}

/// Reads `notes` after its revision `before`; answers its revision.
fn read_after(before: u64, reader: &DirStore, text_at: impl Fn(u64) -> String) -> u64 {
    let found = reader.load(&name("notes")).unwrap();
    assert!(found.rev >= before, "{} after {before}", found.rev);
    let text = found.block.text(&"0.1".parse().unwrap()).ok().flatten();
    let expected = (found.rev > 1).then(|| text_at(found.rev));
    assert!(text == expected.as_deref(), "revision {}", found.rev);
    found.rev
}

/// Checks that the log has each revision once; it may be ahead of `rev` by what was edited since.
fn check_log(reader: &DirStore, rev: u64) {
    for range in [LogRange::newest(3), LogRange::ALL] {
        let entries = reader.log(&name("notes"), range).unwrap();
        let newest = entries[0].rev;
        assert!(newest >= rev, "{newest} of {rev}");
        let revs = (1..=newest).rev().take(range.limit);
        assert!(entries.iter().map(|entry| entry.rev).eq(revs), "{newest}");
    }
}

#[test]
fn a_reader_sees_revisions_that_were_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("data");
    let mut child = Process::start("two_processes::child_rotates", &dir, "");
    assert_eq!(child.hear().as_deref(), Some("open"));
    let reader = DirStore::open_read_only(&dir).unwrap();
    let (mut rev, mut seen) = (1, 0);
    while rev <= EDITS {
        let found = read_after(rev, &reader, text_at);
        if found > rev {
            seen += 1;
            check_log(&reader, found);
        }
        rev = found;
    }
    assert!(child.end());
    assert_eq!(read_after(rev, &reader, text_at), EDITS + 1);
    assert!(seen > 1);
    assert_eq!(reader.notices(), [""; 0]);
    let archives = archives(&dir);
    assert!(archives > 3, "{archives}");
    assert_eq!(fs::read_dir(dir.join("quarantine")).unwrap().count(), 0);
}

fn archives(dir: &Path) -> usize {
    let files = fs::read_dir(dir.join("log")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".jsonl.gz")).count()
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_rotates() {
    let (dir, _) = child::task();
    let store = DirStore::open(dir).unwrap();
    let notes = name("notes");
    (store.create(&notes, &Block::new("n"), &stamp(0))).unwrap();
    child::say("open");
    for rev in 2..=EDITS + 1 {
        let op = write("0.1", &text_at(rev));
        store
            .edit(&notes, Some(rev - 1), &op, &stamp(rev as i64))
            .unwrap();
    }
}

#[test]
fn a_block_that_is_replaced_while_it_is_read_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let notes = name("notes");
    let store = DirStore::open(dir).unwrap().without_fsync();
    // To parse it takes longer than two edits.
    let mut block = Block::new("n");
    for path in ["0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"] {
        let text = "\u{1}".repeat(MAX_TEXT);
        block.apply(&write(path, &text)).unwrap();
    }
    store.create(&notes, &block, &stamp(0)).unwrap();
    let reader = DirStore::open_read_only(dir).unwrap();
    // Every second block is the same.
    let text_at = |rev: u64| (rev % 2).to_string();
    let is_read = AtomicBool::new(false);
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut rev = 1;
            for _ in 0..200 {
                rev = read_after(rev, &reader, text_at);
            }
            is_read.store(true, Ordering::Relaxed);
        });
        for rev in 2.. {
            let op = write("0.1", &text_at(rev));
            (store.edit(&notes, Some(rev - 1), &op, &stamp(0))).unwrap();
            if is_read.load(Ordering::Relaxed) || reading.is_finished() {
                break;
            }
        }
    });
    assert_eq!(reader.notices(), [""; 0]);
}

#[test]
fn there_is_nothing_to_read_where_there_is_no_directory() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert_eq!(DirStore::open_read_only(&missing).unwrap_err().kind(), "io");
    assert!(!missing.exists());
    assert_eq!(
        DirStore::open_read_only(folder.path())
            .unwrap()
            .names()
            .unwrap(),
        []
    );
}
