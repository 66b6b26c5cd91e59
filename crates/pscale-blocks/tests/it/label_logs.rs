//! Labels from logs that are damaged, have gaps, or are those of older programs and of other blocks.

use std::fs;
use std::io;

use pscale_blocks::store::conformance::{log, name, stamp, write};
use pscale_blocks::{BlockStore, DirStore, MAX_TEXT, Op};

use crate::data_dir::Store;
use crate::labels::{FILE, by_model, edit, from, labelled, reader};

const LOG: &str = "log/notes.jsonl";

/// Flips bytes of the log's lines of these revisions.
fn damage(store: &Store, revs: std::ops::RangeInclusive<usize>) {
    let log = store.read(LOG);
    let lines = log.lines().enumerate().map(|(at, line)| {
        let is_damaged = revs.contains(&(at + 1));
        let line = if is_damaged { "damage" } else { line };
        format!("{line}\n")
    });
    store.write(LOG, lines.collect::<String>());
}

#[test]
fn after_lost_lines_each_text_has_all_labels() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.3", "read"), &from("a"));
    assert_eq!(labelled(&open), ["0.3"]);
    let (at, to) = ("0.3".parse().unwrap(), "0.5".parse().unwrap());
    edit(&open, &Op::Relocate { from: at, to }, &by_model(None));
    edit(&open, &write("0.4", "clean"), &by_model(None));
    edit(&open, &write("0.1", "clean"), &by_model(None));
    edit(&open, &write("0.3", "clean"), &by_model(None));
    drop(open);
    let (file, whole) = (store.read(FILE), store.read(LOG));
    // Without the lines of the move and of the write after it.
    let expected = [
        (5, &["0", "0.2", "0.5"][..]),
        (6, &["0", "0.2", "0.4", "0.5"][..]),
    ];
    for (last, expected) in expected {
        for is_kept in [true, false] {
            store.write(LOG, &whole);
            damage(&store, 5..=last);
            store.write(FILE, if is_kept { file.as_str() } else { "" });
            let open = store.open();
            assert_eq!(labelled(&open), expected, "{last} {is_kept}");
            // The text before is that of the gap, or after it.
            open.undo(&name("notes"), 2, &stamp(9)).unwrap();
            let mut all = expected.to_vec();
            all.insert(1, "0.1");
            assert_eq!(labelled(&open), all, "{last} {is_kept}");
            open.redo(&name("notes"), 2, &stamp(9)).unwrap();
            assert_eq!(labelled(&open), expected, "{last} {is_kept}");
        }
    }
}

#[test]
fn after_an_undo_of_a_lost_line_each_text_has_all_labels() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.3", "read"), &from("a"));
    edit(&open, &write("0.3", "clean"), &by_model(None));
    open.undo(&name("notes"), 1, &stamp(9)).unwrap();
    drop(open);
    damage(&store, 5..=5);
    assert_eq!(labelled(&store.open()), ["0", "0.1", "0.2", "0.3"]);
}

#[test]
fn labels_that_a_rotation_keeps_are_those_that_are_known() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.1", "read"), &from("a"));
    assert_eq!(labelled(&open), ["0.1"]);
    edit(&open, &write("0.3", "read"), &from("a"));
    let long = ["c", "d"].map(|text| text.repeat(MAX_TEXT));
    for text in (0..).map(|at| &long[at % 2]) {
        edit(&open, &write("0.2", text), &stamp(5));
        let is_archive = |file: &String| file.contains(".gz");
        if let Some(archive) = store.list("log").into_iter().find(is_archive) {
            fs::remove_file(store.path("log").join(archive)).unwrap();
            break;
        }
    }
    assert_eq!(labelled(&open), ["0.1", "0.3"]);
}

