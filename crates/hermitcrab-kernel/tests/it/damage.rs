//! The kernel's own files torn, empty, foreign, or folders: a start succeeds and says so, and nothing is lost without a
//! word. `records::policy` and `records::policy_files` have the files of lines.

use std::fs;
use std::path::Path;

use hermitcrab_kernel::ScriptStep;
use serde_json::{Value, json};

use crate::place::{Place, SHELL, Setting, call};

const FILES: [&str; 4] = [
    "state.json",
    "shells.json",
    "usage.jsonl",
    "conversation.jsonl",
];
/// The files of which what cannot be read is kept in another one.
const KEPT_ASIDE: [&str; 2] = ["state.json", "shells.json"];

/// A place with something in every file.
async fn lived(dir: &Path) -> Place {
    let (place, _) = Setting::page().in_dir(dir).script([
        call("a", "recompile", json!({ "jsx": SHELL })),
        call("b", "set_tools", json!({"names": ["web"]})),
        ScriptStep::text("Chosen."),
    ]);
    place.boot().await;
    place.say("Choose the web").await;
    place
}

/// Everything that was written, wherever it is now.
fn kept(dir: &Path, name: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if file.starts_with(name) && path.is_file() {
            found.push(fs::read(path).unwrap());
        }
    }
    found
}

async fn start(place: &Place, dir: &Path) -> (Place, Vec<String>) {
    let steps = [
        call("z", "recompile", json!({ "jsx": SHELL })),
        ScriptStep::text("Hi."),
    ];
    let (place, _) = Setting::page().after(place, dir).script(steps);
    let report = place.boot().await;
    assert_eq!(report.safe_face, None);
    assert!(report.shell.is_some());
    let notices = report.notices.clone();
    if report.restored.is_some() {
        // The first step was for a boot that asks the model.
        place.say("Once more").await;
    }
    (place, notices)
}

