use std::fs;

use pscale_blocks::store::conformance::{self, name, stamp, write};
use pscale_blocks::store::{KEY_REMOVED, LoggedOp};
use pscale_blocks::{Block, BlockStore, DirStore, EditAuthor, StoreError};

use crate::data_dir::{HOUR, Store, text};

#[test]
fn a_file_that_is_no_block_is_put_aside_and_made_again_from_the_log() {
    let good = Store::new().read("blocks/notes.json");
    for bad in [
        "",
        "{}",
        "{",
        &good[..good.len() / 2],
        r#"{"decimal": 33, "tree": {"0": "n"}}"#,
        r#"{"decimal": 1, "tree": {"0": {"_": "n", "1": null}}}"#,
        "\0\0\0\0",
    ] {
        let store = Store::new();
        store.write("blocks/notes.json", bad);
        let reader = DirStore::open_read_only(store.folder.path()).unwrap();
        assert_eq!(
            reader.notices(),
            [""; 0],
            "nothing is read before it is used"
        );
        assert_eq!(text(&reader, "0.2").as_deref(), Some("two"), "{bad}");
        assert!(reader.notices()[0].contains("notes is damaged"));

        let open = store.open();
        assert_eq!(open.load(&name("notes")).unwrap().rev, 3, "{bad}");
        assert_eq!(store.read("blocks/notes.json"), good, "{bad}");
        assert_eq!(open.names().unwrap().len(), 2);
        let [aside] = &store.list("quarantine")[..] else {
            panic!("{bad}")
        };
        assert!(
            aside.starts_with("notes-20") && aside.ends_with("Z.json"),
            "{aside}"
        );
        assert_eq!(store.read(&format!("quarantine/{aside}")), bad);
        let notices = open.notices().join("\n");
        assert!(
            notices.contains(aside) && notices.contains("made again"),
            "{notices}"
        );
        assert_eq!(open.undo(&name("notes"), 1, &stamp(9)).unwrap().steps, 1);
    }
}