/// Older programs wrote a redo as an undo of the undo.
#[test]
fn an_undo_of_an_undo_restores_all_labels() {
    let check = |texts: &[(&str, Option<&str>)], count, redo: &str, undo: &str, path: &str| {
        let store = Store::new();
        let open = store.open();
        for (number, (path, page)) in texts.iter().enumerate() {
            edit(
                &open,
                &write(path, &format!("text {number}")),
                &by_model(*page),
            );
        }
        open.undo(&name("notes"), count, &stamp(10)).unwrap();
        open.redo(&name("notes"), count, &stamp(11)).unwrap();
        drop(open);
        let log = store.read(LOG);
        assert!(log.contains(redo), "{log}");
        store.write(LOG, log.replace(redo, undo));
        assert_eq!(labelled(&store.open()), [path]);
    };
    let one = [("0.3", Some("a"))];
    let redo = |revs| format!(r#"{{"op":"redo","revs":{revs}}}"#);
    let undo = |revs| format!(r#"{{"op":"undo","revs":{revs}}}"#);
    check(&one, 1, &redo("[4]"), &undo("[5]"), "0.3");
    let clean = [("0.1", Some("a")), ("0.2", None), ("0.3", None)];
    check(&clean, 2, &redo("[5,6]"), &undo("[7]"), "0.1");
    let twice = [("0.3", Some("a")), ("0.3", Some("a"))];
    check(&twice, 1, &redo("[5]"), &undo("[6]"), "0.3");
}

#[test]
fn a_reader_believes_no_labels_of_another_log() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.1", "read"), &from("a"));
    let files = ["blocks/notes.json", LOG];
    let backup = files.map(|file| store.read(file));
    edit(&open, &write("0.1", "clean"), &by_model(None));
    edit(&open, &write("0.7", "read"), &from("b"));
    assert_eq!(labelled(&open), ["0.7"]);
    drop(open);
    for (file, bytes) in files.iter().zip(&backup) {
        store.write(file, bytes);
    }
    assert_eq!(labelled(&reader(&store)), ["0.1"]);
    let kept = store.read(FILE);
    let open = store.open();
    for number in 0..80 {
        edit(&open, &write("0.2", &format!("{number}")), &by_model(None));
    }
    drop(open);
    store.write(FILE, kept);
    assert_eq!(labelled(&reader(&store)), ["0.1"]);
    assert_eq!(labelled(&store.open()), ["0.1"]);
}

#[test]
fn a_disk_that_is_full_costs_no_reading_of_the_log_at_each_edit() {
    let store = Store::new();
    let watch = |_, path: &std::path::Path| {
        let path = path.to_string_lossy();
        if path.contains("labels") || path.contains(".gz") {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    };
    let open = DirStore::open_watched(store.folder.path(), Box::new(watch)).unwrap();
    let open = open.without_fsync();
    edit(&open, &write("0.1", "read"), &from("a"));
    let long = ["c", "d"].map(|text| text.repeat(MAX_TEXT));
    let mut texts = (0..).map(|at| &long[at % 2]);
    while open.notices().is_empty() {
        edit(&open, &write("0.2", texts.next().unwrap()), &stamp(5));
    }
    let before = open.read_counts().entries;
    for _ in 0..9 {
        edit(&open, &write("0.2", texts.next().unwrap()), &stamp(5));
    }
    assert_eq!(open.read_counts().entries, before);
    assert_eq!(labelled(&open), ["0.1"]);
    let newest = log(&open, &name("notes")).pop().unwrap();
    assert!(newest.rev > 12, "{}", newest.rev);
}

/// A message is not lost for its origins, and an edit neither.
#[test]
fn origins_of_any_form_leave_their_entry_readable() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.1", "read"), &from("a"));
    drop(open);
    let log = store.read(LOG);
    let origins = r#""from":[{"web":{"url":"a"}}]"#;
    for other in ["null", "8", r#""a""#, r#"{"web":"a"}"#] {
        let line = log.replace(origins, &format!(r#""from":{other}"#));
        assert_ne!(line, log);
        store.write(LOG, line);
        assert_eq!(labelled(&store.open()), ["0.1"], "{other}");
        fs::remove_file(store.path(FILE)).unwrap();
    }
}

#[test]
fn a_long_list_of_a_label_file_is_counted() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.1", "read"), &from("a"));
    assert_eq!(labelled(&open), ["0.1"]);
    drop(open);
    let rows: Vec<_> = (0..100)
        .map(|rev| format!(r#"{{"face":{{"rev":{rev}}}}}"#))
        .collect();
    let indexes: Vec<_> = (0..100).map(|at: u32| at.to_string()).collect();
    let file = store.read(FILE);
    let file = file.replace(r#"{"web":{"url":"a"}}"#, &rows.join(","));
    store.write(
        FILE,
        file.replace("[0]", &format!("[{}]", indexes.join(","))),
    );
    let labels = store.open().labels(&name("notes")).unwrap();
    let found = labels.at(&"0.1".parse().unwrap()).unwrap();
    assert_eq!(found.listed().len(), 8);
    assert!((91..=92).contains(&found.more()), "{}", found.more());
}
