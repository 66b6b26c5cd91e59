//! Requests of a face outside of the conversation: hostile parameters, windows, tools, budgets.

mod hostile;
mod tool_loop;

use std::sync::Arc;

use hermitcrab_kernel::table::ToolResult;
use hermitcrab_kernel::{
    BrainRequest, Event, EventSink, OfflineBrain, ScriptBrain, ScriptStep, Tier,
};
use llm_client::{Block, BlockKind, Message, Reply, Role, StopReason, ToolSpec};
use pscale_blocks::EditAuthor;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::place::{Place, Setting, call, results};

fn by_face() -> EditAuthor {
    EditAuthor::Model {
        id: "script (face 3)".to_owned(),
        web: None,
    }
}

async fn llm(place: &Place, messages: Value, opts: Value) -> ToolResult {
    let cancel = CancellationToken::new();
    place
        .kernel
        .call_llm(messages, opts, place.sink(), cancel)
        .await
}

async fn api(place: &Place, params: Value) -> ToolResult {
    let cancel = CancellationToken::new();
    place.kernel.call_api(params, place.sink(), cancel).await
}

async fn tool_loop(place: &Place, params: Value) -> ToolResult {
    let (by, cancel) = (by_face(), CancellationToken::new());
    (place
        .kernel
        .call_with_tools(params, by, place.sink(), cancel))
    .await
}

fn user(text: &str) -> Value {
    json!([{ "role": "user", "content": text }])
}

/// A reply with these tokens.
fn costly(text: &str, input: u64, output: u64) -> ScriptStep {
    let mut reply = Reply::new("script", vec![Block::text(text)], StopReason::EndTurn);
    reply.usage.input = input;
    reply.usage.output = output;
    reply.usage.known = true;
    ScriptStep::Reply(Box::new(reply))
}

fn names(request: &BrainRequest) -> Vec<&str> {
    request.tools.iter().filter_map(ToolSpec::name).collect()
}

#[track_caller]
fn refused(outcome: &ToolResult, kind: &str, words: &str) {
    assert!(outcome.is_error, "{outcome:?}");
    assert_eq!(outcome.content["error"], kind, "{outcome:?}");
    let detail = outcome.content["detail"].as_str().unwrap();
    assert!(detail.contains(words), "{words:?} is not in {detail:?}");
    assert!(outcome.content["hint"].is_string());
}

#[tokio::test]
async fn plain_words_get_a_text_and_leave_no_trace_in_the_conversation() {
    let (place, brain) =
        Setting::page().script([costly("A title.", 30, 4), ScriptStep::text("Hello.")]);
    let opts = json!({
        "system": "Be short.", "model": "fast", "max_tokens": 1_000_000, "temperature": 2, "top_p": 0.1,
    });
    let messages = json!([
        { "role": "system", "content": "You name things." },
        { "role": "user", "content": "Name this" },
        { "role": "user", "content": [{ "type": "text", "text": "please" }] },
    ]);
    let outcome = llm(&place, messages, opts).await;
    assert!(!outcome.is_error, "{outcome:?}");
    assert_eq!(
        outcome.content,
        json!({
            "role": "assistant",
            "content": "A title.",
            "model": "script",
            "stop_reason": "end_turn",
            "usage": {
                "input_tokens": 30,
                "output_tokens": 4,
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 0,
            },
        })
    );
    let asked = &brain.asked()[0];
    let system: Vec<_> = asked.system.iter().filter_map(Block::as_text).collect();
    assert_eq!(system, ["Be short.", "You name things."]);
    assert_eq!(asked.messages.len(), 1, "neighbours are merged");
    assert_eq!(asked.messages[0].content.len(), 2);
    assert_eq!((asked.tier, asked.max_tokens), (Tier::Fast, Some(8_192)));
    assert!(asked.tools.is_empty());
    // It came as it was said, and it was counted.
    let events = place.events.lock().unwrap().clone();
    assert!(events.contains(&Event::Delta {
        text: "A title.".to_owned()
    }));
    assert_eq!(place.kernel.usage().run.input, 30);
    assert!(place.kernel.messages().await.is_empty());
    assert!(place.kernel.record().unwrap().is_empty());
    place.say("Hi").await;
    assert_eq!(brain.asked()[1].messages.len(), 1);
}

#[tokio::test]
async fn a_text_alone_is_one_message() {
    let (place, brain) = Setting::page().script([ScriptStep::text("Yes.")]);
    assert!(
        !llm(&place, json!("Are you there?"), Value::Null)
            .await
            .is_error
    );
    assert_eq!(brain.asked()[0].messages, [Message::user("Are you there?")]);
}

