use std::fs;

use pscale_blocks::store::conformance::{name, stamp, write};
use pscale_blocks::{Block, BlockStore, DirStore, StoreError};

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
    assert_eq!(reader.load(&notes).unwrap().block, Block::new("n"));
    assert_eq!(reader.log(None, 0).unwrap().len(), 1);
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
    assert_eq!(reader.load(&notes).unwrap().block, Block::new("n"));
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
    assert_eq!((found.rev, found.block), (1, Block::new("n")));
    assert_eq!(fs::read(&log).unwrap(), lines, "a reader repairs nothing");
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
