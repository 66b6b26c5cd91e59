//! The parts of a log that are asked for, and the files that this opens.

use std::fs;

use durable::Disk;
use pscale_blocks::store::conformance::{log, name, stamp, write};
use pscale_blocks::store::{LogRange, newest_edits};
use pscale_blocks::{Block, BlockStore, DirStore, MemStore};

/// Entries of an archive.
const PACKED: u64 = 25;
const ARCHIVES: u64 = 40;

/// A store with 1,010 revisions of `notes`, ten of them in the live log.
fn long_log() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = DirStore::open(folder.path()).unwrap().without_fsync();
    let notes = name("notes");
    (store.create(&notes, &Block::new("n"), &stamp(0))).unwrap();
    for edit in 2..=ARCHIVES * PACKED + 10 {
        let op = write("0.1", &format!("edit {edit}"));
        store.edit(&notes, None, &op, &stamp(edit as i64)).unwrap();
    }
    let live = folder.path().join("log/notes.jsonl");
    for archive in 0..ARCHIVES {
        let text = fs::read_to_string(&live).unwrap();
        let lines = text.split_inclusive('\n').take(PACKED as usize);
        let length: usize = lines.map(str::len).sum();
        let (first, last) = (archive * PACKED + 1, (archive + 1) * PACKED);
        let to = folder
            .path()
            .join(format!("log/notes.{first}-{last}.jsonl.gz"));
        (Disk::default()
            .without_sync()
            .rotate(&live, &to, 0..length as u64, b""))
        .unwrap();
    }
    folder
}

#[test]
fn log_range_opens_only_the_archives_that_it_needs() {
    let folder = long_log();
    let notes = name("notes");
    let newest = ARCHIVES * PACKED + 10;
    for (range, revs, archives) in [
        (LogRange::newest(0), 0..0, 0),
        (LogRange::newest(10), newest - 9..newest + 1, 0),
        (LogRange::newest(20), newest - 19..newest + 1, 1),
        (LogRange::newest(20).before(501), 481..501, 1),
        (LogRange::newest(20).before(491), 471..491, 2),
        (LogRange::newest(50).before(26), 1..26, 1),
        (LogRange::newest(9).before(1), 0..0, 0),
        (LogRange::ALL, 1..newest + 1, ARCHIVES),
    ] {
        let store = DirStore::open_read_only(folder.path()).unwrap();
        store.load(&notes).unwrap();
        let entries = store.log(&notes, range).unwrap();
        assert!(
            entries.iter().map(|entry| entry.rev).eq(revs.rev()),
            "{range:?}"
        );
        assert_eq!(store.read_counts().archives, archives, "{range:?}");
    }
    // An archive that is gone is a log that begins later.
    let gone = folder.path().join("log/notes.1-25.jsonl.gz");
    fs::remove_file(gone).unwrap();
    let store = DirStore::open(folder.path()).unwrap().without_fsync();
    assert_eq!(log(&store, &notes)[0].rev, 26);
    assert_eq!(store.undo(&notes, 100, &stamp(9)).unwrap().steps, 100);
    assert_eq!(
        u64::from(store.undo(&notes, 2_000, &stamp(9)).unwrap().steps),
        newest - 125
    );
}

#[test]
fn log_range_of_all_blocks_is_merged_by_time() {
    let folder = long_log();
    let store = DirStore::open(folder.path()).unwrap().without_fsync();
    let other = name("other");
    store
        .create(&other, &Block::new("o"), &stamp(1_001))
        .unwrap();
    for at in [1_003, 1_009, 2_000] {
        let op = write("0.1", &at.to_string());
        store.edit(&other, None, &op, &stamp(at)).unwrap();
    }
    let found = newest_edits(&store, 6).unwrap();
    let rows: Vec<_> = (found.iter().map(|(name, entry)| (name.as_str(), entry.rev))).collect();
    let notes = |rev| ("notes", rev);
    let expected = [("other", 4), notes(1_010), ("other", 3), notes(1_009)];
    assert_eq!(rows[..2], expected[..2]);
    assert!(expected.iter().all(|row| rows.contains(row)), "{rows:?}");
    assert_eq!(
        store.read_counts().archives,
        1,
        "a few entries of each block are read"
    );
    assert_eq!(newest_edits(&store, 40).unwrap().len(), 40);
    assert_eq!(newest_edits(&store, 9_999).unwrap().len(), 1_014);
    assert_eq!(newest_edits(&MemStore::new(), 9).unwrap(), []);
}
