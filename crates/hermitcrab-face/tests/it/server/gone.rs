//! A request of a face ends with its frame.

use std::sync::Arc;

use hermitcrab_kernel::{ScriptBrain, ScriptStep};
use serde_json::{Value, json};

use super::page::Page;
use super::stand::{GatedBrain, Setting, Stand, face};

const NEXT: &str = "function App() { return <p>next</p>; }";

fn revs(stand: &Stand) -> Vec<u64> {
    let shells = stand.kernel.faces().shells();
    shells.iter().map(|shell| shell.rev).collect()
}

/// Face 2, which calls, over face 1, which is good.
async fn two_faces(stand: &Stand) -> (Page, Value) {
    let mut page = stand.booted().await;
    page.show_of(1).await;
    let two = json!(["function App() { return <p>two</p>; }"]);
    page.shell("recompile", two).await.unwrap();
    let show = page.show_of(2).await;
    (page, show)
}

#[tokio::test]
async fn a_face_that_has_not_mounted_asks_for_nothing() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    page.show_of(1).await;
    page.mounts = false;
    let kernel = stand.kernel.clone();
    let trial = tokio::spawn(async move { kernel.recompile(NEXT).await });
    let show = page.show_of(2).await;
    let call = page
        .start(show["frame"].as_str(), "recompile", json!([NEXT]))
        .await;
    assert_eq!(page.reply(call).await.unwrap_err()["error"], "no_frame");
    page.mount(&show).await;
    trial.await.unwrap();
    page.shell("usage", json!([])).await.unwrap();
    stand.end().await;
}

/// A face asks for its successor and fails before that one has mounted: the good face comes back, and nothing is kept.
#[tokio::test]
async fn a_face_that_dies_takes_its_successor_with_it() {
    for how in ["render", "timeout"] {
        let dir = tempfile::tempdir().unwrap();
        let setting = Setting::default().in_dir(dir.path());
        let stand = setting.open(Arc::new(ScriptBrain::new([face("1")]))).await;
        let (mut page, dying) = two_faces(&stand).await;
        page.mounts = false;
        let call = page.start_shell("recompile", json!([NEXT])).await;
        let successor = page.show_of(3).await;
        page.fail(&dying, how, "died on purpose").await;
        page.discard(&successor).await;
        assert_eq!(
            page.reply(call).await.unwrap_err()["error"],
            "gone",
            "{how}"
        );
        // Too late.
        page.mount(&successor).await;
        let back = page.show().await;
        assert_eq!(back["rev"], 1, "{how}");
        page.mount(&back).await;
        page.event_of("shells", |data| data["rev"] == 1).await;
        assert_eq!(revs(&stand), [1, 2], "{how}");
        assert!(!dir.path().join("shells/3.jsx").exists(), "{how}");
        assert_eq!(
            page.shell("getSource", json!([])).await.unwrap(),
            super::stand::SHELL
        );
        stand.end().await;
    }
}

/// A face asks for its successor and then blocks the browser's process: the successor's frame does not even run.
#[tokio::test]
async fn a_face_that_hangs_takes_its_successor_with_it() {
    let setting = Setting::default().impatient();
    let stand = setting.open(Arc::new(ScriptBrain::new([face("1")]))).await;
    let (mut page, _) = two_faces(&stand).await;
    (page.runs, page.mounts) = (false, false);
    let call = page.start_shell("recompile", json!([NEXT])).await;
    page.show_of(3).await;
    (page.runs, page.mounts) = (true, true);
    assert_eq!(page.reply(call).await.unwrap_err()["error"], "gone");
    assert_eq!(page.event("died").await["rev"], 2);
    page.show_of(1).await;
    page.event_of("shells", |data| data["rev"] == 1).await;
    assert_eq!(revs(&stand), [1, 2]);
    stand.end().await;
}

#[tokio::test]
async fn a_page_that_closes_takes_its_faces_successor_with_it() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    second.show_of(1).await;
    (first.mounts, second.mounts) = (false, false);
    first.start_shell("recompile", json!([NEXT])).await;
    first.show_of(2).await;
    let tried = second.show_of(2).await;
    drop(first);
    second.discard(&tried).await;
    second.shell("usage", json!([])).await.unwrap();
    while revs(&stand) != [1] {
        tokio::task::yield_now().await;
    }
    stand.end().await;
}

#[tokio::test]
async fn what_a_face_asked_a_model_ends_with_it_and_the_persons_turn_does_not() {
    let brain = GatedBrain::new(1, [face("1"), ScriptStep::text("Here.")]);
    let stand = Setting::default().open(brain.clone()).await;
    let (mut page, dying) = two_faces(&stand).await;
    let turn = page.start_shell("send", json!(["Are you there?"])).await;
    page.said("user", "Are you there?").await;
    let hi = json!([[{"role": "user", "content": "Hi."}]]);
    let asked = page.start_shell("callLLM", hi).await;
    page.rest().await;
    page.fail(&dying, "render", "died").await;
    assert_eq!(page.reply(asked).await.unwrap_err()["error"], "gone");
    page.show_of(1).await;
    brain.gate.add_permits(1);
    page.said("assistant", "Here.").await;
    assert_eq!(page.reply(turn).await.unwrap()["text"], "Here.");
    stand.end().await;
}
