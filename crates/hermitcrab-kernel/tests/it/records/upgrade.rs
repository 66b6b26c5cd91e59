//! Conversations of earlier versions: they are read as they were, and written again once.

use std::fs;
use std::path::Path;

use hermitcrab_kernel::ScriptStep;
use serde_json::{Value, json};

use super::{AT, FILE, archives, live, marks, message, numbers, range, unpacked};
use crate::place::{Place, Setting};

/// A conversation that the program before this version wrote: with turns that moved, a call of a tool and a repair. That of
/// version 1 is the same one without authors.
fn fixture(name: &str) -> String {
    fs::read_to_string(test_support::fixture(format!("hermitcrab/records/{name}"))).unwrap()
}

/// The place in `dir` for reading or to write.
fn open(dir: &Path, read_only: bool) -> Place {
    let mut setting = Setting::default().in_dir(dir);
    setting.config.read_only = read_only;
    let (place, _) = setting.script([ScriptStep::text("Here.")]);
    let about_it = |line: &&String| line.contains("conversation");
    assert_eq!(place.kernel.notices().iter().find(about_it), None);
    place
}

/// The place reads what the program before this version read in the fixture.
async fn assert_read_as_before(place: &Place) {
    let expected: Value = serde_json::from_str(&fixture("read.json")).unwrap();
    assert_eq!(json!(place.kernel.messages().await), expected["view"]);
    assert_eq!(json!(place.kernel.said().unwrap()), expected["said"]);
    let of = expected["of"].as_u64().unwrap();
    assert_eq!(numbers(place).await, (1..=of).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_file_of_an_earlier_version_is_read_converted_and_then_left() {
    let without_numbers = ["conversation-1.jsonl", "conversation-2.jsonl"].map(fixture);
    let without_origins = with_numbers(&without_numbers[1]);
    for old in without_numbers.into_iter().chain([without_origins]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        fs::write(&path, &old).unwrap();
        assert_read_as_before(&open(dir.path(), true)).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), old);
        assert_read_as_before(&open(dir.path(), false)).await;
        let new = fs::read_to_string(&path).unwrap();
        for line in live(dir.path()) {
            let content = line.as_object().unwrap().values().next().unwrap();
            assert_eq!(content["schema_version"], 4, "{line}");
        }
        let changed = || fs::metadata(&path).unwrap().modified().unwrap();
        let at = changed();
        assert_read_as_before(&open(dir.path(), false)).await;
        assert_eq!((fs::read_to_string(&path).unwrap(), changed()), (new, at));
        assert_eq!(archives(dir.path()).len(), 0);
    }
}

/// The file of version 3 that the program before this version made of one of version 2: it had the lines of today, without origins.
fn with_numbers(old: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(FILE), old).unwrap();
    open(dir.path(), false);
    let new = fs::read_to_string(dir.path().join(FILE)).unwrap();
    new.replace("\"schema_version\":4", "\"schema_version\":3")
}

/// A long conversation of version 2 and the lines that it becomes.
fn write_old(dir: &Path, count: u64, bytes: usize, moved: u64) {
    let mut lines = String::new();
    for n in 1..=count {
        let (by, message) = message(n, bytes);
        let line =
            json!({"message": {"schema_version": 2, "at": AT, "by": by, "message": message}});
        lines.push_str(&line.to_string());
        lines.push('\n');
        if n % 100 == 0 && n <= moved {
            lines.push_str("{\"moved\":{\"schema_version\":2,\"messages\":100}}\n");
        }
    }
    fs::write(dir.join(FILE), lines).unwrap();
}

#[tokio::test]
async fn a_long_file_becomes_archives_of_about_a_mebibyte() {
    let dir = tempfile::tempdir().unwrap();
    write_old(dir.path(), 6_020, 600, 6_000);
    let before = open(dir.path(), true).kernel.messages().await;
    assert_eq!(before.len(), 20);
    let place = open(dir.path(), false);
    let archives = archives(dir.path());
    assert!((4..=6).contains(&archives.len()), "{archives:?}");
    let mut next = 1;
    for archive in &archives {
        let (first, last) = range(archive);
        assert_eq!(first, next);
        next = last + 1;
        let size = unpacked(archive).len();
        assert!((1 << 19..2 << 20).contains(&size), "{size}");
    }
    assert_eq!(next, 6_001);
    assert_eq!(live(dir.path())[0]["begin"]["n"], 6_001);
    assert_eq!(place.kernel.messages().await, before);
    let all: Vec<_> = (1..=6_020).collect();
    assert_eq!((marks(&place), numbers(&place).await), (all.clone(), all));
    let files = fs::read(dir.path().join(FILE)).unwrap();
    let again = open(dir.path(), false);
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), files);
    assert_eq!(again.kernel.messages().await, before);
}

#[tokio::test]
async fn lines_that_cannot_be_read_stay_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let old = fixture("conversation-2.jsonl");
    let (first, rest) = old.split_at(old.find('\n').unwrap() + 1);
    fs::write(
        dir.path().join(FILE),
        format!("{first}damage\n{rest}{{\"torn\":"),
    )
    .unwrap();
    let (place, _) = Setting::default().in_dir(dir.path()).script([]);
    assert!(place.kernel.notices()[0].contains("line 2 cannot be read"));
    assert_read_as_before(&place).await;
    let new = fs::read_to_string(dir.path().join(FILE)).unwrap();
    assert_eq!(new.lines().nth(1), Some("damage"));
    assert!(new.ends_with("}\n"));
}

#[tokio::test]
async fn archives_of_the_version_before_are_read_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    super::write_file(dir.path(), 2_000, 600, 1_980);
    let setting = || Setting::default().in_dir(dir.path());
    let (place, _) = setting().script([ScriptStep::text("<2002>")]);
    place.say("<2001>").await;
    let path = archives(dir.path()).remove(0);
    let old = unpacked(&path).replace("\"schema_version\":4", "\"schema_version\":3");
    let draft = dir.path().join("draft");
    fs::write(&draft, &old).unwrap();
    fs::remove_file(&path).unwrap();
    let all = 0..old.len() as u64;
    let disk = durable::Disk::default().without_sync();
    disk.rotate(&draft, &path, all, b"").unwrap();
    assert!(unpacked(&path).contains("\"schema_version\":3"));
    let place = open(dir.path(), false);
    let all: Vec<_> = (1..=2_002).collect();
    assert_eq!((marks(&place), numbers(&place).await), (all.clone(), all));
    assert!(unpacked(&path) == old);
}
