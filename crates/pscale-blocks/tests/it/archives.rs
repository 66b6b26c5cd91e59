//! Archives that a person, an attacker or an older program put there, and the logs that this leaves.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use durable::Disk;
use pscale_blocks::store::LogRange;
use pscale_blocks::store::conformance::{log, name, stamp, write};
use pscale_blocks::{Block, BlockName, BlockStore, DirStore, MAX_TEXT};

use crate::data_dir::{Store, text};

const NEWEST: u64 = 60;

/// A store whose block `notes` has 60 revisions.
fn edited() -> Store {
    let store = Store::new();
    let open = store.open();
    edit(&open, &name("notes"), 4..=NEWEST);
    store
}

fn edit(store: &DirStore, block: &BlockName, revs: RangeInclusive<u64>) {
    for rev in revs {
        let op = write("0.1", &format!("{block} {rev}"));
        (store.edit(block, Some(rev - 1), &op, &stamp(rev as i64))).unwrap();
    }
}

/// Adds lines until the log is packed.
fn edit_until_packed(store: &Store, open: &DirStore) {
    let live = store.path("log/notes.jsonl");
    let mut before = 0;
    for edit in 0.. {
        let length = fs::metadata(&live).unwrap().len();
        if length < before {
            return;
        }
        before = length;
        let op = write("0.3", &["a", "b"][edit % 2].repeat(MAX_TEXT));
        open.edit(&name("notes"), None, &op, &stamp(100)).unwrap();
    }
}

/// Puts the lines of these revisions, which the log has from 1 on, into an archive.
fn pack(store: &Store, lines: &str, revs: RangeInclusive<usize>, archive: &str) {
    let lines: Vec<_> = lines.split_inclusive('\n').collect();
    let lines = lines[revs.start() - 1..*revs.end()].concat();
    pack_bytes(lines.as_bytes(), &store.path("log").join(archive));
}

fn pack_bytes(bytes: &[u8], archive: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let draft = folder.path().join("draft");
    fs::write(&draft, bytes).unwrap();
    let disk = Disk::default().without_sync();
    let all = 0..bytes.len() as u64;
    disk.rotate(&draft, archive, all, b"").unwrap();
}

fn revs(store: &DirStore, block: &str) -> Vec<u64> {
    let entries = log(store, &name(block)).into_iter();
    entries.map(|entry| entry.rev).collect()
}

#[test]
fn archives_that_overlap_give_each_entry_once() {
    for ranges in [
        &[1..=20, 21..=50][..],
        &[1..=30, 11..=50],
        &[1..=50, 10..=20],
        &[1..=50, 1..=50, 40..=50],
        &[1..=20, 1..=40, 15..=50, 30..=45],
    ] {
        let store = edited();
        let lines = store.read("log/notes.jsonl");
        for range in ranges {
            let archive = format!("notes.{}-{}.jsonl.gz", range.start(), range.end());
            pack(&store, &lines, range.clone(), &archive);
        }
        let live: Vec<_> = lines.split_inclusive('\n').skip(50).collect();
        store.write("log/notes.jsonl", live.concat());
        let before = store.list("log");
        let open = store.open();
        assert_eq!(revs(&open, "notes"), (1..=NEWEST).collect::<Vec<_>>());
        let range = LogRange::newest(5).before(43);
        let found = open.log(&name("notes"), range).unwrap();
        assert!(found.iter().map(|entry| entry.rev).eq((38..43).rev()));
        edit_until_packed(&store, &open);
        let newest = open.load(&name("notes")).unwrap().rev;
        assert_eq!(revs(&open, "notes"), (1..=newest).collect::<Vec<_>>());
        let undone = open.undo(&name("notes"), 9_999, &stamp(200)).unwrap();
        assert_eq!(u64::from(undone.steps), newest - 1);
        assert_eq!(*open.load(&name("notes")).unwrap().block, Block::new("n"));
        // No archive went, since none was the beginning of what was packed.
        let after = store.list("log");
        assert!(before.iter().all(|file| after.contains(file)), "{after:?}");
    }
}

#[test]
fn an_archive_that_a_crash_left_is_replaced_and_one_of_another_past_is_not() {
    let store = edited();
    let lines = store.read("log/notes.jsonl");
    pack(&store, &lines, 1..=30, "notes.1-30.jsonl.gz");
    // The same beginning with other entries.
    let other = lines.replace("notes 2", "other 2");
    pack(&store, &other, 1..=25, "notes.1-25.jsonl.gz");
    let open = store.open();
    edit_until_packed(&store, &open);
    let files = store.list("log");
    assert!(
        files.contains(&"notes.1-25.jsonl.gz".to_owned()),
        "{files:?}"
    );
    assert!(
        !files.contains(&"notes.1-30.jsonl.gz".to_owned()),
        "{files:?}"
    );
    let newest = open.load(&name("notes")).unwrap().rev;
    assert_eq!(revs(&open, "notes"), (1..=newest).collect::<Vec<_>>());
}