#[tokio::test]
async fn a_start_succeeds_with_a_notice_whatever_became_of_a_file() {
    for name in KEPT_ASIDE {
        let whole = {
            let dir = tempfile::tempdir().unwrap();
            lived(dir.path()).await;
            fs::read(dir.path().join(name)).unwrap()
        };
        let damages = [
            ("torn", whole[..whole.len() / 2].to_vec()),
            ("last byte", whole[..whole.len() - 2].to_vec()),
            ("noise", vec![0xff, 0x00, 0x80, b'\n', b'{']),
            ("zeros", vec![0; whole.len()]),
            ("foreign", b"{\"hello\": [1, 2]}\n".to_vec()),
            ("null", b"null\n".to_vec()),
        ];
        for (damage, bytes) in damages {
            let dir = tempfile::tempdir().unwrap();
            let place = lived(dir.path()).await;
            fs::write(dir.path().join(name), &bytes).unwrap();
            let (_, notices) = start(&place, dir.path()).await;
            assert!(
                notices.iter().any(|line| line.contains(name)),
                "{name}, {damage}: {notices:?}"
            );
            // What could not be read is there still, in the file or beside it.
            let kept = kept(dir.path(), name);
            let tail = &bytes[bytes.len() - bytes.len().min(5)..];
            let there = kept
                .iter()
                .any(|file| file.windows(tail.len()).any(|part| part == tail));
            assert!(there, "{name}, {damage}");
            // The notice comes once.
            let (_, notices) = start(&place, dir.path()).await;
            assert!(
                !notices.iter().any(|line| line.contains(name)),
                "{name}, {damage}: {notices:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_missing_or_empty_file_is_no_obstacle() {
    for name in FILES {
        for empty in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let place = lived(dir.path()).await;
            if empty {
                fs::write(dir.path().join(name), b"").unwrap();
            } else {
                fs::remove_file(dir.path().join(name)).unwrap();
            }
            start(&place, dir.path()).await;
        }
    }
}

#[tokio::test]
async fn a_folder_in_the_place_of_a_file_is_moved_away() {
    for name in FILES {
        let dir = tempfile::tempdir().unwrap();
        let place = lived(dir.path()).await;
        let path = dir.path().join(name);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("note.txt"), "mine").unwrap();
        let (place, notices) = start(&place, dir.path()).await;
        assert!(
            notices.iter().any(|line| line.contains(name)),
            "{name}: {notices:?}"
        );
        let moved = dir.path().join(format!("{name}.broken/note.txt"));
        assert_eq!(fs::read_to_string(moved).unwrap(), "mine");
        assert!(place.kernel.usage().run.calls > 0);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_is_moved_away() {
    for name in FILES {
        let dir = tempfile::tempdir().unwrap();
        let place = lived(dir.path()).await;
        let path = dir.path().join(name);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let (_, notices) = start(&place, dir.path()).await;
        assert!(
            notices.iter().any(|line| line.contains(name)),
            "{name}: {notices:?}"
        );
    }
}

#[tokio::test]
async fn what_was_set_aside_before_is_not_overwritten() {
    for name in KEPT_ASIDE {
        let dir = tempfile::tempdir().unwrap();
        let place = lived(dir.path()).await;
        for damage in ["first damage", "second damage", "third damage"] {
            fs::write(dir.path().join(name), damage).unwrap();
            start(&place, dir.path()).await;
        }
        let kept = kept(dir.path(), name);
        for damage in ["first damage", "second damage", "third damage"] {
            assert!(
                kept.iter().any(|file| file == damage.as_bytes()),
                "{name}: {damage}"
            );
        }
    }
}

#[tokio::test]
async fn faces_outlive_their_list() {
    let dir = tempfile::tempdir().unwrap();
    let place = lived(dir.path()).await;
    let second = "function App() { return <p>second</p>; }";
    place.kernel.recompile(second).await;
    fs::write(dir.path().join("shells.json"), "[").unwrap();
    let (place, brain) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(place.boot().await.restored, Some(2));
    assert!(brain.asked().is_empty());
    assert_eq!(place.tool("get_source", json!({})).await.content, second);
    // No revision is given out twice: a source would be overwritten.
    place.kernel.recompile("function App() { return 3; }").await;
    let revs: Vec<_> = place
        .kernel
        .faces()
        .shells()
        .iter()
        .map(|shell| shell.rev)
        .collect();
    assert_eq!(revs, [1, 2, 3]);
    assert_eq!(place.kernel.faces().source(1).unwrap().unwrap(), SHELL);
}

#[tokio::test]
async fn a_torn_last_line_costs_that_line_only() {
    let dir = tempfile::tempdir().unwrap();
    let place = lived(dir.path()).await;
    let said = place.kernel.messages().await;
    for name in ["conversation.jsonl", "usage.jsonl"] {
        let path = dir.path().join(name);
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"message\":{\"schema_ver");
        fs::write(&path, text).unwrap();
    }
    let total = place.kernel.usage().total;
    let (place, _) = Setting::page()
        .after(&place, dir.path())
        .script([ScriptStep::text("Hi.")]);
    assert_eq!(place.kernel.messages().await, said);
    assert_eq!(place.kernel.usage().total, total);
    place.say("Hello").await;
    let usage = place.kernel.usage().total;
    assert_eq!(usage.calls, total.calls + 1);
    // What is written after the damage can be read again.
    let (place, _) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(place.kernel.usage().total, usage);
    assert_eq!(place.kernel.messages().await.len(), said.len() + 2);
    assert!(
        place.kernel.notices().is_empty(),
        "{:?}",
        place.kernel.notices()
    );
    for line in fs::read_to_string(dir.path().join("usage.jsonl"))
        .unwrap()
        .lines()
    {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[tokio::test]
async fn a_data_directory_that_takes_nothing_ends_no_turn() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let (place, _) = Setting::default()
        .in_dir(&gone)
        .script([ScriptStep::text("One."), ScriptStep::text("Two.")]);
    fs::remove_dir(&gone).unwrap();
    fs::write(&gone, "a file in its place").unwrap();
    assert_eq!(place.say("Hello").await.text, "One.");
    assert!(
        place
            .notices()
            .iter()
            .any(|line| line.contains("conversation.jsonl"))
    );
    // What was said waits in memory and comes to the record when it can.
    fs::remove_file(&gone).unwrap();
    fs::create_dir(&gone).unwrap();
    assert_eq!(place.say("And now?").await.text, "Two.");
    let (place, _) = Setting::default().after(&place, &gone).script([]);
    assert_eq!(place.kernel.messages().await.len(), 4);
}

#[tokio::test]
async fn a_glance_leaves_damage_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let place = lived(dir.path()).await;
    for name in FILES {
        fs::write(dir.path().join(name), "damage\n").unwrap();
    }
    let mut setting = Setting::default().after(&place, dir.path());
    setting.config.read_only = true;
    let (place, _) = setting.script([ScriptStep::text("Hi.")]);
    assert_eq!(place.kernel.notices().len(), FILES.len());
    assert_eq!(place.say("Hello").await.text, "Hi.");
    for name in FILES {
        assert_eq!(kept(dir.path(), name), [b"damage\n"]);
    }
}