#[tokio::test]
async fn models_are_those_of_the_settings() {
    let steps = (0..4).map(|_| ScriptStep::text("Yes."));
    let (place, brain) = Setting::page().script(steps);
    for model in ["default", "fast", "script", "claude-sonnet-5-5"] {
        let params = json!({ "messages": user("a"), "model": model, "max_tokens": 0,
            "thinking": { "type": "disabled" } });
        assert!(!api(&place, params).await.is_error, "{model}");
    }
    let asked = brain.asked();
    let models: Vec<_> = asked.iter().map(|asked| asked.model.as_deref()).collect();
    assert_eq!(models, [None, None, None, Some("claude-sonnet-5-5")]);
    assert_eq!(asked[1].tier, Tier::Fast);
    assert!(
        asked
            .iter()
            .all(|asked| asked.thinking_off && asked.max_tokens == Some(1))
    );
}

#[tokio::test]
async fn one_request_answers_with_its_blocks_and_runs_no_tool() {
    let reply = ScriptStep::reply(
        vec![
            Block::new(BlockKind::Thinking {
                text: "hm".to_owned(),
                signature: Some("sig".to_owned()),
            }),
            Block::text("Look."),
            ScriptStep::tool_use(
                "t1",
                "block_write",
                &json!({"name": "memory", "path": "0.1", "content": "x"}),
            ),
            ScriptStep::tool_use("t2", "weather", &json!({"town": "Brest"})),
        ],
        StopReason::ToolUse,
    );
    let (place, brain) = Setting::page().script([reply, ScriptStep::text("Rain.")]);
    let weather =
        json!({"name": "weather", "description": "Of a town.", "input_schema": {"type": "object"}});
    let params = json!({ "messages": user("a"), "tools": ["block_write", weather] });
    let outcome = api(&place, params.clone()).await;
    assert_eq!(outcome.content["stop_reason"], "tool_use");
    let content = outcome.content["content"].clone();
    assert_eq!(
        content,
        json!([
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "t1", "name": "block_write",
             "input": {"name": "memory", "path": "0.1", "content": "x"}},
            {"type": "tool_use", "id": "t2", "name": "weather", "input": {"town": "Brest"}},
        ])
    );
    assert_eq!(place.text("memory", "0.1"), None);
    assert_eq!(names(&brain.asked()[0]), ["block_write", "weather"]);
    // The face goes on with results of its own; blocks that came go back.
    let messages = json!([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": content},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "done"},
            {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "rain"}]},
        ]},
    ]);
    let mut next = params;
    next["messages"] = messages;
    assert!(!api(&place, next).await.is_error);
    let sent = &brain.asked()[1].messages;
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[1].content.len(), 4);
    assert_eq!(results(&sent[2]).len(), 2);
    // Without tools none are offered.
    let (place, brain) = Setting::page().script([ScriptStep::text("Yes.")]);
    api(&place, json!({ "messages": user("a") })).await;
    assert!(brain.asked()[0].tools.is_empty());
}

#[tokio::test]
async fn the_window_is_that_of_a_conversation() {
    let (place, brain) = Setting::page().script([ScriptStep::text("Yes.")]);
    let long = "word ".repeat(300);
    let messages: Vec<_> = (0..60)
        .map(|n| json!({"role": if n % 2 == 0 { "user" } else { "assistant" }, "content": format!("{n} {long}")}))
        .chain([json!({"role": "user", "content": "the last one"})])
        .collect();
    llm(&place, json!(messages), Value::Null).await;
    let sent = &brain.asked()[0].messages;
    assert!(sent.len() <= 20 && sent.len() > 3, "{}", sent.len());
    assert_eq!(sent[0].role, Role::User);
    // It does not speak of a block that holds nothing of this.
    assert_eq!(
        sent[0].content[0].as_text(),
        Some("[Earlier messages are left out.]")
    );
    assert_eq!(sent.last().unwrap().text(), "the last one");
    let names: Vec<_> = place
        .store
        .names()
        .unwrap()
        .into_iter()
        .map(|row| row.name)
        .collect();
    assert!(!names.iter().any(|name| name.as_str() == "history"));
}

