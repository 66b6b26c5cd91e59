//! Every way in which a reply may end.

use hermitcrab_kernel::ScriptStep;
use llm_client::{Block, BlockKind, Raw, Role, StopReason, ToolInput};
use serde_json::json;

use crate::place::{Setting, results};

fn read() -> ScriptStep {
    ScriptStep::tools(&[("t1", "block_list", json!({}))])
}

#[tokio::test]
async fn tools_run_in_order_and_their_results_are_one_message() {
    let calls = ScriptStep::tools(&[
        (
            "a",
            "block_create",
            json!({"name": "notes", "pscale0": "Notes."}),
        ),
        (
            "b",
            "block_write",
            json!({"name": "notes", "path": "0.1", "content": "first"}),
        ),
        ("c", "block_read", json!({"name": "notes", "path": "0.1"})),
    ]);
    let (place, brain) = Setting::default().script([calls, ScriptStep::text("Done.")]);
    let report = place.say("Take notes").await;
    assert_eq!(report.text, "Done.");
    assert_eq!(report.rounds, 2);
    let second = &brain.asked()[1].messages;
    assert_eq!(second.len(), 3);
    let results = results(&second[2]);
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(|(_, is_error)| !is_error), "{results:?}");
    assert!(results[2].0.contains("first"));
}

#[tokio::test]
async fn tool_calls_run_whatever_the_reason_says() {
    let call = ScriptStep::tool_use("a", "block_list", &json!({}));
    let odd = ScriptStep::reply(vec![call], StopReason::EndTurn);
    let (place, _) = Setting::default().script([odd, ScriptStep::text("Six.")]);
    let report = place.say("How many?").await;
    assert_eq!((report.text.as_str(), report.tools.len()), ("Six.", 1));
}

#[tokio::test]
async fn an_end_without_words_after_tools_asks_for_a_sentence_and_then_makes_one() {
    let silent = || ScriptStep::reply(vec![], StopReason::EndTurn);
    let (place, brain) = Setting::default().script([read(), silent(), silent()]);
    let report = place.say("Look").await;
    assert_eq!(report.text, "done: block_list");
    assert!(brain.asked()[2].tools_off);
    let (place, _) = Setting::default().script([read(), silent(), ScriptStep::text("I looked.")]);
    assert_eq!(place.say("Look").await.text, "I looked.");
}

