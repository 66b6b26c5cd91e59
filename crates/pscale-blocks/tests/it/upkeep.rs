use std::fs;
use std::path::Path;

use pscale_blocks::store::conformance::{log, name, stamp, write};
use pscale_blocks::{Block, BlockStore, DirStore, MAX_TEXT};

use crate::data_dir::{HOUR, Store, text};

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_a_store() {
    use std::os::unix::fs::PermissionsExt as _;
    fn check(path: &Path) {
        let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            for entry in fs::read_dir(path).unwrap() {
                check(&entry.unwrap().path());
            }
        } else {
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("deep/data");
    let store = DirStore::open(&dir).unwrap();
    store
        .create(&name("notes"), &Block::new("n"), &stamp(0))
        .unwrap();
    store
        .edit(&name("notes"), None, &write("0.1", "one"), &stamp(1))
        .unwrap();
    assert!(dir.join("backups/notes.json").exists());
    check(&folder.path().join("deep"));
}

#[test]
fn a_backup_is_made_once_a_day() {
    let store = Store::new();
    let backup = || store.read("backups/notes.json");
    assert!(!backup().contains("one"), "before the first edit");
    let open = store.open();
    let edit = |text: &str, hours: i64| {
        open.edit(
            &name("notes"),
            None,
            &write("0.3", text),
            &stamp(hours * HOUR),
        )
        .unwrap();
    };
    edit("three", 23);
    assert!(!backup().contains("one"), "a day has not gone by");
    edit("four", 25);
    assert!(backup().contains("three"));
    edit("five", 26);
    edit("six", 1);
    assert!(backup().contains("three"));
    drop(open);
    store
        .open()
        .edit(&name("notes"), None, &write("0.3", "x"), &stamp(51 * HOUR))
        .unwrap();
    assert!(
        backup().contains("six"),
        "the time is that of the stamps, also after an opening"
    );
}

#[test]
fn older_entries_of_a_long_log_are_packed_and_can_still_be_taken_back() {
    let store = Store::new();
    let open = store.open();
    let notes = name("notes");
    let long = |letter: &str| letter.repeat(MAX_TEXT);
    for edit in 0..100 {
        let text = long(if edit % 2 == 0 { "a" } else { "b" });
        open.edit(&notes, None, &write("0.1", &text), &stamp(10 + edit))
            .unwrap();
    }
    let archives = store.list("log");
    let [first, second, ..] = &archives[..] else {
        panic!("{archives:?}");
    };
    assert!(first.starts_with("notes.1-") && second.ends_with(".jsonl.gz"));
    assert!(fs::metadata(store.path("log/notes.jsonl")).unwrap().len() <= 8 << 20);
    let revs = |open: &DirStore| log(open, &notes).into_iter().map(|entry| entry.rev);
    assert!(revs(&open).eq(1..=103));
    drop(open);

    // Archives of an older program are read, and the next packing gives them a name.
    for (number, name) in archives[..2].iter().enumerate() {
        let older = store.path(&format!("log/notes-{}.jsonl.gz", number + 1));
        fs::rename(store.path("log").join(name), older).unwrap();
    }
    let open = store.open();
    assert!(revs(&open).eq(1..=103));
    for edit in 0..40 {
        let text = long(if edit % 2 == 0 { "a" } else { "b" });
        (open.edit(&notes, None, &write("0.1", &text), &stamp(110 + edit))).unwrap();
    }
    assert!(revs(&open).eq(1..=143));
    let renamed = store.list("log");
    assert_eq!(renamed[..2], archives[..2]);
    assert!(renamed.iter().all(|name| !name.starts_with("notes-")));
    drop(open);

    // A crash before the log was shortened leaves entries twice; a damaged block is made again from all of them.
    let open = store.open();
    let full = store.read("blocks/notes.json");
    let mut twice = Vec::new();
    for entry in &log(&open, &notes)[19..] {
        serde_json::to_writer(&mut twice, entry).unwrap();
        twice.push(b'\n');
    }
    drop(open);
    store.write("log/notes.jsonl", twice);
    store.write("blocks/notes.json", "{");
    let open = store.open();
    assert_eq!(store.read("blocks/notes.json"), full);
    assert!(revs(&open).eq(1..=143));
    assert_eq!(open.undo(&notes, 142, &stamp(200)).unwrap().steps, 142);
    assert_eq!(*open.load(&notes).unwrap().block, Block::new("n"));
    open.redo(&notes, 142, &stamp(201)).unwrap();
    assert_eq!(store.read("blocks/notes.json"), full);
}

#[test]
fn a_person_may_edit_a_block_while_the_store_is_open() {
    let store = Store::new();
    let open = store.open();
    let notes = name("notes");
    let edited = store.read("blocks/notes.json").replace("two", "2");
    store.write("blocks/notes.json", &edited);
    let late = open
        .edit(&notes, Some(3), &write("0.1", "1"), &stamp(9))
        .unwrap_err();
    assert_eq!(late.kind(), "revision");
    assert_eq!(
        (
            open.load(&notes).unwrap().rev,
            text(&open, "0.2").as_deref()
        ),
        (4, Some("2"))
    );
    let entry = log(&open, &notes).remove(3);
    assert_eq!(entry.note.as_deref(), Some("edited outside"));

    // What an editor has half written is no block yet.
    store.write("blocks/notes.json", &edited[..20]);
    assert_eq!(
        (
            open.load(&notes).unwrap().rev,
            store.list("quarantine").len()
        ),
        (4, 0)
    );
    store.write("blocks/notes.json", edited.replace(": \"2\"", ": \"II\""));
    assert_eq!(
        (
            open.load(&notes).unwrap().rev,
            text(&open, "0.2").as_deref()
        ),
        (5, Some("II"))
    );

    // The next edit must not wait for it.
    store.write("blocks/notes.json", &edited[..20]);
    open.edit(&notes, Some(5), &write("0.1", "I"), &stamp(9))
        .unwrap();
    let [aside] = &store.list("quarantine")[..] else {
        panic!()
    };
    assert_eq!(store.read(&format!("quarantine/{aside}")), edited[..20]);
    fs::remove_file(store.path("blocks/notes.json")).unwrap();
    open.edit(&notes, Some(6), &write("0.1", "1"), &stamp(9))
        .unwrap();
    assert_eq!(open.undo(&notes, 9, &stamp(9)).unwrap().steps, 6);
    assert_eq!(store.read("blocks/notes.json"), Block::new("n").to_file());
    fs::remove_file(store.path("blocks/notes.json")).unwrap();
    open.delete(&notes, &stamp(10)).unwrap();
    assert_eq!(open.load(&notes).unwrap_err().kind(), "no_block");
}

#[test]
fn a_log_that_was_shortened_meanwhile_is_not_filled_up() {
    let store = Store::new();
    let open = store.open();
    let log = store.read("log/notes.jsonl");
    store.write("log/notes.jsonl", &log[..log.len() / 2]);
    let error = open
        .edit(&name("notes"), None, &write("0.1", "x"), &stamp(9))
        .unwrap_err();
    assert_eq!(error.kind(), "io");
    assert_eq!(text(&open, "0.1").as_deref(), Some("one"));
    assert!(!store.read("log/notes.jsonl").contains('\0'));
    drop(open);
    assert_eq!(text(&store.open(), "0.2").as_deref(), Some("two"));
}
