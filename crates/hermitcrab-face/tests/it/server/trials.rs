//! A shell is tried before it is the face.

use std::sync::Arc;
use std::time::Duration;

use hermitcrab_kernel::{OfflineBrain, ScriptBrain, ScriptStep};
use serde_json::{Value, json};

use super::page::Page;
use super::stand::{GatedBrain, SHELL, Setting, Stand, face};

/// The same, but not to the letter: a call that is repeated is refused.
fn other(n: u32) -> String {
    format!("function App() {{ return <p>{n}</p>; }}")
}

#[tokio::test]
async fn the_boot_waits_for_the_first_page() {
    let brain = GatedBrain::new(9, [face("1")]);
    let stand = Setting::default().open(brain.clone()).await;
    assert_eq!(stand.get("/health").await.json()["pages"], 0);
    assert!(brain.asked().is_empty());
    let mut page = stand.page().await;
    assert_eq!(page.show().await["rev"], 1);
    page.event_of("busy", |data| data["busy"] == false).await;
    assert_eq!(brain.asked().len(), 1);
    assert_eq!(stand.get("/health").await.json()["pages"], 1);
    stand.end().await;
}

#[tokio::test]
async fn the_offline_brain_wakes_with_a_face_and_a_greeting() {
    let stand = Setting::default().open(Arc::new(OfflineBrain)).await;
    let mut page = stand.page().await;
    let show = page.show().await;
    assert_eq!(show["rev"], 1);
    let greeting = page.event("message").await;
    assert_eq!(greeting["role"], "assistant");
    let said = page.shell("send", json!(["time"])).await.unwrap();
    assert!(said["text"].as_str().unwrap().contains("2026"), "{said}");
    stand.end().await;
}

#[tokio::test]
async fn a_second_page_gets_the_current_face_and_its_own_frame() {
    let stand = Stand::script([face("1")]).await;
    let first = stand.booted().await;
    let mut second = stand.page().await;
    second.show_of(1).await;
    assert_ne!(first.frame, second.frame);
    let list = second.bar("shells", json!([])).await.unwrap();
    assert_eq!(list[0]["mounted"], true);
    assert_eq!(list[0]["running"], true);
    stand.end().await;
}

#[tokio::test]
async fn recompile_answers_only_when_it_has_mounted() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    page.show().await;
    page.mounts = false;
    let call = page.start_shell("recompile", json!([other(2)])).await;
    let show = page.show_of(2).await;
    let answered = |message: &Value| message["type"] == "reply" && message["id"] == call;
    assert!(!page.has(answered).await, "nobody has said that it mounted");
    page.mount(&show).await;
    let answer = page.reply(call).await.unwrap();
    assert_eq!(
        (answer["rev"].clone(), answer["mounted"].clone()),
        (json!(2), json!(true))
    );
    stand.end().await;
}

#[tokio::test]
async fn a_shell_that_fails_on_the_trial_keeps_the_old_one() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    let old = page.frame.clone();
    page.show().await;
    page.mounts = false;
    let call = page.start_shell("recompile", json!([other(2)])).await;
    let show = page.show_of(2).await;
    page.fail(&show, "render", "x is not a function").await;
    let answer = page.reply(call).await.unwrap_err();
    assert_eq!(answer["error"], "render");
    assert_eq!(answer["detail"], "x is not a function");
    assert_eq!(page.frame, old);
    page.shell("usage", json!([])).await.unwrap();
    let mut later = stand.page().await;
    later.show_of(1).await;
    stand.end().await;
}

/// A slow server, or another face in the browser's process, is not the fault of the face that is tried.
#[tokio::test]
async fn h15_the_mount_limit_counts_from_the_frames_load() {
    const MOUNT: Duration = Duration::from_millis(500);
    let mut setting = Setting::default();
    setting.limits.mount = MOUNT;
    let stand = setting.open(Arc::new(ScriptBrain::new([face("1")]))).await;
    let mut page = stand.booted().await;
    page.show().await;
    (page.runs, page.mounts) = (false, false);

    let call = page.start_shell("recompile", json!([other(2)])).await;
    let show = page.show_of(2).await;
    tokio::time::sleep(3 * MOUNT).await;
    page.mount(&show).await;
    assert_eq!(page.reply(call).await.unwrap()["mounted"], true);

    // From the load on it counts.
    let call = page.start_shell("recompile", json!([other(3)])).await;
    let show = page.show_of(3).await;
    page.tell(json!({"type": "ready", "frame": show["frame"]}))
        .await;
    let late = page.reply(call).await.unwrap_err();
    assert_eq!(late["error"], "timeout");
    stand.end().await;
}

