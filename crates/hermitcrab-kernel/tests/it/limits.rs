//! Limits of a turn: rounds, equal calls, the stop button.

use std::sync::Arc;

use async_trait::async_trait;
use hermitcrab_kernel::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, EventSink, ScriptBrain, ScriptStep,
};
use llm_client::{Block, Role, StopReason};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::place::{Setting, call, results};

/// A script; with its request of number `at` the person presses stop.
struct StopIn {
    script: ScriptBrain,
    at: usize,
    cancel: CancellationToken,
}

#[async_trait]
impl Brain for StopIn {
    fn info(&self) -> BrainInfo {
        self.script.info()
    }

    async fn complete(
        &self,
        request: BrainRequest,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let reply = self.script.complete(request, events, cancel).await;
        if self.script.asked().len() == self.at {
            self.cancel.cancel();
        }
        reply
    }
}

fn read(n: usize) -> ScriptStep {
    let path = format!("0.{}", n % 7 + 1);
    let view = ["node", "spindle"][n / 7 % 2];
    let input = json!({"name": "capabilities", "path": path, "view": view});
    call(&format!("r{n}"), "block_read", input)
}

#[tokio::test]
async fn the_limit_of_rounds_ends_the_turn_whole_and_the_next_one_works() {
    let steps = (0..10).map(read).chain([ScriptStep::text("Here I am.")]);
    let (place, brain) = Setting::default().script(steps);
    let report = place.say("Read everything").await;
    assert_eq!((report.rounds, brain.asked().len()), (10, 10));
    let line = report.stopped.unwrap();
    assert!(line.contains("10 rounds") && !line.contains('\n'), "{line}");
    let said = place.kernel.messages().await;
    assert_eq!(said.len(), 21);
    for pair in said[1..].chunks(2) {
        assert_eq!(pair[0].role, Role::Assistant);
        assert_eq!(results(&pair[1]).len(), 1);
    }
    let report = place.say("Are you there?").await;
    assert_eq!((report.text.as_str(), report.rounds), ("Here I am.", 1));
    assert_eq!(report.stopped, None);
}

#[tokio::test]
async fn refusals_and_pauses_do_not_go_on_for_ever() {
    let mut setting = Setting::default();
    setting.config.settings.fallback_on_refusal = true;
    let refusal = || ScriptStep::reply(vec![], StopReason::Refusal);
    let (place, brain) = setting.script((0..40).map(|_| refusal()));
    assert!(place.say("Tell me").await.stopped.is_some());
    assert!(brain.asked().len() <= 10);

    let pause = || ScriptStep::reply(vec![Block::text("Searching")], StopReason::PauseTurn);
    let steps = (0..6).map(|_| pause()).chain([ScriptStep::text("Hello.")]);
    let (place, brain) = Setting::default().script(steps);
    let report = place.say("Search").await;
    assert!(report.stopped.unwrap().contains("5 pauses"));
    assert_eq!(brain.asked().len(), 6);
    // The same tools each time, and the content that came.
    let asked = brain.asked();
    assert_eq!(asked[0].tools, asked[5].tools);
    assert_eq!(asked[5].messages.len(), 2);
    assert_eq!(asked[5].messages[1].content.len(), 5);
    assert_eq!(place.say("Hello?").await.text, "Hello.");
}

#[tokio::test]
async fn an_equal_call_is_warned_of_at_three_and_ends_the_turn_at_five() {
    let same = |n: usize| call(&format!("s{n}"), "block_list", json!({}));
    let steps = (0..9).map(same);
    let (place, brain) = Setting::default().script(steps);
    let report = place.say("List").await;
    assert_eq!(brain.asked().len(), 5);
    assert!(report.stopped.unwrap().contains("5 times"));
    let said = place.kernel.messages().await;
    let outcomes: Vec<_> = said.iter().flat_map(results).collect();
    assert_eq!(outcomes.len(), 5);
    let errors: Vec<_> = outcomes.iter().map(|(_, is_error)| *is_error).collect();
    assert_eq!(errors, [false, false, true, true, true]);
    let warning: Value = serde_json::from_str(&outcomes[2].0).unwrap();
    assert_eq!(warning["error"], "repeated");
    assert!(warning["detail"].as_str().unwrap().contains('3'));
    assert!(warning["hint"].is_string());
}

