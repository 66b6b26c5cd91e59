//! The one policy for lines and versions: each kind of damage in each file, as a start that reads meets it, and one that
//! writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermitcrab_kernel::{KernelError, ScriptStep};
use pscale_blocks::{BlockStore, DirStore, StoreError};
use serde_json::json;

use crate::place::{Place, SHELL, Setting, call};

/// The outcome of a start.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Start {
    /// There is nothing to say.
    Silent,
    /// The start says this of the file.
    Says(&'static str),
    /// A newer program wrote the file: the start is refused, and every file is as it was.
    Newer,
}

/// A file, its damage, and the outcomes of a start that reads and of one that writes.
type Cell = (&'static str, &'static str, Damage, Start, Start);
type Damage = fn(&str) -> String;

const LINE: &str = "usage.jsonl: line 2 cannot be read; it was passed over";
const LINES: &str =
    "usage.jsonl: 2 lines cannot be read, the first is line 1; they were passed over";

const CELLS: &[Cell] = &[
    (
        "usage.jsonl",
        "torn",
        |text| format!("{text}{{\"schema_ver"),
        Start::Silent,
        Start::Silent,
    ),
    (
        "usage.jsonl",
        "torn at once",
        |_| "{\"sch".to_owned(),
        Start::Silent,
        Start::Silent,
    ),
    (
        "usage.jsonl",
        "a damaged line",
        |text| text.replacen('\n', "\n{]\n", 1),
        Start::Says(LINE),
        Start::Says(LINE),
    ),
    (
        "usage.jsonl",
        "damaged lines",
        |text| format!("null\n[1]\n{text}"),
        Start::Says(LINES),
        Start::Says(LINES),
    ),
    (
        "usage.jsonl",
        "a newer line",
        |text| {
            text.to_owned()
                + &text
                    .lines()
                    .next()
                    .unwrap()
                    .replace("\"schema_version\":1", "\"schema_version\":2")
                + "\n"
        },
        Start::Newer,
        Start::Newer,
    ),
    (
        "usage.jsonl",
        "a newer line of another form",
        |text| format!("{{\"schema_version\":2}}\n{text}"),
        Start::Newer,
        Start::Newer,
    ),
    (
        "usage.jsonl",
        "newer sums",
        |text| format!("{{\"carried\":{{\"schema_version\":2}}}}\n{text}"),
        Start::Newer,
        Start::Newer,
    ),
    (
        "state.json",
        "damaged",
        |text| text.replace('{', "["),
        Start::Says("state.json cannot be read"),
        Start::Says("kept as state.json.broken"),
    ),
    (
        "state.json",
        "newer",
        |text| text.replace("\"schema_version\": 1", "\"schema_version\": 2"),
        Start::Newer,
        Start::Newer,
    ),
    (
        "state.json",
        "newer and of another form",
        |_| "{\"schema_version\": 2, \"tools\": 5}".to_owned(),
        Start::Newer,
        Start::Newer,
    ),
    (
        "shells.json",
        "damaged",
        |text| text.replace('{', "["),
        Start::Says("shells.json cannot be read"),
        Start::Says("kept as shells.json.broken"),
    ),
    (
        "shells.json",
        "newer",
        |text| text.replace("\"schema_version\": 1", "\"schema_version\": 2"),
        Start::Newer,
        Start::Newer,
    ),
    (
        "store.json",
        "newer",
        |text| text.replace("\"schema_version\":1", "\"schema_version\":2"),
        Start::Newer,
        Start::Newer,
    ),
];

/// A place with something in every file.
async fn lived(dir: &Path) {
    let mut setting = Setting::page().in_dir(dir);
    setting.store = Arc::new(DirStore::open(dir).unwrap());
    let (place, _) = setting.script([
        call("a", "recompile", json!({ "jsx": SHELL })),
        call("b", "set_tools", json!({"names": ["web"]})),
        ScriptStep::text("Chosen."),
    ]);
    place.boot().await;
    place.say("Choose the web").await;
}

fn start(dir: &Path, reads: bool) -> Result<Place, KernelError> {
    let store: Arc<dyn BlockStore> = if reads {
        Arc::new(DirStore::open_read_only(dir)?)
    } else {
        Arc::new(DirStore::open(dir)?)
    };
    let mut setting = Setting::page().in_dir(dir);
    setting.store = store;
    setting.config.read_only = reads;
    let steps = [ScriptStep::text("Hi.")];
    let brain = hermitcrab_kernel::ScriptBrain::new(steps);
    setting.open(Arc::new(brain))
}

/// The bytes of every file but the lock, by its path in the directory.
fn bytes(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("lock") {
                all.insert(
                    path.strip_prefix(dir).unwrap().to_owned(),
                    fs::read(path).unwrap(),
                );
            }
        }
    }
    all
}

/// Starts in `dir`, and holds the outcome against the table.
async fn meets(dir: &Path, file: &str, reads: bool, expected: Start, what: &str) {
    let before = bytes(dir);
    let place = match start(dir, reads) {
        Ok(place) => place,
        Err(
            KernelError::Newer { path, found, known }
            | KernelError::Store(StoreError::Newer { path, found, known }),
        ) => {
            assert_eq!(expected, Start::Newer, "{what}");
            assert_eq!((path, found, known), (dir.join(file), 2, 1), "{what}");
            assert_eq!(bytes(dir), before, "{what}");
            return;
        }
        Err(error) => panic!("{what}: {error}"),
    };
    let notices = place.kernel.notices().to_vec();
    match expected {
        Start::Newer => panic!("{what}: not refused"),
        Start::Silent => assert_eq!(notices, [""; 0], "{what}"),
        Start::Says(line) => assert!(
            notices.len() == 1 && notices[0].contains(line),
            "{what}: {notices:?}"
        ),
    }
    if file == "usage.jsonl" {
        let calls = if what.contains("torn at once") { 0 } else { 3 };
        assert_eq!(place.kernel.usage().total.calls, calls, "{what}");
    }
    place.say("Hello").await;
    let after = bytes(dir);
    if reads {
        assert_eq!(after, before, "{what}");
    }
    // Lines that were passed over are still there, and a torn one is not.
    if !reads && file == "usage.jsonl" {
        let (before, after) = (&before[Path::new(file)], &after[Path::new(file)]);
        let whole = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        assert!(
            after.starts_with(&before[..whole]) && after.ends_with(b"}\n"),
            "{what}"
        );
        assert_eq!(
            after[whole..].split(|byte| *byte == b'\n').count(),
            2,
            "{what}"
        );
    }
}

#[tokio::test]
async fn every_file_meets_every_kind_of_damage_by_the_table() {
    for (file, damage, change, reading, writing) in CELLS {
        let dir = tempfile::tempdir().unwrap();
        lived(dir.path()).await;
        let path = dir.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let damaged = change(&text);
        assert_ne!(damaged, text);
        fs::write(&path, damaged).unwrap();
        let what = format!("{file}, {damage}");
        meets(
            dir.path(),
            file,
            true,
            *reading,
            &format!("{what}, reading"),
        )
        .await;
        meets(
            dir.path(),
            file,
            false,
            *writing,
            &format!("{what}, writing"),
        )
        .await;
    }
}
