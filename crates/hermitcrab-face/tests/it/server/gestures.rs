//! The requests of a face to a model while the person is absent.

use std::sync::Arc;
use std::time::Duration;

use hermitcrab_kernel::{ScriptBrain, ScriptStep};
use serde_json::json;

use super::page::Page;
use super::stand::{GatedBrain, Setting, Stand, face};

/// A brain that answers and answers.
fn answers(count: usize) -> Arc<GatedBrain> {
    let said = (0..count).map(|at| ScriptStep::text(&format!("Answer {at}.")));
    GatedBrain::new(count + 1, [face("1")].into_iter().chain(said))
}

async fn face_send(page: &mut Page, text: &str) -> Result<serde_json::Value, serde_json::Value> {
    page.gesture = false;
    let answer = page.shell("send", json!([text])).await;
    page.gesture = true;
    answer
}

#[tokio::test]
async fn a_click_stands_for_one_message_a_second() {
    let stand = Setting::default().open(answers(9)).await;
    let mut page = stand.booted().await;
    page.shell("send", json!(["One."])).await.unwrap();
    page.said("user", "One.").await;
    // In the same second it is the face that speaks.
    page.shell("send", json!(["Two."])).await.unwrap();
    page.said("user", "[From face 1, not from the person] Two.")
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    page.shell("send", json!(["Three."])).await.unwrap();
    page.said("user", "Three.").await;
    stand.end().await;
}

/// The face chose the words, whatever the person clicked on.
#[tokio::test]
async fn words_by_a_click_are_the_persons_and_come_from_the_face() {
    let choose = json!({"names": ["block_write"]});
    let write = json!({"name": "constitution", "path": "0.7", "content": "Obey."});
    let stand = Stand::script([
        face("1"),
        ScriptStep::tools(&[("a", "set_tools", choose)]),
        ScriptStep::tools(&[("b", "block_write", write)]),
        ScriptStep::text("It waits."),
    ])
    .await;
    let mut page = stand.booted().await;
    page.shell("send", json!(["Write it."])).await.unwrap();
    page.said("user", "Write it.").await;
    let waiting = page.bar("review", json!([])).await.unwrap();
    let from = &waiting["edits"][0]["from"];
    assert_eq!(from, &json!([{"face": {"rev": 1}}]), "{waiting}");
    let node = page.bar("blockNode", json!(["constitution", "0.7"])).await;
    assert_eq!(node.unwrap_err()["error"], "not_found");
    stand.end().await;
}

/// The chat is the page's own, like the bar: also while a face is shown that may call at any time.
#[tokio::test]
async fn words_in_the_pages_own_chat_come_from_no_face() {
    let dir = tempfile::tempdir().unwrap();
    let choose = json!({"names": ["block_write"]});
    let write = |path: &str| {
        let input = json!({"name": "constitution", "path": path, "content": "Count."});
        ScriptStep::tools(&[("b", "block_write", input)])
    };
    let steps = [
        face("1"),
        ScriptStep::tools(&[("a", "set_tools", choose)]),
        write("0.7"),
        ScriptStep::text("It is written."),
        write("0.8"),
        ScriptStep::text("It waits."),
    ];
    let stand = Setting::default().in_dir(dir.path());
    let stand = stand.open(Arc::new(ScriptBrain::new(steps))).await;
    let mut page = stand.booted().await;
    page.bar("send", json!(["Write it."])).await.unwrap();
    page.said("user", "Write it.").await;
    let node = page.bar("blockNode", json!(["constitution", "0.7"])).await;
    assert_eq!(node.unwrap()["content"], "Count.");
    let waiting = page.bar("review", json!([])).await.unwrap();
    assert_eq!(waiting["edits"], json!([]));
    // The control: the same words by a click in the face.
    page.shell("send", json!(["Write more."])).await.unwrap();
    let waiting = page.bar("review", json!([])).await.unwrap();
    let from = &waiting["edits"][0]["from"];
    assert_eq!(from, &json!([{"face": {"rev": 1}}]), "{waiting}");
    stand.end().await;

    let record = std::fs::read_to_string(dir.path().join("conversation.jsonl")).unwrap();
    let line = |text: &str| {
        let line = record.lines().find(|line| line.contains(text)).unwrap();
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["message"]["by"], "person", "{line}");
        line["message"]["from"].clone()
    };
    assert_eq!(line("Write it."), json!(null));
    assert_eq!(line("Write more."), json!([{"face": {"rev": 1}}]));
}

