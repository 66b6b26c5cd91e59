//! The rest of a log whose oldest archives were removed: undo and repair need nothing of them.

use std::fs;
use std::path::{Path, PathBuf};

use durable::Disk;
use pscale_blocks::store::Origin;
use pscale_blocks::store::conformance::{log, name, stamp, write};
use pscale_blocks::{Block, BlockStore, DirStore, EditAuthor, Stamp};

use crate::data_dir::{HOUR, Store, text};

/// Entries of an archive.
const PACKED: usize = 20;

/// Edits `notes` this many times, at one time.
fn edit(store: &DirStore, count: u64, seconds: i64) {
    let notes = name("notes");
    let rev = store.load(&notes).unwrap().rev;
    for rev in rev..rev + count {
        let op = write("0.1", &format!("edit {}", rev + 1));
        (store.edit(&notes, Some(rev), &op, &stamp(seconds))).unwrap();
    }
}

/// Moves all lines but the newest 10 to archives of 20.
fn pack(store: &Store) {
    let live = store.path("log/notes.jsonl");
    loop {
        let text = fs::read_to_string(&live).unwrap();
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        if lines.len() < PACKED + 10 {
            return;
        }
        let length: usize = lines[..PACKED].iter().map(|line| line.len()).sum();
        let rev = |line: &str| -> u64 {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            entry["rev"].as_u64().unwrap()
        };
        let (first, last) = (rev(lines[0]), rev(lines[PACKED - 1]));
        let archive = store.path(&format!("log/notes.{first}-{last}.jsonl.gz"));
        let disk = Disk::default().without_sync();
        (disk.rotate(&live, &archive, 0..length as u64, b"")).unwrap();
    }
}

/// Removes what a reader and a writer say can be removed; answers the revision from which on all is there.
fn prune(store: &Store) -> u64 {
    let dir = store.folder.path();
    let listed = DirStore::open_read_only(dir)
        .unwrap()
        .surplus_archives(0)
        .unwrap();
    let open = DirStore::open(dir).unwrap();
    assert_eq!(open.surplus_archives(0).unwrap(), listed);
    assert_eq!(
        open.surplus_archives(u64::MAX).unwrap(),
        [""; 0].map(PathBuf::from)
    );
    for path in &listed {
        fs::remove_file(path).unwrap();
    }
    assert_eq!(
        open.surplus_archives(0).unwrap(),
        [""; 0].map(PathBuf::from)
    );
    let left = log(&open, &name("notes"));
    assert!(left.windows(2).all(|pair| pair[0].rev + 1 == pair[1].rev));
    left[0].rev
}

/// A damaged block is made again, and `count` edits can be undone.
fn check(store: &Store, count: u32) {
    let file = store.read("blocks/notes.json");
    store.write("blocks/notes.json", "{");
    let open = store.open();
    assert_eq!(store.read("blocks/notes.json"), file);
    let undone = open
        .undo(&name("notes"), count, &stamp(999 * HOUR))
        .unwrap();
    assert_eq!(undone.steps, count);
}

fn touch(path: &Path, seconds: i64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(stamp(seconds).at.into()).unwrap();
}

#[test]
fn the_newest_100_edits_and_those_since_the_backup_stay() {
    let store = Store::new();
    edit(&store.open(), 297, 10);
    pack(&store);
    // The backup is from the second edit, and all are newer.
    assert_eq!(prune(&store), 1);

    // A day later there is another one, and 100 edits reach back before it.
    edit(&store.open(), 10, 25 * HOUR);
    assert_eq!(prune(&store), 201);
    assert_eq!(text(&store.open(), "0.1").as_deref(), Some("edit 310"));
    check(&store, 100);

    // Its edits can be undone, and the ones that this undoes are newer than any archive.
    edit(&store.open(), 200, 26 * HOUR);
    pack(&store);
    assert_eq!(prune(&store), 201, "the backup is from revision 300");
    check(&store, 199);
}

