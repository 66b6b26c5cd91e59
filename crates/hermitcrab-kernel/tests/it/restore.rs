//! A stored face comes back, or the one before it, or the safe face: and no model is asked.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::place::{Place, SHELL, Setting, call, crash, face};

/// A place whose first start made `shells` shells, one in each turn.
async fn with_shells(dir: &Path, shells: usize) -> Place {
    let (place, _) = Setting::page().in_dir(dir).script([face("a")]);
    place.boot().await;
    for n in 1..shells {
        let jsx = format!("function App() {{ return <p>face {}</p>; }}", n + 1);
        assert!(!place.kernel.recompile(&jsx).await.is_error);
    }
    place
}

#[tokio::test]
async fn a_second_boot_shows_the_stored_face_and_asks_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let place = with_shells(dir.path(), 1).await;
    let setting = Setting::page().after(&place, dir.path());
    drop(place);
    let (place, brain) = setting.script([]);
    let report = place.boot().await;
    assert_eq!((report.restored, report.shell), (Some(1), Some(1)));
    assert_eq!(report.safe_face, None);
    assert!(brain.asked().is_empty());
    assert_eq!(place.shown(), [1]);
    assert_eq!(place.host.shown.lock().unwrap()[0].compiled.source, SHELL);
}

#[tokio::test]
async fn a_fresh_boot_asks_the_model_though_a_face_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let place = with_shells(dir.path(), 1).await;
    let mut setting = Setting::page().after(&place, dir.path());
    setting.config.fresh = true;
    let (place, brain) = setting.script([face("b")]);
    let report = place.boot().await;
    assert_eq!((report.restored, report.shell), (None, Some(2)));
    assert_eq!(brain.asked().len(), 1);
    assert_eq!(place.shown(), [2]);
}

#[tokio::test]
async fn a_fresh_boot_without_a_face_ends_in_the_safe_face() {
    let dir = tempfile::tempdir().unwrap();
    let place = with_shells(dir.path(), 1).await;
    let mut setting = Setting::page().after(&place, dir.path());
    setting.config.fresh = true;
    // Nothing is on the page: a limit is reached first.
    setting.config.settings.budgets.boot_rounds = 1;
    let read = call("b", "block_list", json!({}));
    let (place, _) = setting.script([read]);
    let report = place.boot().await;
    let safe = report.safe_face.unwrap();
    assert!(safe.reason.contains("1 rounds"), "{}", safe.reason);
    assert!(place.shown().is_empty());
}

#[tokio::test]
async fn a_stored_shell_that_fails_gives_way_to_the_one_before_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let place = with_shells(dir.path(), 3).await;
    let setting = Setting::page().after(&place, dir.path());
    setting.host.mounts.lock().unwrap().push_back(crash());
    let (place, brain) = setting.script([]);
    let report = place.boot().await;
    assert_eq!(place.shown(), [3, 2]);
    assert_eq!((report.restored, report.shell), (Some(2), Some(2)));
    assert!(report.notices.iter().any(|line| line.contains("face 3")));
    assert!(brain.asked().is_empty());

    // Not tried again by itself.
    let (place, _) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(place.boot().await.restored, Some(2));
    assert_eq!(place.shown(), [2]);

    // But the person can go back to it, and then it is the face again.
    assert!(!place.kernel.use_shell(3).await.is_error);
    let (place, _) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(place.boot().await.restored, Some(3));
}

#[tokio::test]
async fn when_no_stored_shell_mounts_the_safe_face_is_shown_and_the_start_after_asks_the_model() {
    let dir = tempfile::tempdir().unwrap();
    let place = with_shells(dir.path(), 2).await;
    let setting = Setting::page().after(&place, dir.path());
    setting
        .host
        .mounts
        .lock()
        .unwrap()
        .extend([crash(), crash()]);
    let (place, brain) = setting.script([]);
    let report = place.boot().await;
    assert_eq!(place.shown(), [2, 1]);
    assert!(brain.asked().is_empty());
    let safe = report.safe_face.unwrap();
    assert_eq!(safe.errors[0].message, "x is not a function");
    assert_eq!((report.restored, report.shell), (None, None));

    let (place, brain) = Setting::page()
        .after(&place, dir.path())
        .script([face("z")]);
    assert_eq!(place.boot().await.shell, Some(3));
    let asked = brain.asked();
    let system: String = asked[0]
        .system
        .iter()
        .filter_map(llm_client::Block::as_text)
        .collect();
    assert!(!system.contains("restored"), "no face is running");
}

#[tokio::test]
async fn a_stored_source_that_is_gone_or_broken_is_no_dead_page() {
    let dir = tempfile::tempdir().unwrap();
    let place = with_shells(dir.path(), 3).await;
    fs::remove_file(dir.path().join("shells/3.jsx")).unwrap();
    fs::remove_file(dir.path().join("shells/2.jsx")).unwrap();
    fs::create_dir(dir.path().join("shells/2.jsx")).unwrap();
    let (place, _) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(place.boot().await.restored, Some(1));
}
