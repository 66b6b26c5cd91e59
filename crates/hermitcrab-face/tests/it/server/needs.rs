//! Shells that need React on a server without it. No browser is needed to refuse them.

use std::path::Path;
use std::sync::Arc;

use hermitcrab_face::jsx::OxcCompiler;
use hermitcrab_kernel::{Kernel, ScriptBrain, ScriptStep};
use pscale_blocks::MemStore;
use serde_json::json;
use tokio::sync::oneshot;

use super::stand::{GatedBrain, SHELL, Setting, Stand, face};
use crate::face::needs::{FEATURES, check_refused};
use crate::face::react::kept_react;

#[tokio::test]
async fn each_feature_is_refused_at_its_line() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    page.show_of(1).await;
    for (feature, jsx, column) in FEATURES {
        let answer = stand.kernel.recompile(jsx).await;
        assert!(answer.is_error, "{feature}");
        check_refused(&answer.content, feature, column);
    }
    let shown = page.has(|message| message["type"] == "show").await;
    assert!(!shown, "one was shown");
    let list = page.bar("shells", json!([])).await.unwrap();
    assert_eq!(list[0]["running"], true, "{list}");
    stand.end().await;
}

/// Keeps these faces in a data directory, without a page that could refuse them.
async fn keep<const N: usize>(data: &Path, faces: [&str; N]) {
    let kernel = Kernel::builder(Arc::new(MemStore::new()), Arc::new(ScriptBrain::new([])))
        .data(data)
        .compiler(Arc::new(OxcCompiler))
        .open()
        .unwrap();
    for jsx in faces {
        assert!(!kernel.recompile(jsx).await.is_error);
    }
}

/// Without a page a face with React is kept; a start without React passes it over, and does not mark it.
#[tokio::test]
async fn a_kept_face_that_needs_react_gives_way_and_is_not_bad() {
    let dir = tempfile::tempdir().unwrap();
    let (feature, jsx, column) = FEATURES[0];
    keep(dir.path(), [SHELL, jsx]).await;
    let stand = Setting::default().in_dir(dir.path());
    let stand = stand.open(Arc::new(ScriptBrain::new([]))).await;
    let mut page = stand.booted().await;
    page.show_of(1).await;
    let kept = |rev: u64| {
        let shells = stand.kernel.faces().shells();
        shells.into_iter().find(|shell| shell.rev == rev).unwrap()
    };
    assert_eq!((kept(2).mounted, kept(2).deaths), (None, 0));
    assert_eq!(kept(1).mounted, Some(true));

    let answer = page.bar("useShell", json!([2])).await.unwrap_err();
    check_refused(&answer, feature, column);
    assert_eq!((kept(2).mounted, kept(2).deaths), (None, 0));
    stand.end().await;
}

/// The newest sound face before one that crashed needs React: the one before that is shown.
#[tokio::test]
async fn a_crash_passes_over_a_face_that_needs_react() {
    let dir = tempfile::tempdir().unwrap();
    let later = "function Later() { return <p>later</p>; }";
    keep(dir.path(), [FEATURES[1].1, SHELL, FEATURES[0].1, later]).await;
    let stand = Setting::default().in_dir(dir.path());
    let stand = stand.open(Arc::new(ScriptBrain::new([]))).await;
    let mut page = stand.booted().await;
    let show = page.show_of(4).await;
    page.fail(&show, "render", "boom").await;
    let show = page.show_of(2).await;
    page.event_of("shells", |data| data["rev"] == 2).await;
    // Of what is left only one that needs React is older: the safe face.
    page.fail(&show, "render", "boom").await;
    page.safe().await;
    let shells = stand.kernel.faces().shells();
    let deaths: Vec<_> = shells.iter().map(|shell| shell.deaths).collect();
    assert_eq!(deaths, [0, 1, 0, 1]);
    stand.end().await;
}

/// Keeps one face, which needs React, and opens a server that looks for React until the test says that it has ended.
async fn searching(
    data: &Path,
    brain: Arc<GatedBrain>,
) -> (Stand, oneshot::Sender<hermitcrab_face::Runtime>) {
    keep(data, [FEATURES[0].1]).await;
    let (found, search) = oneshot::channel();
    let mut setting = Setting::default().in_dir(data);
    setting.search = Some(search);
    (setting.open(brain).await, found)
}

/// The page's own chat is there until React is, and the model is not asked for another face.
#[tokio::test]
async fn a_kept_face_waits_while_react_is_looked_for() {
    let Some(react) = kept_react() else { return };
    let dir = tempfile::tempdir().unwrap();
    // The model answers at once: the person can talk to it, also while React arrives.
    let brain = GatedBrain::new(1, ["Hello.", "Later."].map(ScriptStep::text));
    let (stand, found) = searching(dir.path(), brain.clone()).await;
    let mut page = stand.page().await;
    let safe = page.safe().await;
    let reason = safe["reason"].as_str().unwrap();
    assert!(reason.contains("being installed"), "{reason}");
    page.bar("send", json!(["Are you there?"])).await.unwrap();
    let last = page.start(None, "send", json!(["And now?"])).await;
    assert!(!page.has(|message| message["type"] == "show").await);
    found.send(react).unwrap();
    brain.gate.add_permits(1);
    page.reply(last).await.unwrap();
    page.show_of(1).await;
    page.said("assistant", "Here again.").await;
    let asked = brain.asked().len();
    assert_eq!(asked, 2, "the model was asked for a face");
    let shells = stand.kernel.faces().shells();
    assert_eq!((shells.len(), shells[0].mounted), (1, Some(true)));
    stand.end().await;
}

/// After a search without React the model writes a face that needs none.
#[tokio::test]
async fn a_kept_face_gives_way_when_react_was_not_found() {
    let dir = tempfile::tempdir().unwrap();
    let brain = GatedBrain::new(9, [face("1")]);
    let (stand, found) = searching(dir.path(), brain.clone()).await;
    let mut page = stand.page().await;
    page.safe().await;
    assert!(brain.asked().is_empty());
    drop(found);
    page.show_of(2).await;
    stand.end().await;
}