#[tokio::test]
async fn equal_calls_in_one_reply_count_too_and_other_arguments_do_not() {
    let five: Vec<_> = (0..5)
        .map(|n| ScriptStep::tool_use(&format!("s{n}"), "block_list", &json!({})))
        .collect();
    let (place, _) = Setting::default().script([
        ScriptStep::reply(five, StopReason::ToolUse),
        ScriptStep::text("Yes."),
    ]);
    assert!(place.say("List").await.stopped.is_some());
    let said = place.kernel.messages().await;
    assert_eq!(results(&said[2]).len(), 5, "every call has its result");
    // A new turn counts from the start.
    assert_eq!(place.say("Again").await.text, "Yes.");

    let steps = (0..6).map(read).chain([ScriptStep::text("Read.")]);
    let (place, _) = Setting::default().script(steps);
    assert_eq!(place.say("Read").await.text, "Read.");
}

#[tokio::test]
async fn stop_while_tools_run_answers_the_rest_with_errors() {
    let cancel = CancellationToken::new();
    let calls = vec![
        ScriptStep::tool_use("a", "block_list", &json!({})),
        ScriptStep::tool_use("b", "get_datetime", &json!({})),
    ];
    let brain = Arc::new(StopIn {
        script: ScriptBrain::new([
            ScriptStep::reply(calls, StopReason::ToolUse),
            ScriptStep::text("Still here."),
        ]),
        at: 1,
        cancel: cancel.clone(),
    });
    let place = Setting::default().open(brain.clone()).unwrap();
    let turn = place.kernel.turn("Look".to_owned(), place.sink(), cancel);
    let report = turn.await.unwrap();
    assert_eq!(report.stopped.as_deref(), Some("stopped"));
    assert_eq!(brain.script.asked().len(), 1);
    let said = place.kernel.messages().await;
    assert_eq!(said.len(), 3);
    assert!(
        results(&said[2])
            .iter()
            .all(|(text, is_error)| *is_error && text.contains("stopped"))
    );
    assert_eq!(place.say("Hello?").await.text, "Still here.");
}

#[tokio::test]
async fn stop_while_the_page_is_asked_ends_the_tool() {
    use hermitcrab_kernel::Kernel;
    use hermitcrab_kernel::faces::{Host, HostCall, HostError, HostSkills, Mounted, Shell};

    /// The person is asked, and presses stop instead of answering.
    struct Asks(CancellationToken);

    #[async_trait]
    impl Host for Asks {
        fn offers(&self) -> HostSkills {
            HostSkills(["notify".to_owned()].into())
        }

        async fn ask(&self, _: HostCall) -> Result<Value, HostError> {
            self.0.cancel();
            std::future::pending().await
        }

        async fn show(&self, _: Shell, _: CancellationToken) -> Mounted {
            Mounted::Yes
        }
    }

    let cancel = CancellationToken::new();
    let setting = Setting::default();
    let brain = Arc::new(ScriptBrain::new([
        call("a", "set_tools", json!({"names": ["notify"]})),
        call("b", "notify", json!({"title": "t", "body": "b"})),
    ]));
    let kernel = Kernel::builder(setting.store, brain)
        .config(setting.config)
        .compiler(Arc::new(crate::stub::StubCompiler))
        .host(Arc::new(Asks(cancel.clone())))
        .clock(Arc::new(setting.clock))
        .open();
    let kernel = kernel.unwrap();
    let report = kernel
        .turn("Tell me".to_owned(), EventSink::none(), cancel)
        .await
        .unwrap();
    assert_eq!(report.stopped.as_deref(), Some("stopped"));
    let said = kernel.messages().await;
    assert!(results(said.last().unwrap())[0].1);
}

#[tokio::test]
async fn stop_before_any_answer_leaves_the_conversation_as_it_was() {
    let (place, brain) = Setting::default().script([ScriptStep::Hang, ScriptStep::text("Yes?")]);
    let cancel = CancellationToken::new();
    let turn = place
        .kernel
        .turn("Think".to_owned(), place.sink(), cancel.clone());
    let stop = async { cancel.cancel() };
    let (report, ()) = tokio::join!(turn, stop);
    assert_eq!(report.unwrap().stopped.as_deref(), Some("stopped"));
    assert!(place.kernel.messages().await.is_empty());
    assert_eq!(place.say("Hello").await.text, "Yes?");
    assert_eq!(brain.asked()[1].messages.len(), 1);
}

