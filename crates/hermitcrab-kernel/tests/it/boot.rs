//! The boot: rows 5 to 7 of the acceptance list, and the steps of section 5.

use std::fs;
use std::sync::Arc;

use hermitcrab_kernel::faces::NoHost;
use hermitcrab_kernel::{BrainError, ScriptStep};
use llm_client::{Role, StopReason, ToolSpec};
use serde_json::json;

use crate::place::{BROKEN, SHELL, Setting, call, crash, face, results};

fn broken(id: &str) -> ScriptStep {
    call(id, "recompile", json!({ "jsx": BROKEN }))
}

#[tokio::test]
async fn a_first_boot_makes_six_blocks_and_a_face() {
    let dir = tempfile::tempdir().unwrap();
    let hello = vec![
        llm_client::Block::text("Hello, I am here."),
        ScriptStep::tool_use("a", "recompile", &json!({ "jsx": SHELL })),
    ];
    let step = ScriptStep::reply(hello, StopReason::ToolUse);
    let (place, brain) = Setting::page().in_dir(dir.path()).script([step]);
    let report = place.boot().await;

    let names = place.store.names().unwrap();
    let names: Vec<_> = names.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "capabilities",
            "constitution",
            "keystone",
            "memory",
            "network",
            "skills"
        ]
    );
    assert_eq!((report.shell, report.restored), (Some(1), None));
    assert_eq!(report.greeting, "Hello, I am here.");
    assert_eq!(report.safe_face, None);
    assert_eq!(report.offline.as_deref(), Some("script"));
    assert_eq!(place.shown(), [1]);
    let asked = brain.asked();
    assert_eq!(asked.len(), 1);
    let tools: Vec<_> = asked[0].tools.iter().filter_map(ToolSpec::name).collect();
    assert_eq!(
        tools,
        [
            "block_read",
            "block_write",
            "block_list",
            "block_create",
            "get_source",
            "recompile",
            "get_datetime"
        ]
    );
    assert_eq!(asked[0].messages.len(), 1);
    assert_eq!(asked[0].messages[0].text(), "BOOT");
    assert!(!asked[0].tools_off);
}

#[tokio::test]
async fn the_result_of_the_mounted_shell_is_stored_and_the_next_words_follow_it() {
    let (place, brain) = Setting::page().script([face("a"), ScriptStep::text("Yes.")]);
    place.boot().await;
    let said = place.kernel.messages().await;
    assert_eq!(said.len(), 3);
    assert!(!results(&said[2])[0].1);
    place.say("Are you there?").await;
    let asked = &brain.asked()[1].messages;
    assert_eq!(asked.len(), 3);
    let last = &asked[2];
    assert_eq!(last.role, Role::User);
    assert_eq!(results(last).len(), 1);
    assert_eq!(last.content[1].as_text(), Some("Are you there?"));
}

#[tokio::test]
async fn a_fenced_component_is_taken_for_a_recompile() {
    let reply = format!("Here is my face.\n\n```jsx\n{SHELL}\n```\n\nTalk to me.");
    let (place, brain) = Setting::page().script([ScriptStep::text(&reply)]);
    let report = place.boot().await;
    assert_eq!(report.shell, Some(1));
    assert_eq!(brain.asked().len(), 1);
    assert!(report.greeting.contains("Here is my face."));
    assert!(!report.greeting.contains("function App"));
    let source = &place.host.shown.lock().unwrap()[0].compiled.source;
    assert!(source.contains(SHELL));
}