#[tokio::test]
async fn what_a_face_says_by_itself_is_marked_and_rare() {
    let brain = answers(20);
    let stand = Setting::default().open(brain.clone()).await;
    let mut page = stand.booted().await;
    for at in 0..3 {
        face_send(&mut page, &format!("Order {at}.")).await.unwrap();
    }
    for _ in 0..20 {
        let error = face_send(&mut page, "Once more.").await.unwrap_err();
        assert_eq!(error["error"], "too_often", "{error}");
    }
    let marked = "[From face 1, not from the person] Order 2.";
    let sent = serde_json::to_string(&brain.asked().last().unwrap().messages).unwrap();
    assert!(
        sent.contains(marked) && !sent.contains("Once more"),
        "{sent}"
    );
    let said = page.shell("conversation.load", json!([])).await.unwrap();
    let texts: Vec<_> = (said["messages"].as_array().unwrap().iter())
        .filter(|message| message["role"] == "user")
        .collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert_eq!(texts[2]["text"], marked);
    // The person is not held up by it.
    page.shell("send", json!(["Stop that."])).await.unwrap();
    page.said("user", "Stop that.").await;
    stand.end().await;
}

#[tokio::test]
async fn requests_without_the_person_are_counted_whatever_they_cost() {
    let mut setting = Setting::default();
    setting.kernel.settings.budgets.face_calls_hour = 5;
    let tool = |id: &str| ScriptStep::tools(&[(id, "block_list", json!({}))]);
    let mut steps = vec![face("1")];
    steps.extend((0..3).map(|_| ScriptStep::text("well")));
    // Two rounds of a loop of three: the next one is not asked for.
    steps.extend([tool("a"), tool("b")]);
    steps.extend((0..3).map(|_| ScriptStep::text("for the person")));
    let brain = Arc::new(ScriptBrain::new(steps));
    let stand = setting.open(brain.clone()).await;
    let mut page = stand.booted().await;
    let before = brain.asked().len();
    let hi = json!([{"role": "user", "content": "Hi."}]);
    face_send(&mut page, "Hi.").await.unwrap();
    page.gesture = false;
    page.shell("callLLM", json!([hi])).await.unwrap();
    let params = json!([{ "messages": hi }]);
    page.shell("callAPI", params.clone()).await.unwrap();
    let calls = [
        ("callWithToolLoop", params.clone()),
        ("callLLM", json!([hi])),
        ("callAPI", params.clone()),
        ("send", json!(["And this?"])),
    ];
    for (method, args) in calls.clone() {
        let error = page.shell(method, args).await.unwrap_err();
        assert_eq!(error["error"], "too_often", "{method}: {error}");
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.contains("budgets.face_calls_hour"), "{detail}");
    }
    assert_eq!(brain.asked().len() - before, 5);
    // With the person they do not count.
    page.gesture = true;
    for (method, args) in &calls[1..] {
        page.shell(method, args.clone()).await.unwrap();
    }
    assert_eq!(brain.asked().len() - before, 8);
    stand.end().await;
}

/// A shell writes its own arguments, and nothing in them is a gesture.
#[tokio::test]
async fn a_call_without_the_pages_word_has_no_gesture() {
    let stand = Stand::script([face("1"), ScriptStep::text("Hm.")]).await;
    let mut page = stand.booted().await;
    let frame = page.frame.clone().unwrap();
    page.tell(json!({
        "type": "call", "id": 900, "frame": frame, "method": "send", "args": ["Hi."],
    }))
    .await;
    page.said("user", "[From face 1, not from the person] Hi.")
        .await;
    page.reply(900).await.unwrap();
    stand.end().await;
}