#[tokio::test]
async fn a_pause_goes_on_with_the_same_content_and_is_no_round() {
    let pause = || ScriptStep::reply(vec![Block::text("Searching")], StopReason::PauseTurn);
    let mut steps: Vec<_> = (0..5).map(|_| pause()).collect();
    steps.push(ScriptStep::text("Found."));
    let (place, brain) = Setting::default().script(steps);
    let report = place.say("Search").await;
    assert_eq!(report.text, format!("{}Found.", "Searching".repeat(5)));
    assert_eq!(report.rounds, 1);
    assert_eq!(brain.asked()[1].messages[1].role, Role::Assistant);
    let (place, _) = Setting::default().script((0..7).map(|_| pause()));
    let report = place.say("Search").await;
    assert!(report.stopped.unwrap().contains("5 pauses"));
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_run() {
    let write = |path: &str| json!({"name": "memory", "path": path, "content": "x"});
    let cut = ScriptStep::reply(
        vec![
            ScriptStep::tool_use("a", "block_write", &write("0.1")),
            ScriptStep::tool_use("b", "block_write", &write("0.2")),
        ],
        StopReason::MaxTokens,
    );
    let (place, brain) = Setting::default().script([cut, ScriptStep::text("ok")]);
    place.say("Write").await;
    let results = results(&brain.asked()[1].messages[2]);
    assert!(!results[0].1, "{results:?}");
    assert!(
        results[1].1 && results[1].0.contains("cut_off"),
        "{results:?}"
    );
    assert_eq!(place.text("memory", "0.1").unwrap(), "x");
    assert_eq!(place.text("memory", "0.2"), None);
}

#[tokio::test]
async fn a_text_that_was_cut_off_goes_on_once() {
    let cut = |text: &str| ScriptStep::reply(vec![Block::text(text)], StopReason::MaxTokens);
    let (place, brain) = Setting::default().script([cut("One, "), ScriptStep::text("two.")]);
    assert_eq!(place.say("Count").await.text, "One, two.");
    assert!(brain.asked()[1].messages[2].text().contains("Go on"));
    let (place, _) = Setting::default().script([cut("One, "), cut("two, ")]);
    let report = place.say("Count").await;
    assert_eq!(report.text, "One, two, ");
    assert!(report.stopped.unwrap().contains("cut off"));
    let (place, brain) =
        Setting::default().script([cut("```jsx\nfunction App() {"), ScriptStep::text("ok")]);
    place.say("A face").await;
    assert!(brain.asked()[1].messages[2].text().contains("patch_source"));
}

#[tokio::test]
async fn a_refusal_is_shown_and_the_next_model_is_asked_only_if_that_is_set() {
    let refusal = || {
        let step = ScriptStep::reply(vec![], StopReason::Refusal);
        let ScriptStep::Reply(mut reply) = step else {
            unreachable!()
        };
        reply.stop_details = Some(Raw::parse(r#"{"category":"bio"}"#).unwrap());
        ScriptStep::Reply(reply)
    };
    let (place, brain) = Setting::default().script([refusal(), ScriptStep::text("Hello.")]);
    let report = place.say("Tell me").await;
    assert!(report.text.contains("declines") && report.text.contains("(bio)"));
    assert_eq!(brain.asked().len(), 1);
    // The conversation goes on.
    assert_eq!(place.say("Then hello").await.text, "Hello.");
    let mut setting = Setting::default();
    setting.config.settings.fallback_on_refusal = true;
    let (place, brain) = setting.script([refusal(), ScriptStep::text("I can.")]);
    assert_eq!(place.say("Tell me").await.text, "I can.");
    assert_eq!(brain.asked()[1].after.as_deref(), Some("script"));
}

/// Covers row H54.
#[tokio::test]
async fn a_content_filter_is_named() {
    let filtered = |content| ScriptStep::reply(content, StopReason::ContentFilter);
    let steps = [
        filtered(vec![]),
        filtered(vec![Block::text("The recipe")]),
        ScriptStep::text("Hello."),
    ];
    let (place, brain) = Setting::default().script(steps);
    for text in ["", "The recipe"] {
        let report = place.say("Tell me").await;
        assert_eq!(report.text, text);
        let line = "the provider's content filter stopped the answer";
        assert_eq!(report.stopped.as_deref(), Some(line));
    }
    assert_eq!(place.say("Then hello").await.text, "Hello.");
    // A question without any answer is not on record.
    assert_eq!(brain.asked()[2].messages.len(), 3);
}

/// Servers that send arguments as text send what the model wrote.
#[tokio::test]
async fn arguments_that_are_no_object_are_named() {
    let call = |text: &str| {
        Block::new(BlockKind::ToolUse {
            id: format!("call {text}"),
            name: "block_list".to_owned(),
            input: ToolInput::Invalid(text.to_owned()),
        })
    };
    let calls = ["[]", "7", "null", "{\"na"].map(call).to_vec();
    let step = ScriptStep::reply(calls, StopReason::ToolUse);
    let (place, brain) = Setting::default().script([step, ScriptStep::text("Well.")]);
    place.say("Look").await;
    let answers = results(&brain.asked()[1].messages[2]);
    assert!((answers[0].0).contains("arguments must be an object, got a list"));
    assert!((answers[1].0).contains("arguments must be an object, got a number"));
    // None at all.
    assert!(!answers[2].1, "{}", answers[2].0);
    assert!((answers[3].0).contains("the arguments are not JSON"));
}

#[tokio::test]
async fn a_full_context_window_drops_the_oldest_turns_and_tries_once() {
    let full = || ScriptStep::reply(vec![], StopReason::ContextWindow);
    let mut steps: Vec<_> = (0..8)
        .map(|n| ScriptStep::text(&format!("answer {n}")))
        .collect();
    steps.extend([full(), ScriptStep::text("short"), full(), full()]);
    let (place, brain) = Setting::default().script(steps);
    for n in 0..8 {
        place.say(&format!("question {n}")).await;
    }
    assert_eq!(place.say("one more").await.text, "short");
    let asked = brain.asked();
    assert!(asked[9].messages.len() < asked[8].messages.len());
    let report = place.say("again").await;
    assert!(report.stopped.unwrap().contains("context window"));
}

#[tokio::test]
async fn an_unknown_reason_is_an_end_with_a_line_about_it() {
    let odd = ScriptStep::reply(
        vec![Block::text("Hm.")],
        StopReason::Other("solar_flare".to_owned()),
    );
    let (place, _) = Setting::default().script([odd]);
    assert_eq!(place.say("Well?").await.text, "Hm.");
    assert!(
        place
            .notices()
            .iter()
            .any(|line| line.contains("solar_flare"))
    );
}

#[tokio::test]
async fn a_key_in_an_unknown_reason_is_not_shown() {
    let key = "sk-adv+key/9f8e7d6c5b4a";
    let odd = ScriptStep::reply(vec![Block::text("Hm.")], StopReason::Other(key.to_owned()));
    let setting = Setting::default();
    setting.config.redactor.learn(key.to_owned().into());
    let (place, _) = setting.script([odd]);
    place.say("Well?").await;
    let notices = place.notices().join("\n");
    assert!(notices.contains("unknown reason"), "{notices}");
    assert!(!notices.contains("9f8e7d6c5b4a"), "{notices}");
}

#[tokio::test]
async fn thoughts_alone_and_nothing_at_all_are_closed_with_a_line() {
    let thought = Block::new(BlockKind::Thinking {
        text: "hm".to_owned(),
        signature: None,
    });
    for content in [vec![thought], vec![]] {
        let step = ScriptStep::reply(content, StopReason::EndTurn);
        let (place, brain) = Setting::default().script([step, ScriptStep::text("Yes.")]);
        let report = place.say("Are you there?").await;
        assert!(report.stopped.unwrap().contains("nothing"));
        assert_eq!(place.say("Hello?").await.text, "Yes.");
        // Both questions stand in one message: nobody answered between them.
        assert_eq!(brain.asked()[1].messages.len(), 1);
    }
}

#[tokio::test]
async fn two_calls_with_one_id_and_arguments_that_are_no_json() {
    let broken = Block::new(BlockKind::ToolUse {
        id: "same".to_owned(),
        name: "block_list".to_owned(),
        input: ToolInput::Invalid("{\"na".to_owned()),
    });
    let good = ScriptStep::tool_use("same", "block_list", &json!({}));
    let step = ScriptStep::reply(vec![good, broken], StopReason::ToolUse);
    let (place, brain) = Setting::default().script([step, ScriptStep::text("ok")]);
    place.say("List").await;
    let answers = results(&brain.asked()[1].messages[2]);
    assert_eq!(answers.len(), 2);
    assert!(!answers[0].1 && answers[1].1, "{answers:?}");
    assert!(answers[1].0.contains("not JSON"));
}