#[test]
fn an_archive_is_never_written_over_by_other_entries() {
    // Once to learn which name the archive gets.
    let store = edited();
    let open = store.open();
    edit_until_packed(&store, &open);
    let archive = format!("log/{}", store.list("log")[0]);
    drop(open);

    let store = edited();
    pack_bytes(b"what a person put there\n", &store.path(&archive));
    let theirs = fs::read(store.path(&archive)).unwrap();
    let open = store.open();
    for edit in 0..70 {
        let op = write("0.3", &["a", "b"][edit % 2].repeat(MAX_TEXT));
        open.edit(&name("notes"), None, &op, &stamp(100)).unwrap();
    }
    assert_eq!(fs::read(store.path(&archive)).unwrap(), theirs);
    let lines = store.read("log/notes.jsonl").lines().count() as u64;
    let newest = open.load(&name("notes")).unwrap().rev;
    let kept = revs(&open, "notes");
    assert_eq!(kept, (1..=newest).collect::<Vec<_>>(), "{lines} lines");
}

#[cfg(unix)]
#[test]
fn files_that_are_no_archives_are_left_alone() {
    let store = edited();
    let others = [
        "notes.0001-2.jsonl.gz",
        "notes.2-1.jsonl.gz",
        "notes.+1-2.jsonl.gz",
        "notes.0-5.jsonl.gz",
        "notes.1-99999999999999999999.jsonl.gz",
        "notes.1.2-3.jsonl.gz",
        "notes-01.jsonl.gz",
        "NOTES.1-2.jsonl.gz",
    ];
    for file in others {
        store.write(&format!("log/{file}"), "garbage");
    }
    let open = store.open();
    assert_eq!(revs(&open, "notes"), (1..=NEWEST).collect::<Vec<_>>());
    edit_until_packed(&store, &open);
    for file in others {
        assert_eq!(store.read(&format!("log/{file}")), "garbage", "{file}");
        let told = open.notices().join("\n");
        assert!(
            told.contains(&format!("{file} belongs to no block")),
            "{told}"
        );
    }
    assert_eq!(open.notices().len(), others.len());
    let newest = open.load(&name("notes")).unwrap().rev;
    assert_eq!(revs(&open, "notes"), (1..=newest).collect::<Vec<_>>());
}