/// The first page's answer is the model's, whatever the second says afterwards.
#[tokio::test]
async fn the_first_answer_decides() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    second.show_of(1).await;
    first.show_of(1).await;
    (first.mounts, second.mounts) = (false, false);

    let call = first.start_shell("recompile", json!([other(2)])).await;
    let (one, two) = (first.show_of(2).await, second.show_of(2).await);
    second.fail(&two, "render", "no").await;
    first.discard(&one).await;
    assert_eq!(first.reply(call).await.unwrap_err()["detail"], "no");
    // Too late: the frame is gone.
    first.mount(&one).await;
    first.rest().await;
    assert_eq!(running(&mut second).await, 1);
    stand.end().await;
}

async fn running(page: &mut Page) -> u64 {
    let list = page.bar("shells", json!([])).await.unwrap();
    let list = list.as_array().unwrap();
    let running = list.iter().find(|shell| shell["running"] == true);
    running.map_or(0, |shell| shell["rev"].as_u64().unwrap())
}

#[tokio::test]
async fn no_answer_in_the_limit_is_a_timeout() {
    let brain = Arc::new(ScriptBrain::new([face("1")]));
    let stand = Setting::default().impatient().open(brain).await;
    let mut page = stand.booted().await;
    page.show().await;
    page.mounts = false;
    let call = page.start_shell("recompile", json!([other(2)])).await;
    page.show_of(2).await;
    page.mounts = true;
    let answer = page.reply(call).await.unwrap_err();
    assert_eq!(answer["error"], "timeout");
    // A hung shell may have taken the old one with it: that one begins anew.
    page.wait("clear", |message| message["type"] == "clear")
        .await;
    page.show_of(1).await;
    page.shell("usage", json!([])).await.unwrap();
    assert_eq!(running(&mut page).await, 1);
    stand.end().await;
}

/// Frames of one server share a process in the browser: a face that hangs keeps the next one from running at all.
#[tokio::test]
async fn a_face_that_holds_the_next_one_up_goes_first() {
    let brain = Arc::new(ScriptBrain::new([face("1")]));
    let stand = Setting::default().impatient().open(brain).await;
    let mut page = stand.booted().await;
    page.show().await;
    (page.runs, page.mounts) = (false, false);
    let kernel = stand.kernel.clone();
    let trial = tokio::spawn(async move { kernel.recompile(&other(2)).await });
    let held_up = page.show_of(2).await;
    (page.runs, page.mounts) = (true, true);
    page.wait("clear", |message| message["type"] == "clear")
        .await;
    let show = page.show_of(2).await;
    assert_ne!(show["frame"], held_up["frame"]);
    assert_eq!(trial.await.unwrap().content["mounted"], true);
    assert_eq!(page.event("died").await["error"]["kind"], "timeout");
    assert_eq!(running(&mut page).await, 2);
    stand.end().await;
}

#[tokio::test]
async fn all_pages_gone_in_a_trial_is_no_failure() {
    let brain = GatedBrain::new(
        1,
        [
            face("1"),
            ScriptStep::tools(&[("2", "recompile", json!({"jsx": other(2)}))]),
            ScriptStep::text("It waits for you."),
        ],
    );
    let stand = Setting::default().open(brain.clone()).await;
    let mut page = stand.booted().await;
    page.show().await;
    page.mounts = false;
    page.start_shell("send", json!(["Another face, please."]))
        .await;
    brain.gate.add_permits(1);
    page.show_of(2).await;
    drop(page);
    stand.deserted().await;
    brain.gate.add_permits(1);
    stand.kernel.settle().await.unwrap();
    let mut later = stand.page().await;
    later.show_of(2).await;
    let request = brain.asked().pop().unwrap();
    let result = serde_json::to_string(&request.messages).unwrap();
    assert!(result.contains(r#"\"mounted\":null"#), "{result}");
    stand.end().await;
}

#[tokio::test]
async fn a_page_that_comes_in_a_trial_sees_its_end() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    first.show().await;
    first.mounts = false;
    let call = first.start_shell("recompile", json!([other(2)])).await;
    let show = first.show_of(2).await;
    let mut second = stand.page().await;
    second.show_of(1).await;
    second.show_of(2).await;
    first.mount(&show).await;
    first.rest().await;
    drop(first);
    // Its shell calls from the new face.
    let source = second.shell("getSource", json!([])).await.unwrap();
    assert_eq!(source, other(2), "call {call}");
    stand.end().await;
}

#[tokio::test]
async fn forged_and_late_reports_are_left_out() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    let (old, _) = (first.show_of(1).await, second.show_of(1).await);
    (first.mounts, second.mounts) = (false, false);
    let call = first.start_shell("recompile", json!([other(2)])).await;
    let (one, two) = (first.show_of(2).await, second.show_of(2).await);
    let answered = |message: &Value| message["type"] == "reply" && message["id"] == call;

    // For the frame of another page; of a wrong revision; of no frame at all.
    second.mount(&one).await;
    let wrong = json!({"frame": two["frame"], "rev": 1});
    second.mount(&wrong).await;
    second.mount(&json!({"frame": "../../x", "rev": 2})).await;
    second.fail(&one, "render", "forged").await;
    second.fail(&wrong, "render", "forged").await;
    second.rest().await;
    assert!(!first.has(answered).await);

    first.mount(&one).await;
    assert_eq!(first.reply(call).await.unwrap()["mounted"], true);
    // The frame before is gone, and so is what it says.
    first.fail(&old, "render", "late").await;
    first.mount(&old).await;
    first.mount(&one).await;
    assert!(!first.has(|message| message["event"] == "died").await);
    assert_eq!(running(&mut second).await, 2);
    stand.end().await;
}