#[tokio::test]
async fn words_alone_get_one_more_request_for_a_component_with_tools_off() {
    let fence = format!("```jsx\n{SHELL}\n```");
    let (place, brain) =
        Setting::page().script([ScriptStep::text("Good morning!"), ScriptStep::text(&fence)]);
    let report = place.boot().await;
    assert_eq!(report.shell, Some(1));
    let asked = brain.asked();
    assert_eq!(asked.len(), 2);
    assert!(!asked[0].tools_off && asked[1].tools_off);
    let roles: Vec<_> = asked[1].messages.iter().map(|said| said.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
    assert!(asked[1].messages[2].text().contains("fence"));

    let words = || ScriptStep::text("Good morning!");
    let (place, brain) = Setting::page().script([words(), words(), words()]);
    let report = place.boot().await;
    assert!(report.safe_face.is_some());
    assert_eq!(brain.asked().len(), 2);
    assert_eq!(report.shell, None);
}

#[tokio::test]
async fn a_failed_recompile_goes_back_as_a_result_and_the_loop_goes_on() {
    let (place, brain) = Setting::page().script([broken("a"), face("b")]);
    let report = place.boot().await;
    assert_eq!(report.shell, Some(1));
    assert_eq!(report.safe_face, None);
    let asked = brain.asked();
    let (text, is_error) = results(&asked[1].messages[2]).remove(0);
    assert!(is_error);
    let fault: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(fault["errors"][0]["line"], 2);
    assert!(fault["errors"][0]["column"].is_u64());
    assert!(fault["hint"].is_string());
}

#[tokio::test]
async fn the_greeting_stands_beside_the_face_or_is_the_faces_own() {
    let look = ScriptStep::reply(
        vec![
            llm_client::Block::text("Let me look at my blocks."),
            ScriptStep::tool_use("a", "block_list", &json!({})),
        ],
        StopReason::ToolUse,
    );
    let (place, _) = Setting::page().script([look, face("b")]);
    let report = place.boot().await;
    assert!(!report.greeting.is_empty());
    assert!(
        !report.greeting.contains("Let me look"),
        "{}",
        report.greeting
    );
    assert!(
        !report.greeting.contains("recompile"),
        "{}",
        report.greeting
    );
}

#[tokio::test]
async fn three_repairs_and_then_the_safe_face() {
    let steps = (0..9).map(|n| {
        let jsx = format!("function App() {{ return ({n}]; }}");
        call(&format!("a{n}"), "recompile", json!({ "jsx": jsx }))
    });
    let (place, brain) = Setting::page().script(steps);
    let report = place.boot().await;
    assert_eq!(brain.asked().len(), 4, "one attempt and three repairs");
    let safe = report.safe_face.unwrap();
    assert!(!safe.reason.is_empty());
    assert_eq!(safe.errors[0].line, Some(1));
    assert_eq!(report.shell, None);
    // The conversation is whole: the next words have an answer.
    let said = place.kernel.messages().await;
    assert_eq!(results(said.last().unwrap()).len(), 1);
}

#[tokio::test]
async fn fenced_components_that_fail_end_in_the_safe_face_too() {
    let fence = format!("```jsx\n{BROKEN}\n```");
    let steps = (0..9).map(|_| ScriptStep::text(&fence));
    let (place, brain) = Setting::page().script(steps);
    let report = place.boot().await;
    assert_eq!(brain.asked().len(), 4);
    assert!(!report.safe_face.unwrap().errors.is_empty());
}

#[tokio::test]
async fn a_shell_that_does_not_mount_is_a_failed_attempt() {
    let setting = Setting::page();
    setting.host.mounts.lock().unwrap().push_back(crash());
    let (place, brain) = setting.script([face("a"), face("b")]);
    let report = place.boot().await;
    assert_eq!(report.shell, Some(2));
    let (text, is_error) = results(&brain.asked()[1].messages[2]).remove(0);
    assert!(is_error && text.contains("x is not a function"), "{text}");
}

#[tokio::test]
async fn a_model_that_fails_leads_to_the_safe_face_with_a_plain_reason() {
    let failure = ScriptStep::Error(BrainError::Other("the key was refused".to_owned()));
    let (place, _) = Setting::page().script([failure, ScriptStep::text("Hi.")]);
    let report = place.boot().await;
    let safe = report.safe_face.unwrap();
    assert!(safe.reason.contains("the key was refused"));
    assert!(!safe.reason.contains('\n'));
    // Nothing is half stored, and the next turn works.
    assert!(place.kernel.messages().await.is_empty());
    assert_eq!(place.say("Hello?").await.text, "Hi.");
}

#[tokio::test]
async fn a_failure_after_a_round_keeps_the_round_whole() {
    let steps = [
        call("a", "block_list", json!({})),
        ScriptStep::Error(BrainError::Other("cut".to_owned())),
        ScriptStep::text("Hi."),
    ];
    let (place, brain) = Setting::page().script(steps);
    assert!(place.boot().await.safe_face.is_some());
    assert_eq!(place.kernel.messages().await.len(), 3);
    place.say("Hello?").await;
    let asked = &brain.asked()[2].messages;
    let roles: Vec<_> = asked.iter().map(|said| said.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
}

#[tokio::test]
async fn without_a_page_a_boot_ends_when_the_shell_compiles() {
    let mut setting = Setting::page();
    setting.config.data = None;
    let host = Arc::new(NoHost);
    let brain = Arc::new(hermitcrab_kernel::ScriptBrain::new([face("a")]));
    let kernel = hermitcrab_kernel::Kernel::builder(setting.store, brain.clone())
        .config(setting.config)
        .compiler(Arc::new(crate::stub::StubCompiler))
        .host(host)
        .clock(Arc::new(setting.clock))
        .open();
    let kernel = kernel.unwrap();
    let cancel = tokio_util::sync::CancellationToken::new();
    let report = kernel
        .boot(hermitcrab_kernel::EventSink::none(), cancel)
        .await
        .unwrap();
    assert_eq!(report.shell, Some(1));
    assert_eq!(brain.asked().len(), 1);
    let said = kernel.messages().await;
    let (text, _) = results(&said[2]).remove(0);
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(
        answer["mounted"].is_null() && answer["note"].is_string(),
        "{text}"
    );
}

#[tokio::test]
async fn a_terminal_wants_a_greeting_and_no_face() {
    let dir = tempfile::tempdir().unwrap();
    let (place, brain) = Setting::default()
        .in_dir(dir.path())
        .script([ScriptStep::text("Good evening.")]);
    let report = place.boot().await;
    assert_eq!(report.greeting, "Good evening.");
    assert_eq!((report.safe_face, report.shell), (None, None));
    let asked = brain.asked();
    assert_eq!(asked.len(), 1);
    let system: String = asked[0]
        .system
        .iter()
        .filter_map(llm_client::Block::as_text)
        .collect();
    assert!(system.contains("terminal"));

    let (place, brain) = Setting::default().after(&place, dir.path()).script([]);
    let report = place.boot().await;
    assert!(brain.asked().is_empty());
    assert!(!report.greeting.is_empty());
}

#[tokio::test]
async fn a_conversation_that_broke_off_is_mended() {
    let dir = tempfile::tempdir().unwrap();
    let steps = [call("a", "block_list", json!({})), ScriptStep::text("Six.")];
    let (place, _) = Setting::default().in_dir(dir.path()).script(steps);
    place.say("How many?").await;
    // The record ends after the call, as if the process had died.
    let file = dir.path().join("conversation.jsonl");
    let record = fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = record.lines().take(2).collect();
    fs::write(&file, lines.join("\n") + "\n").unwrap();

    let setting = Setting::default().after(&place, dir.path());
    let (place, brain) = setting.script([ScriptStep::text("Yes.")]);
    let report = place.boot().await;
    assert!(!report.notices.is_empty());
    place.say("Go on").await;
    let asked = &brain.asked()[0].messages;
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].text(), "How many?Go on");
    // Mended once.
    let (place, _) = Setting::default().after(&place, dir.path()).script([]);
    assert!(place.boot().await.notices.is_empty());
}

#[tokio::test]
async fn a_boot_that_goes_on_and_on_ends_after_twelve_rounds() {
    let steps = (0..20).map(|n| {
        let path = format!("0.{}", n % 9 + 1);
        let read = json!({"name": "skills", "path": path, "n": n});
        call(&format!("a{n}"), "block_read", read)
    });
    let (place, brain) = Setting::page().script(steps);
    let report = place.boot().await;
    assert_eq!(brain.asked().len(), 12);
    assert!(report.safe_face.unwrap().reason.contains("12"));
}
