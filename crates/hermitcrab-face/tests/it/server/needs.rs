//! Shells that need React on a server without it. No browser is needed to refuse them.

use std::path::Path;
use std::sync::Arc;

use hermitcrab_face::jsx::OxcCompiler;
use hermitcrab_kernel::{Kernel, ScriptBrain};
use pscale_blocks::MemStore;
use serde_json::json;

use super::stand::{SHELL, Setting, Stand, face};
use crate::face::needs::{FEATURES, check_refused};

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