#[test]
fn what_no_text_is_and_what_is_too_long_is_put_aside() {
    let store = Store::new();
    store.write("blocks/notes.json", [0xff, 0xfe]);
    fs::File::create(store.path("blocks/other.json"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    let open = store.open();
    assert_eq!(open.names().unwrap().len(), 2);
    let notices = open.notices().join("\n");
    assert!(
        notices.contains("UTF-8") && notices.contains("longer"),
        "{notices}"
    );
}

#[test]
fn without_a_log_a_damaged_block_is_gone_and_the_others_are_there() {
    let store = Store::new();
    store.write("blocks/notes.json", "{");
    fs::remove_file(store.path("log/notes.jsonl")).unwrap();
    let open = store.open();
    assert_eq!(open.load(&name("notes")).unwrap_err().kind(), "no_block");
    assert_eq!(open.names().unwrap().len(), 1);
    assert_eq!(store.list("quarantine").len(), 1);
}

#[test]
fn a_damaged_block_is_made_again_from_its_backup_when_the_log_lost_its_beginning() {
    let store = Store::new();
    // The backup holds revision 1, and the entry that says so is lost.
    let log = store.read("log/notes.jsonl");
    let (first, rest) = log.split_once('\n').unwrap();
    let first = first.replace("\"op\":\"create\"", "\"op\":\"?\"");
    let good = store.read("blocks/notes.json");
    store.write("blocks/notes.json", "{");
    store.write("log/notes.jsonl", format!("{first}\n{rest}"));
    // No entry says that what the backup holds was ever there.
    let open = store.open();
    assert_eq!(open.load(&name("notes")).unwrap_err().kind(), "no_block");
    assert_eq!(
        conformance::log(&open, &name("notes")).last().unwrap().rev,
        4
    );
    drop(open);

    let store = Store::new();
    let at = stamp(30 * HOUR);
    store
        .open()
        .edit(&name("notes"), None, &write("0.3", "three"), &at)
        .unwrap();
    assert!(
        store.read("backups/notes.json").contains("two"),
        "a copy of revision 3"
    );
    let log = store.read("log/notes.jsonl");
    let rest: Vec<_> = log.lines().skip(2).collect();
    let full = store.read("blocks/notes.json");
    store.write("blocks/notes.json", "{");
    store.write("log/notes.jsonl", format!("{}\n", rest.join("\n")));
    let open = store.open();
    assert_eq!(open.load(&name("notes")).unwrap().rev, 4);
    assert_eq!(store.read("blocks/notes.json"), full);
    assert_ne!(full, good);
}

#[test]
fn a_file_that_a_person_edited_is_a_revision() {
    let store = Store::new();
    let edited = store
        .read("blocks/notes.json")
        .replace("two", "2, with sk-ant-0123456789");
    store.write("blocks/notes.json", edited);
    let open = store.open();
    let notes = name("notes");
    let found = open.load(&notes).unwrap();
    assert_eq!(found.rev, 4);
    let kept = format!("2, with {KEY_REMOVED}");
    assert_eq!(text(&open, "0.2").as_deref(), Some(&*kept));
    let entry = conformance::log(&open, &notes).remove(3);
    assert_eq!(
        (entry.by, entry.note.as_deref()),
        (EditAuthor::Person, Some("edited outside"))
    );
    for file in ["blocks/notes.json", "log/notes.jsonl"] {
        assert!(!store.read(file).contains("sk-ant"), "{file}");
    }
    assert!(open.notices()[0].contains("edited outside; 1 keys were removed: revision 4"));
    drop(open);

    // It is one edit among the others.
    let open = store.open();
    assert_eq!(open.notices(), [""; 0]);
    assert_eq!(open.undo(&notes, 2, &stamp(9)).unwrap().steps, 2);
    assert_eq!(
        (text(&open, "0.1").as_deref(), text(&open, "0.2")),
        (Some("one"), None)
    );
}

#[test]
fn another_layout_of_the_same_block_is_no_edit() {
    let store = Store::new();
    let block = Block::parse(&store.read("blocks/notes.json")).unwrap();
    store.write(
        "blocks/notes.json",
        format!("\u{feff}{}\n\n", pscale_blocks::render_json(&block)),
    );
    let open = store.open();
    assert_eq!(
        (open.load(&name("notes")).unwrap().rev, open.notices().len()),
        (3, 0)
    );
}

#[test]
fn files_that_a_person_put_there_or_took_away() {
    let store = Store::new();
    store.open().delete(&name("other"), &stamp(5)).unwrap();
    let [trash] = &store.list("trash")[..] else {
        panic!()
    };
    assert_eq!(trash, "other-20260101T000005Z.json");
    fs::rename(
        store.path("trash").join(trash),
        store.path("blocks/other.json"),
    )
    .unwrap();
    store.write("blocks/new.json", Block::new("new").to_file());
    fs::remove_file(store.path("blocks/notes.json")).unwrap();

    let open = store.open();
    let rows = open
        .names()
        .unwrap()
        .into_iter()
        .map(|row| (row.name.to_string(), row.rev));
    let expected = [("new", 1), ("notes", 3), ("other", 3)];
    assert!(rows.eq(expected.map(|(name, rev)| (name.to_owned(), rev))));
    assert_eq!(open.notices().len(), 3);
    let made = conformance::log(&open, &name("other")).remove(2);
    assert!(matches!(made.op, LoggedOp::Create { .. }));
}

#[test]
fn two_blocks_deleted_in_one_second_are_both_in_the_trash() {
    let store = Store::new();
    let open = store.open();
    open.delete(&name("other"), &stamp(5)).unwrap();
    open.create(&name("other"), &Block::new("again"), &stamp(5))
        .unwrap();
    open.delete(&name("other"), &stamp(5)).unwrap();
    assert_eq!(
        store.list("trash"),
        [
            "other-20260101T000005Z-2.json",
            "other-20260101T000005Z.json"
        ]
    );
}

#[test]
fn a_torn_line_is_cut_and_a_damaged_one_is_passed_over() {
    let store = Store::new();
    let log = store.read("log/notes.jsonl");
    store.write(
        "log/notes.jsonl",
        format!("{log}{{\"schema_version\":1,\"rev\":4,\"at\":"),
    );
    let open = store.open();
    assert_eq!(store.read("log/notes.jsonl"), log);
    assert_eq!(open.notices(), [""; 0]);
    drop(open);

    let lines: Vec<_> = log.lines().collect();
    store.write(
        "log/notes.jsonl",
        format!("{}\n{}\n{}\n", lines[0], "\0\0\0", lines[2]),
    );
    let open = store.open();
    assert_eq!(conformance::log(&open, &name("notes")).len(), 2);
    let path = store.path("log/notes.jsonl");
    let told = "line 2 cannot be read; it was passed over";
    assert_eq!(open.notices(), [format!("{}: {told}", path.display())]);
    let undone = open.undo(&name("notes"), 5, &stamp(9)).unwrap();
    assert_eq!(
        undone.steps, 1,
        "what a missing entry did cannot be taken back"
    );
    assert_eq!(text(&open, "0.1").as_deref(), Some("one"));
    drop(open);

    // The last line is damaged, not torn: the block is ahead of what can be read.
    let store = Store::new();
    store.write(
        "log/notes.jsonl",
        format!("{}\n{}\n{}\n", lines[0], lines[1], "{}"),
    );
    let open = store.open();
    assert_eq!(
        (
            open.load(&name("notes")).unwrap().rev,
            text(&open, "0.2").as_deref()
        ),
        (3, Some("two"))
    );
    assert_eq!(
        open.edit(&name("notes"), Some(3), &write("0.3", "x"), &stamp(9))
            .unwrap()
            .rev,
        4
    );
    assert_eq!(open.undo(&name("notes"), 9, &stamp(9)).unwrap().steps, 3);
    assert_eq!(*open.load(&name("notes")).unwrap().block, Block::new("n"));
}

#[test]
fn a_log_that_does_not_fit_its_block_takes_nothing_back() {
    let store = Store::new();
    let log = store.read("log/notes.jsonl");
    let inverse = r#""inverse":[{"node":{"path":"0.2","node":null}}]"#;
    assert!(log.contains(inverse), "{log}");
    let forged = log.replace(
        inverse,
        r#""inverse":[{"block":{"block":{"decimal":1,"tree":{"0":"x"}}}}]"#,
    );
    store.write("log/notes.jsonl", forged);
    let open = store.open();
    let error = open.undo(&name("notes"), 1, &stamp(9)).unwrap_err();
    assert_eq!(error.kind(), "corrupt");
    assert!(matches!(error, StoreError::LogMismatch { .. }));
    assert_eq!(text(&open, "0.2").as_deref(), Some("two"));
    assert_eq!(open.load(&name("notes")).unwrap().rev, 3);
}

#[test]
fn what_a_log_holds_is_parsed_as_strictly_as_a_block() {
    let store = Store::new();
    let log = store.read("log/notes.jsonl");
    for (part, forged) in [
        (r#""rev":3"#, r#""rev":18446744073709551615"#),
        (r#""rev":3"#, r#""rev":0"#),
        (r#""path":"0.2","text""#, r#""path":"../x","text""#),
        (
            r#"{"path":"0.2","node":null}"#,
            r#"{"path":"0.2","node":{}}"#,
        ),
    ] {
        assert!(log.contains(part), "{log}");
        store.write("log/notes.jsonl", log.replace(part, forged));
        let reader = DirStore::open_read_only(store.folder.path()).unwrap();
        assert_eq!(
            conformance::log(&reader, &name("notes")).len(),
            2,
            "{forged}"
        );
    }
}

#[test]
fn the_damage_of_a_log_is_one_notice_and_its_lines_stay() {
    let store = Store::new();
    let log = store.read("log/notes.jsonl");
    let damaged = log.replace('\n', "\n{}\nno entry\n\n");
    store.write("log/notes.jsonl", &damaged);
    let told = "9 lines cannot be read, the first is line 2; they were passed over";
    let told = format!("{}: {told}", store.path("log/notes.jsonl").display());
    for open in [
        DirStore::open_read_only(store.folder.path()).unwrap(),
        store.open(),
    ] {
        for _ in 0..2 {
            assert_eq!(open.load(&name("notes")).unwrap().rev, 3);
            assert_eq!(conformance::log(&open, &name("notes")).len(), 3);
        }
        assert_eq!(open.notices(), std::slice::from_ref(&told));
        assert_eq!(store.read("log/notes.jsonl"), damaged);
    }
    let open = store.open();
    let op = write("0.3", "three");
    open.edit(&name("notes"), Some(3), &op, &stamp(9)).unwrap();
    assert!(store.read("log/notes.jsonl").starts_with(&damaged));
    assert_eq!(open.undo(&name("notes"), 9, &stamp(9)).unwrap().steps, 3);
}

/// All files of a directory with their bytes.
fn files(store: &Store) -> Vec<(String, String)> {
    let folders = ["", "blocks", "log", "backups", "trash", "quarantine"];
    let names = folders.into_iter().flat_map(|folder| {
        let names = store.list(folder).into_iter();
        names.map(move |name| format!("{folder}/{name}"))
    });
    names
        .filter(|path| store.path(path.trim_start_matches('/')).is_file())
        .map(|path| (path.clone(), store.read(path.trim_start_matches('/'))))
        .collect()
}

#[test]
fn what_a_later_program_wrote_is_left_alone() {
    let store = Store::new();
    store.write("lock", "another process");
    store.write(".pscale-draft.part", "a draft");
    store.write("store.json", r#"{"schema_version": 2}"#);
    let before = files(&store);
    let told = "was written by a newer program (schema 2, this one knows 1): update the program";
    for error in [
        DirStore::open(store.folder.path()).unwrap_err(),
        DirStore::open_read_only(store.folder.path()).unwrap_err(),
        DirStore::check_open(store.folder.path()).unwrap_err(),
    ] {
        assert_eq!(error.kind(), "newer");
        let expected = format!("{} {told}", store.path("store.json").display());
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(files(&store), before);
    for unknown in ["[]", r#"{"schema_version": 0}"#] {
        store.write("store.json", unknown);
        let error = DirStore::open(store.folder.path()).unwrap_err();
        assert_eq!(error.kind(), "corrupt");
    }
    store.write("store.json", r#"{"schema_version": 1}"#);

    // A line is found at the first use of its block, and no other block is concerned.
    let log = store.read("log/notes.jsonl");
    let line = r#"{"schema_version":2,"rev":4}"#;
    store.write("log/notes.jsonl", format!("{log}{line}\n"));
    store.write("blocks/notes.json", "{");
    let notes = name("notes");
    let before = files(&store);
    let reader = DirStore::open_read_only(store.folder.path()).unwrap();
    let writer = DirStore::open(store.folder.path()).unwrap();
    let edit = |store: &DirStore| store.edit(&notes, None, &write("0.1", "x"), &stamp(9));
    for error in [
        reader.load(&notes).unwrap_err(),
        reader.names().unwrap_err(),
        writer.load(&notes).unwrap_err(),
        edit(&writer).unwrap_err(),
        writer.undo(&notes, 1, &stamp(9)).unwrap_err(),
        writer.delete(&notes, &stamp(9)).unwrap_err(),
        (writer.create(&notes, &Block::new("n"), &stamp(9))).unwrap_err(),
        writer.names().unwrap_err(),
    ] {
        assert_eq!(error.kind(), "newer");
        let expected = format!("{} {told}", store.path("log/notes.jsonl").display());
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(writer.load(&name("nodes")).unwrap_err().kind(), "no_block");
    let changed = files(&store)
        .into_iter()
        .filter(|file| !before.contains(file));
    let changed: Vec<_> = changed.map(|(path, _)| path).collect();
    assert_eq!(changed, ["/lock"], "and a draft went");
    (writer.edit(&name("other"), None, &write("0.1", "x"), &stamp(9))).unwrap();
    // An older number is damage.
    drop(writer);
    store.write(
        "log/notes.jsonl",
        format!("{log}{}\n", line.replace('2', "0")),
    );
    assert_eq!(store.open().load(&notes).unwrap().rev, 3);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_not_followed() {
    use std::os::unix::fs::symlink;
    let store = Store::new();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("secret.json");
    fs::write(&target, Block::new("outside").to_file()).unwrap();
    symlink(&target, store.path("blocks/link.json")).unwrap();
    fs::remove_file(store.path("blocks/notes.json")).unwrap();
    symlink(&target, store.path("blocks/notes.json")).unwrap();
    fs::create_dir(store.path("blocks/folder.json")).unwrap();

    let open = store.open();
    let names: Vec<_> = open
        .names()
        .unwrap()
        .into_iter()
        .map(|row| row.name)
        .collect();
    assert_eq!(names, ["notes", "other"].map(name), "{:?}", open.notices());
    assert_eq!(text(&open, "0.2").as_deref(), Some("two"), "made again");
    assert_eq!(store.list("quarantine").len(), 3);
    open.edit(&name("notes"), None, &write("0.3", "x"), &stamp(9))
        .unwrap();
    open.create(&name("link"), &Block::new("mine"), &stamp(9))
        .unwrap();
    assert!(fs::read_to_string(&target).unwrap().contains("outside"));

    let log = store.path("log/notes.jsonl");
    fs::rename(&log, outside.path().join("log")).unwrap();
    symlink(outside.path().join("log"), &log).unwrap();
    let before = fs::read(&log).unwrap();
    open.edit(&name("notes"), None, &write("0.3", "y"), &stamp(9))
        .unwrap_err();
    assert_eq!(fs::read(&log).unwrap(), before);
    assert_eq!(text(&open, "0.3").as_deref(), Some("x"));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    for place in ["log/notes.jsonl", "blocks/notes.json", "store.json"] {
        let store = Store::new();
        let path = store.path(place);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        match DirStore::open(store.path("")) {
            Err(error) => assert!(error.to_string().contains("neither a file"), "{error}"),
            // A block is made again from its log.
            Ok(open) => assert_eq!(text(&open, "0.2").as_deref(), Some("two"), "{place}"),
        }
    }
}
