//! Row 31: two pages see one conversation.

use hermitcrab_kernel::ScriptStep;
use serde_json::{Value, json};

use super::stand::{GatedBrain, Setting, Stand, face};

#[tokio::test]
async fn two_pages_see_one_conversation() {
    let stand = Stand::script([
        face("1"),
        ScriptStep::tools(&[(
            "2",
            "block_create",
            json!({"name": "tides", "pscale0": "Water."}),
        )]),
        ScriptStep::text("The tide is in."),
    ])
    .await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    let shown = second.show().await;
    assert_eq!(shown["rev"], 1, "the second page gets the face: {shown}");
    assert_eq!(shown["props"]["version"], "1.2.3");

    let call = first.start_shell("send", json!(["Is the tide in?"])).await;
    for page in [&mut first, &mut second] {
        page.said("user", "Is the tide in?").await;
        page.event_of("tool", |data| data["phase"] == "start").await;
        page.event_of("tool", |data| data["phase"] == "end").await;
        assert_eq!(page.event("block_changed").await["name"], "tides");
        let delta = |data: &Value| data["text"] == "The tide is in.";
        page.event_of("delta", delta).await;
        page.event("usage").await;
        page.said("assistant", "The tide is in.").await;
    }
    let own = |message: &Value| message["event"] == "delta" && message["call"] == call;
    assert!(first.has(own).await, "the call gets its own deltas");
    assert!(!second.has(|message| message.get("call").is_some()).await);
    let answer = first.reply(call).await.unwrap();
    assert_eq!(answer["text"], "The tide is in.");
    assert_eq!(answer["tools"], json!(["block_create"]));

    let one = first.shell("conversation.load", json!([])).await.unwrap();
    let other = second.shell("conversation.load", json!([])).await.unwrap();
    assert_eq!(one, other);
    stand.end().await;
}

#[tokio::test]
async fn a_turn_outlives_its_page_and_a_later_page_sees_it() {
    let brain = GatedBrain::new(1, [face("1"), ScriptStep::text("Still here.")]);
    let stand = Setting::default().open(brain.clone()).await;
    let mut first = stand.booted().await;
    first.start_shell("send", json!(["Are you there?"])).await;
    first.said("user", "Are you there?").await;
    drop(first);
    let mut second = stand.page().await;
    brain.gate.add_permits(1);
    second.said("assistant", "Still here.").await;
    let loaded = second.bar("conversation.load", json!([])).await.unwrap();
    let said = [
        json!({"role": "user", "by": "person", "text": "Are you there?"}),
        json!({"role": "assistant", "by": "model", "text": "Still here."}),
    ];
    let messages = loaded["messages"].as_array().unwrap();
    assert!(messages.ends_with(&said), "{loaded}");
    stand.end().await;
}

#[tokio::test]
async fn what_the_program_says_to_the_model_is_not_shown_as_the_persons_words() {
    let stand = Stand::script([face("1"), ScriptStep::text("Hello.")]).await;
    let mut page = stand.booted().await;
    let frame = page.frame.clone();
    page.tell(
        json!({"type": "log", "frame": frame, "level": "error", "text": "x is not a function"}),
    )
    .await;
    page.shell("send", json!(["Hi."])).await.unwrap();
    let loaded = page.shell("conversation.load", json!([])).await.unwrap();
    let said = json!([
        {"role": "user", "by": "person", "text": "Hi."},
        {"role": "assistant", "by": "model", "text": "Hello."},
    ]);
    assert_eq!(loaded["messages"], said);
    stand.end().await;
}

#[tokio::test]
async fn the_conversation_is_loaded_in_pages() {
    let stand = Stand::script([
        face("1"),
        ScriptStep::text("Here."),
        ScriptStep::text("Gone."),
    ])
    .await;
    let mut page = stand.booted().await;
    page.shell("send", json!(["Hi."])).await.unwrap();
    page.bar("send", json!(["Bye."])).await.unwrap();
    let texts = |loaded: &Value| -> Vec<_> {
        let messages = loaded["messages"].as_array().unwrap().iter();
        let texts = messages.map(|message| message["text"].as_str().unwrap().to_owned());
        texts.collect()
    };
    let load = "conversation.load";
    let newest = page.shell(load, json!([{"limit": 3}])).await.unwrap();
    assert_eq!(texts(&newest), ["Here.", "Bye.", "Gone."]);
    let before = json!([{"before": newest["before"]}]);
    let oldest = page.shell(load, before).await.unwrap();
    assert_eq!(texts(&oldest), ["Hi."]);
    assert_eq!(
        (oldest.get("before"), &oldest["saved"]),
        (None, &Value::Null)
    );
    let all = page.shell(load, json!([])).await.unwrap();
    assert_eq!((texts(&all).len(), all.get("before")), (4, None));
    for wrong in [json!([{"before": "x"}]), json!([{"limit": -1}]), json!([3])] {
        let refused = page.shell(load, wrong).await.unwrap_err();
        assert_eq!(refused["error"], "bad_arguments", "{refused}");
    }
    stand.end().await;
}