#[tokio::test]
async fn a_safe_start_shows_the_programs_own_face_and_asks_no_model() {
    let brain = GatedBrain::new(9, [face("1")]);
    let setting = Setting {
        safe: true,
        ..Setting::default()
    };
    let stand = setting.open(brain.clone()).await;
    let mut page = stand.page().await;
    let safe = page.safe().await;
    assert!(safe["reason"].as_str().unwrap().contains("--safe"));
    assert!(brain.asked().is_empty());
    assert!(!page.has(|message| message["type"] == "show").await);
    // From there the person wakes the model.
    page.bar("boot", json!([])).await.unwrap();
    page.show_of(1).await;
    assert_eq!(running(&mut page).await, 1);
    stand.end().await;
}

#[tokio::test]
async fn a_start_on_a_kept_face_asks_no_model() {
    let dir = tempfile::tempdir().unwrap();
    let stand = Setting::default().in_dir(dir.path());
    let stand = stand.open(Arc::new(ScriptBrain::new([face("1")]))).await;
    drop(stand.booted().await);
    stand.end().await;
    let brain = GatedBrain::new(9, []);
    let stand = Setting::default().in_dir(dir.path());
    let stand = stand.open(brain.clone()).await;
    let mut page = stand.page().await;
    page.show_of(1).await;
    page.event_of("busy", |data| data["busy"] == false).await;
    assert!(brain.asked().is_empty());
    let source = page.shell("getSource", json!([])).await.unwrap();
    assert_eq!(source, SHELL);
    stand.end().await;
}

#[tokio::test]
async fn the_bar_goes_back_to_an_earlier_face() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    for n in 2..=3 {
        page.shell("recompile", json!([other(n)])).await.unwrap();
    }
    page.bar("previousShell", json!([])).await.unwrap();
    assert_eq!(running(&mut page).await, 2);
    page.bar("useShell", json!([1])).await.unwrap();
    assert_eq!(running(&mut page).await, 1);
    let none = page.bar("previousShell", json!([])).await.unwrap_err();
    assert_eq!(none["error"], "not_found");
    page.bar("safeFace", json!([])).await.unwrap();
    page.safe().await;
    page.bar("previousShell", json!([])).await.unwrap();
    assert_eq!(running(&mut page).await, 3);
    let none = page.bar("useShell", json!([77])).await.unwrap_err();
    assert_eq!(none["error"], "not_found");
    stand.end().await;
}

#[tokio::test]
async fn a_face_that_was_made_without_a_page_is_marked_when_it_mounts() {
    let stand = Stand::script([face("1")]).await;
    let page = stand.booted().await;
    drop(page);
    stand.deserted().await;
    let made = stand.kernel.recompile(&other(2)).await;
    assert_eq!(made.content["mounted"], json!(null));
    assert_eq!(stand.kernel.faces().shells()[1].mounted, None);
    let mut page = stand.page().await;
    page.show_of(2).await;
    page.rest().await;
    assert_eq!(stand.kernel.faces().shells()[1].mounted, Some(true));
    stand.end().await;
}