#[tokio::test]
async fn words_from_before_the_tools_stay_and_what_was_done_follows() {
    let look = ScriptStep::reply(
        vec![
            Block::text("Let me look."),
            ScriptStep::tool_use("a", "block_list", &json!({})),
        ],
        StopReason::ToolUse,
    );
    let silent = || ScriptStep::reply(vec![], StopReason::EndTurn);
    let (place, _) = Setting::default().script([look, silent(), silent()]);
    let said = place.say("Look").await.text;
    assert_eq!(said, "Let me look.\n\ndone: block_list");
}

#[tokio::test]
async fn two_turns_at_once_come_one_after_the_other() {
    let steps = [
        call("a", "block_list", json!({})),
        ScriptStep::text("One."),
        ScriptStep::text("Two."),
    ];
    let (place, brain) = Setting::default().script(steps);
    let (first, second) = tokio::join!(place.say("First"), place.say("Second"));
    assert_eq!(
        (first.text.as_str(), second.text.as_str()),
        ("One.", "Two.")
    );
    let asked = brain.asked();
    assert_eq!(asked[1].messages.len(), 3);
    assert_eq!(asked[2].messages.len(), 5);
    assert_eq!(asked[2].messages[4].text(), "Second");
}

#[tokio::test]
async fn a_turn_that_is_too_large_for_the_window_is_not_forgotten_by_the_next_one() {
    let read = |n: usize| {
        let path = format!("0.{n}");
        ScriptStep::tools(&[("t", "block_read", json!({"name": "skills", "path": path}))])
    };
    let mut steps: Vec<_> = (1..=10).map(read).collect();
    steps.push(ScriptStep::text("I go on."));
    let (place, brain) = Setting::default().script(steps);
    let report = place.say("Read every skill to me").await;
    assert!(report.stopped.unwrap().contains("to continue"));
    place.say("go on").await;
    let asked = brain.asked();
    let shown: String = asked[10]
        .messages
        .iter()
        .map(llm_client::Message::text)
        .collect();
    assert!(shown.contains("Read every skill to me"), "{shown}");
    assert!(shown.contains("tools: block_read"), "{shown}");
    assert!(shown.ends_with("go on"), "{shown}");
}

#[tokio::test]
async fn a_reply_of_blanks_and_one_of_line_ends_harm_no_later_turn() {
    let blanks = format!("x{}.", " ".repeat(1_000_000));
    let ends = format!("x{}.", "\n".repeat(50_000));
    let steps = [&blanks, &ends, "Well."].map(ScriptStep::text);
    let (place, _) = Setting::default().script(steps);
    place.say("One").await;
    place.say("Two").await;
    assert_eq!(place.say("Three").await.text, "Well.");
}

/// Covers row H30.
#[tokio::test]
async fn arguments_that_are_too_long_are_not_run() {
    const MOST: usize = (4 << 20) + (64 << 10);
    let call = |id: &str, length: usize| {
        let input = json!({"name": "skills", "path": "0.9", "content": ""});
        let content = "x".repeat(length - input.to_string().len());
        let input = json!({"name": "skills", "path": "0.9", "content": content});
        assert_eq!(input.to_string().len(), length);
        ScriptStep::tool_use(id, "block_write", &input)
    };
    let calls = vec![call("a", MOST + 1), call("b", MOST)];
    let step = ScriptStep::reply(calls, StopReason::ToolUse);
    let mut setting = Setting::default();
    setting.config.settings.budgets.input_tokens = 10_000_000;
    let (place, brain) = setting.script([step, ScriptStep::text("Too long.")]);
    place.say("Write all of it").await;
    let answers = results(&brain.asked()[1].messages[2]);
    let detail = format!("the arguments have {} bytes, more than {MOST}", MOST + 1);
    assert!(answers[0].0.contains("too_large") && answers[0].0.contains(&detail));
    // That one is run, and is too long for a node.
    assert!(answers[1].0.contains("too_large") && !answers[1].0.contains("arguments"));
    assert_eq!(place.text("skills", "0.9"), None);
}