#[test]
fn a_backup_whose_time_is_that_of_a_copy_is_found_by_its_block() {
    let store = Store::new();
    edit(&store.open(), 297, 10);
    edit(&store.open(), 200, 25 * HOUR);
    pack(&store);
    for seconds in [-HOUR, 999 * HOUR] {
        touch(&store.path("backups/notes.json"), seconds);
        assert_eq!(prune(&store), 281, "the backup is of revision 300");
    }
    check(&store, 200);
}

#[test]
fn an_undo_needs_more_than_the_newest_entries() {
    let store = Store::new();
    let open = store.open();
    let notes = name("notes");
    edit(&open, 297, 10);
    // Without effect, and 150 entries long.
    for count in 0..75 {
        open.edit(&notes, None, &write("0.2", "x"), &stamp(25 * HOUR + count))
            .unwrap();
        open.undo(&notes, 1, &stamp(25 * HOUR + count)).unwrap();
    }
    edit(&open, 10, 26 * HOUR);
    drop(open);
    pack(&store);
    // 10 edits, and 90 before revision 300.
    assert_eq!(prune(&store), 201);
    check(&store, 100);
}

#[test]
fn a_repair_needs_the_edits_that_were_undone_since_the_backup() {
    let store = Store::new();
    edit(&store.open(), 197, 10);
    // The backup is of revision 200, and the edits taken back are older.
    let open = store.open();
    open.undo(&name("notes"), 60, &stamp(25 * HOUR)).unwrap();
    edit(&open, 150, 26 * HOUR);
    drop(open);
    pack(&store);
    assert_eq!(prune(&store), 141);
    check(&store, 140);
}

#[test]
fn of_a_block_that_was_deleted_the_newest_entries_stay_and_no_backup() {
    let store = Store::new();
    let open = store.open();
    edit(&open, 297, 10);
    let none = [""; 0].map(PathBuf::from);
    assert_eq!(open.spare_backups().unwrap(), none);
    open.delete(&name("notes"), &stamp(11)).unwrap();
    let backup = store.path("backups/notes.json");
    assert_eq!(open.spare_backups().unwrap(), [backup]);
    drop(open);
    pack(&store);
    assert_eq!(prune(&store), 201);
    let open = store.open();
    let rev = open
        .create(&name("notes"), &Block::new("n"), &stamp(12))
        .unwrap();
    assert_eq!(rev, 302);
    assert_eq!(open.spare_backups().unwrap(), none);
    drop(open);
    // A file that is missing is not a block that was deleted.
    fs::remove_file(store.path("blocks/notes.json")).unwrap();
    let reader = DirStore::open_read_only(store.folder.path()).unwrap();
    assert_eq!(reader.spare_backups().unwrap(), none);
    store.write("backups/never.json", "{}");
    store.write("backups/NOTES", "no backup");
    let never = store.path("backups/never.json");
    assert_eq!(store.open().spare_backups().unwrap(), [never]);
}

#[test]
fn a_log_with_an_archive_that_cannot_be_read_keeps_all() {
    let store = Store::new();
    edit(&store.open(), 297, 10);
    edit(&store.open(), 10, 25 * HOUR);
    pack(&store);
    store.write("log/notes.221-240.jsonl.gz", "garbage");
    let open = store.open();
    assert_eq!(
        open.surplus_archives(0).unwrap(),
        [""; 0].map(PathBuf::from)
    );
}

/// The archives are the only source of labels that were not asked for yet.
#[test]
fn labels_are_made_before_archives_go() {
    let store = Store::new();
    let open = store.open();
    let page = Origin::Web {
        url: "a".to_owned(),
    };
    // The stamp of the conformance tests is by the person, who gives no label.
    let by_page = Stamp::new(stamp(5).at, EditAuthor::Kernel).with_from(page.into());
    (open.edit(&name("notes"), None, &write("0.3", "read"), &by_page)).unwrap();
    drop(open);
    edit(&store.open(), 293, 10);
    edit(&store.open(), 10, 25 * HOUR);
    pack(&store);
    assert!(prune(&store) > 100);
    let labels = store.open().labels(&name("notes")).unwrap();
    let paths: Vec<_> = labels.nodes().keys().map(ToString::to_string).collect();
    assert_eq!(paths, ["0.3"]);
}
