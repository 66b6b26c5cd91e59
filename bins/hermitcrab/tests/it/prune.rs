//! `prune`: what goes, what stays, and that a dry run lists what is removed.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use llm_client::{Clock as _, SystemClock};
use pscale_blocks::store::conformance::{name, stamp, write};
use pscale_blocks::{Block, BlockStore as _, DirStore};
use serde_json::Value;

use crate::program::{DATA, Place, files};

/// Edits of `yard`, enough for some archives, and of `shed`.
const EDITS: [(&str, i64, i64); 2] = [("yard", 260, 1_000), ("shed", 80, 0)];

/// Returns a place with long logs. `yard` has a new backup, `shed` one from its first edit.
fn aged() -> Place {
    let place = Place::with_data();
    let store = DirStore::open(place.path(DATA)).unwrap().without_fsync();
    for (block, edits, seconds) in EDITS {
        let block = name(block);
        store.create(&block, &Block::new("b"), &stamp(0)).unwrap();
        for edit in 1..=edits {
            let text = format!("edit {edit} {}", "long ".repeat(12_000));
            let op = write("0.1", &text);
            (store.edit(&block, None, &op, &stamp(edit * seconds))).unwrap();
        }
    }
    place
}

/// Writes a file that was last changed this number of days ago.
fn file(place: &Place, path: &str, days: u64) {
    let path = place.path(DATA).join(path);
    fs::write(&path, "{}").unwrap();
    let at = SystemClock::new().now() - Duration::from_secs(days * 24 * 60 * 60);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(at)
        .unwrap();
}

fn all(place: &Place) -> Vec<PathBuf> {
    files(&place.path(DATA))
}