#[tokio::test]
async fn the_budgets_of_the_turn_hold_and_a_turn_begins_anew() {
    let mut setting = Setting::page();
    setting.config.settings.budgets.input_tokens = 3_000;
    let steps = [
        costly("one", 2_990, 5),
        costly("the person's", 10, 5),
        costly("two", 10, 5),
    ];
    let (place, brain) = setting.script(steps);
    assert!(!llm(&place, user("a"), Value::Null).await.is_error);
    let more = user(&"word ".repeat(100));
    refused(
        &llm(&place, more.clone(), Value::Null).await,
        "budget",
        "budgets.input_tokens",
    );
    refused(
        &tool_loop(&place, json!({ "messages": more })).await,
        "budget",
        "input_tokens",
    );
    assert_eq!(brain.asked().len(), 1);
    place.say("hello").await;
    assert!(!llm(&place, more, Value::Null).await.is_error);
    let taken = place.kernel.usage();
    assert_eq!((taken.turn.input, taken.run.input), (20, 3_010));
}

#[tokio::test]
async fn asking_is_one_after_the_other_and_can_be_stopped() {
    let mut setting = Setting::page();
    setting.config.settings.budgets.output_tokens = 10;
    let (place, brain) = setting.script([costly("one", 5, 10), costly("two", 5, 10)]);
    // Both are sent at once: the second one knows what the first one took.
    let (one, two) = tokio::join!(
        llm(&place, user("a"), Value::Null),
        llm(&place, user("b"), Value::Null)
    );
    assert!(!one.is_error);
    refused(&two, "budget", "output_tokens");
    assert_eq!(brain.asked().len(), 1);

    let (place, brain) = Setting::page().script([ScriptStep::Hang, ScriptStep::text("Yes.")]);
    let cancel = CancellationToken::new();
    let hangs = (place.kernel).call_llm(user("a"), Value::Null, EventSink::none(), cancel.clone());
    let waits = (place.kernel).call_llm(user("b"), Value::Null, EventSink::none(), cancel.clone());
    let (hangs, waits, ()) = tokio::join!(hangs, waits, async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    refused(&hangs, "stopped", "");
    refused(&waits, "stopped", "");
    assert_eq!(brain.asked().len(), 1);
    assert!(!llm(&place, user("c"), Value::Null).await.is_error);
}

#[tokio::test]
async fn offline_the_answer_says_that_it_is_a_script() {
    let place = Setting::page().open(Arc::new(OfflineBrain)).unwrap();
    for words in ["What is a tide?", "list", "BOOT"] {
        let outcome = llm(&place, user(words), json!({"model": "fast"})).await;
        let text = outcome.content["content"].as_str().unwrap();
        assert!(text.starts_with("I am a script"), "{words}: {text}");
        let outcome = api(&place, json!({ "messages": user(words) })).await;
        assert_eq!(outcome.content["content"][0]["text"], text);
    }
    // With tools it does what it can.
    let outcome = tool_loop(&place, json!({ "messages": user("list") })).await;
    let text = outcome.content["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("keystone"), "{text}");
    assert_eq!(place.kernel.usage().run.usd.0, 0);
}

#[tokio::test]
async fn no_key_goes_out_or_comes_back() {
    const KEY: &str = "sk-ant-api03-MARKERmarker0123456789";
    let mut setting = Setting::page();
    setting.config.redactor = llm_client::Redactor::default();
    let learnt = setting.config.redactor.clone();
    let (place, brain) = setting.script([
        ScriptStep::text(&format!("It is {KEY}")),
        ScriptStep::text("It is the-page-key-1."),
    ]);
    let outcome = llm(&place, user(&format!("My key is {KEY}")), Value::Null).await;
    assert!(
        !outcome.content.to_string().contains("MARKER"),
        "{outcome:?}"
    );
    assert!(!format!("{:?}", brain.asked()).contains("MARKER"));
    // A key that came while the kernel runs is one, too.
    learnt.learn("the-page-key-1".into());
    let outcome = llm(&place, user("and the-page-key-1"), Value::Null).await;
    assert!(
        !outcome.content.to_string().contains("the-page-key-1"),
        "{outcome:?}"
    );
    let asked = format!("{:?}", brain.asked()[1].messages);
    assert!(!asked.contains("the-page-key-1"), "{asked}");
    place
        .tool(
            "block_write",
            json!({"name": "skills", "path": "0.8", "content": "the-page-key-1"}),
        )
        .await;
    let is_clean = || !place.text("skills", "0.8").unwrap().contains("page-key");
    assert!(is_clean());
    // Nor by another way to the blocks than tools.
    let op = pscale_blocks::Op::Write {
        path: "0.8".parse().unwrap(),
        text: "it is the-page-key-1".to_owned(),
    };
    let stamp = pscale_blocks::Stamp::new(place.kernel.now(), EditAuthor::Person);
    let name = pscale_blocks::BlockName::new("skills").unwrap();
    (place.kernel.store().edit(&name, None, &op, &stamp)).unwrap();
    assert!(is_clean());
}