#[cfg(unix)]
fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Puts something else in the place of an archive.
#[cfg(unix)]
fn plant(kind: &str, path: &Path) {
    match kind {
        "garbage" => fs::write(path, "garbage").unwrap(),
        "empty" => fs::write(path, "").unwrap(),
        "link" => std::os::unix::fs::symlink("/etc/passwd", path).unwrap(),
        "dangling link" => std::os::unix::fs::symlink("nowhere", path).unwrap(),
        "folder" => fs::create_dir(path).unwrap(),
        "pipe" => make_pipe(path),
        "bomb" => pack_bytes(&vec![b' '; (64 << 20) + 1], path),
        other => panic!("{other}"),
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_archive_concerns_no_one_who_does_not_need_it() {
    let kinds = [
        "garbage",
        "empty",
        "link",
        "dangling link",
        "folder",
        "pipe",
        "bomb",
    ];
    let archives = ["notes.1-9007199254740992.jsonl.gz", "notes-7.jsonl.gz"];
    for kind in kinds {
        let store = edited();
        let paths = archives.map(|archive| store.path("log").join(archive));
        for path in &paths {
            plant(kind, path);
        }
        let open = store.open();
        let notes = name("notes");
        assert_eq!(open.load(&notes).unwrap().rev, NEWEST);
        assert_eq!(open.undo(&notes, 9, &stamp(99)).unwrap().steps, 9);
        edit_until_packed(&store, &open);
        assert_eq!(open.undo(&notes, 3, &stamp(99)).unwrap().steps, 3);
        let range = LogRange::newest(3);
        assert_eq!(open.log(&notes, range).unwrap().len(), 3);
        // Who asks for all is told which file it is.
        let newest = open.load(&notes).unwrap().rev;
        match open.log(&notes, LogRange::ALL) {
            Ok(entries) => assert!(entries.len() as u64 == newest),
            Err(error) => {
                assert_eq!(error.kind(), "corrupt", "{kind}");
                assert!(error.to_string().contains(archives[0]), "{error}");
            }
        }
        assert_eq!(open.surplus_archives(0).unwrap(), [""; 0].map(Path::new));
        for path in paths {
            assert!(fs::symlink_metadata(&path).is_ok(), "{kind}");
        }
    }
}

#[test]
fn the_archives_of_blocks_with_names_alike_are_told_apart() {
    let store = Store::new();
    let open = store.open();
    let blocks = ["a", "a-1", "a-1-2", "a_1", "a-2"];
    for block in blocks {
        (open.create(&name(block), &Block::new(block), &stamp(0))).unwrap();
        edit(&open, &name(block), 2..=30);
    }
    drop(open);
    for block in blocks {
        let live = format!("log/{block}.jsonl");
        let lines = store.read(&live);
        pack(&store, &lines, 1..=10, &format!("{block}-1.jsonl.gz"));
        pack(&store, &lines, 11..=20, &format!("{block}.11-20.jsonl.gz"));
        let kept: Vec<_> = lines.split_inclusive('\n').skip(20).collect();
        store.write(&live, kept.concat());
    }
    let open = store.open();
    for block in blocks {
        assert_eq!(revs(&open, block), (1..=30).collect::<Vec<_>>(), "{block}");
        let undone = open.undo(&name(block), 99, &stamp(99)).unwrap();
        assert_eq!(undone.steps, 29);
        let found = open.load(&name(block)).unwrap();
        assert_eq!(*found.block, Block::new(block));
    }
    assert_eq!(open.notices(), [""; 0]);
}

#[test]
fn an_archive_of_an_older_program_that_has_no_free_name_keeps_its_own() {
    let store = edited();
    let lines = store.read("log/notes.jsonl");
    pack(&store, &lines, 1..=20, "notes-1.jsonl.gz");
    pack(&store, &lines, 21..=40, "notes-2.jsonl.gz");
    store.write("log/notes-3.jsonl.gz", "garbage");
    store.write("log/notes.1-20.jsonl.gz", "taken");
    let live: Vec<_> = lines.split_inclusive('\n').skip(40).collect();
    store.write("log/notes.jsonl", live.concat());
    let open = store.open();
    edit_until_packed(&store, &open);
    let files = store.list("log");
    let kept = [
        "notes-1.jsonl.gz",
        "notes-3.jsonl.gz",
        "notes.1-20.jsonl.gz",
    ];
    assert!(kept.iter().all(|file| files.contains(&(*file).to_owned())));
    assert!(
        files.contains(&"notes.21-40.jsonl.gz".to_owned()),
        "{files:?}"
    );
    assert_eq!(store.read("log/notes.1-20.jsonl.gz"), "taken");
    let told = open.notices().join("\n");
    assert!(told.contains("notes-3.jsonl.gz"), "{told}");
}

#[test]
fn a_line_of_60_mb_is_left_where_it_is() {
    let store = edited();
    let lines = store.read("log/notes.jsonl");
    let long = "x".repeat(60 << 20);
    store.write("log/notes.jsonl", format!("{long}\n{lines}"));
    let open = store.open();
    let notes = name("notes");
    assert_eq!(open.load(&notes).unwrap().rev, NEWEST);
    assert_eq!(open.notices(), [""; 0], "it is not read");
    edit(&open, &notes, NEWEST + 1..=NEWEST + 3);
    assert_eq!(revs(&open, "notes"), (1..=NEWEST + 3).collect::<Vec<_>>());
    // It was packed together with the first entry.
    let disk = Disk::default();
    let packed = disk
        .unpack(&store.path("log/notes.1-1.jsonl.gz"), 64 << 20)
        .unwrap();
    assert!(packed.starts_with(long.as_bytes()));
    assert_eq!(open.undo(&notes, 62, &stamp(99)).unwrap().steps, 62);

    // Longer than an archive may be.
    let lines = store.read("log/notes.jsonl");
    let longer = "x".repeat(65 << 20);
    drop(open);
    store.write("log/notes.jsonl", format!("{longer}\n{lines}"));
    let open = store.open();
    let rev = open.load(&notes).unwrap().rev;
    edit(&open, &notes, rev + 1..=rev + 3);
    assert!(revs(&open, "notes").ends_with(&[rev + 1, rev + 2, rev + 3]));
    assert!(store.read("log/notes.jsonl").starts_with(&longer));
    assert_eq!(text(&open, "0.1"), Some(format!("notes {}", rev + 3)));
}

#[test]
fn a_log_that_lost_its_lines_continues_from_its_archives() {
    for left in ["", "no end", "garbage\n", "garbage\nno end"] {
        let store = edited();
        let lines = store.read("log/notes.jsonl");
        pack(&store, &lines, 1..=60, "notes.1-60.jsonl.gz");
        store.write("log/notes.jsonl", left);
        let open = store.open();
        assert_eq!(open.load(&name("notes")).unwrap().rev, NEWEST, "{left}");
        edit(&open, &name("notes"), NEWEST + 1..=NEWEST + 2);
        assert_eq!(revs(&open, "notes"), (1..=NEWEST + 2).collect::<Vec<_>>());
        assert_eq!(open.undo(&name("notes"), 30, &stamp(99)).unwrap().steps, 30);
        let told = open.notices();
        assert_eq!(told.len(), usize::from(left.contains('\n')), "{told:?}");
    }
    let store = edited();
    let long = "x".repeat(60 << 20);
    let lines = store.read("log/notes.jsonl");
    store.write("log/notes.jsonl", format!("{lines}{long}"));
    let open = store.open();
    assert_eq!(open.load(&name("notes")).unwrap().rev, NEWEST);
    assert_eq!(store.read("log/notes.jsonl"), lines);
}