fn named(answer: &Value) -> Vec<String> {
    let files = answer["files"].as_array().unwrap().iter();
    files
        .map(|file| file["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_dry_run_names_what_is_removed_and_the_newest_edits_can_be_undone() {
    let place = aged();
    let before = all(&place);
    let words = ["prune", "--keep-logs", "0"];
    let listed = place.json(&[&words[..], &["--dry-run"]].concat());
    assert_eq!(all(&place), before);
    let names = named(&listed);
    assert!(
        names.len() >= 2 && names[0].starts_with("log/yard.1-"),
        "{names:?}"
    );
    assert!(
        names.iter().all(|name| name.starts_with("log/yard.")),
        "{names:?}"
    );
    // More than this may stay than is asked for, and by default all of it does.
    assert_eq!(named(&place.json(&["prune"])), [""; 0]);
    let removed = place.json(&words);
    assert_eq!(
        (named(&removed), &removed["bytes"]),
        (names.clone(), &listed["bytes"])
    );
    let left = all(&place);
    assert_eq!(left.len(), before.len() - names.len());
    assert!(
        names
            .iter()
            .all(|name| !place.path(DATA).join(name).exists())
    );
    assert_eq!(named(&place.json(&words)), [""; 0]);

    let read = || place.run(&["block", "read", "yard", "0.1"]).exits(0).stdout;
    assert!(read().contains("edit 260 "));
    // A damaged block is made again from its backup and what stayed of its log.
    fs::write(place.path(DATA).join("blocks/yard.json"), "{").unwrap();
    place
        .run(&["block", "undo", "yard", "--count", "100"])
        .exits(0)
        .tells(&["made again"]);
    assert!(read().contains("edit 160 "));
    place
        .run(&["block", "undo", "shed", "--count", "80"])
        .exits(0);
}

#[test]
fn what_was_put_aside_long_ago_goes() {
    let place = Place::with_block("yard", "What the yard holds.", &["Larch"]);
    place
        .run(&["block", "create", "shed", "The shed."])
        .exits(0);
    place.run(&["block", "append", "shed", "A saw"]).exits(0);
    place.run(&["block", "rm", "shed", "--whole"]).exits(0);
    fs::create_dir(place.path(DATA).join("conversation")).unwrap();
    let old = [
        "trash/attic-20250101T000000Z.json",
        "quarantine/attic-20250101T000000Z-2.json",
        "backups/attic.json",
        "conversation.jsonl.broken-2",
        "state.json.broken",
    ];
    for path in old {
        // The time of a removal is in the name.
        file(&place, path, if path.contains("2025") { 0 } else { 100 });
    }
    file(&place, "backups/yard.json", 100);
    file(&place, "backups/shed.json", 10);
    file(&place, "shells.json.broken", 10);
    file(&place, "conversation/1-99.jsonl.gz", 100);
    // Names that hold the word are not copies of what could not be read, and a block without its file is no removed one.
    fs::create_dir(place.path(DATA).join("kv")).unwrap();
    file(&place, "kv/my.broken.json", 100);
    place.run(&["block", "create", "loft", "Loft."]).exits(0);
    place.run(&["block", "append", "loft", "Hay"]).exits(0);
    file(&place, "backups/loft.json", 100);
    fs::remove_file(place.path(DATA).join("blocks/loft.json")).unwrap();
    let listed = named(&place.json(&["prune", "--dry-run"]));
    assert_eq!(listed, old);
    let conversation = ["prune", "--dry-run", "--conversation", "--older-than", "99"];
    let with_conversation = named(&place.json(&conversation));
    assert_eq!(with_conversation[..5], old);
    assert_eq!(with_conversation[5..], ["conversation/1-99.jsonl.gz"]);
    assert_eq!(
        named(&place.json(&["prune", "--older-than", "101", "--dry-run"])),
        old[..2]
    );
    assert_eq!(
        named(&place.json(&["prune", "--older-than", "5", "--dry-run"])).len(),
        7
    );
    let told = place.run(&["prune"]).exits(0).stdout;
    assert!(told.ends_with("5 files, 10 bytes removed\n"), "{told}");
    assert!(old.iter().all(|path| told.contains(path)), "{told}");
    assert_eq!(named(&place.json(&["prune", "--dry-run"])), [""; 0]);
}

#[test]
fn another_process_that_writes_is_left_alone() {
    let place = Place::with_block("yard", "What the yard holds.", &[]);
    file(&place, "state.json.broken", 100);
    let before = all(&place);
    let writer = DirStore::open(place.path(DATA)).unwrap();
    for words in [&["prune"][..], &["prune", "--dry-run"]] {
        // Any other command that is locked out says 2.
        let told = ["nothing was removed", "locked by pid", "try again"];
        place.run(words).exits(1).tells(&told);
        let refused = place.run(&[words, &["--json"]].concat()).exits(1).json();
        assert_eq!(refused["error"], "locked");
        assert_eq!(all(&place), before);
    }
    drop(writer);
    place.run(&["prune"]).exits(0);
    assert_eq!(all(&place).len(), before.len() - 1);
    let missing = Place::new();
    missing
        .run(&["prune"])
        .exits(2)
        .tells(&["no such data folder"]);
    assert!(!missing.path(DATA).exists());
}

/// Archives of a conversation belong to the program that wrote its file.
#[test]
fn records_of_a_newer_program_are_left_alone() {
    for (name, line) in [
        (
            "conversation.jsonl",
            r#"{"begin":{"schema_version":5,"n":100,"moved":99}}"#,
        ),
        (
            "usage.jsonl",
            r#"{"carried":{"schema_version":2,"archives":1}}"#,
        ),
    ] {
        let place = Place::with_block("yard", "What the yard holds.", &[]);
        for folder in ["conversation", "usage"] {
            fs::create_dir(place.path(DATA).join(folder)).unwrap();
        }
        file(&place, "conversation/1-99.jsonl.gz", 100);
        file(&place, "usage/2026-01-01-2026-02-01-1.jsonl.gz", 100);
        file(&place, "state.json.broken", 100);
        fs::write(place.path(DATA).join(name), format!("{line}\n")).unwrap();
        let before = all(&place);
        for more in [&[][..], &["--dry-run"]] {
            let words = [&["prune", "--conversation"], more].concat();
            let told = ["nothing was removed", name, "newer hermitcrab", "update"];
            place.run(&words).exits(1).tells(&told);
            let refused = place.run(&[&words[..], &["--json"]].concat());
            assert_eq!(refused.exits(1).json()["error"], "newer");
            assert_eq!(all(&place), before);
        }
        // What is no part of them goes all the same.
        assert_eq!(named(&place.json(&["prune"])), ["state.json.broken"]);
    }
}
