//! Every request keeps the provider's rules, whatever the model answers and wherever the program ends.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use hermitcrab_kernel::{BrainError, BrainRequest, ScriptBrain, ScriptStep};
use llm_client::{Block, BlockKind, Message, Role, StopReason, ToolInput, ToolSpec};
use proptest::prelude::*;
use serde_json::json;

use crate::place::{BROKEN, Place, SHELL, Setting, call};

/// The problem of a request.
fn fault(request: &BrainRequest) -> Option<String> {
    let messages = &request.messages;
    if messages.first()?.role != Role::User {
        return Some("the first message is not the user's".to_owned());
    }
    for (at, message) in messages.iter().enumerate() {
        if at > 0 && messages[at - 1].role == message.role {
            return Some(format!("messages {} and {at} have one role", at - 1));
        }
        if message.role == Role::System {
            return Some(format!("message {at} is of the system"));
        }
        if message.content.is_empty() {
            return Some(format!("message {at} is empty"));
        }
        let blank = |block: &Block| block.as_text().is_some_and(|text| text.trim().is_empty());
        if message.content.iter().any(blank) {
            return Some(format!("message {at} has an empty text"));
        }
        let open: Vec<_> = at
            .checked_sub(1)
            .map(|at| ids(&messages[at]))
            .unwrap_or_default();
        let answers = answers(message);
        if message.role == Role::User && open != answers {
            return Some(format!(
                "message {at} answers {answers:?}, called were {open:?}"
            ));
        }
        // Results come before any text.
        let kinds = message
            .content
            .iter()
            .map(|block| matches!(block.kind, BlockKind::ToolResult { .. }));
        let kinds: Vec<_> = kinds.collect();
        if !kinds.is_sorted_by(|a, b| a >= b) {
            return Some(format!("message {at} has a text before a result"));
        }
    }
    let last = messages.last()?;
    if last.role == Role::Assistant && !ids(last).is_empty() {
        return Some("the last call has no result".to_owned());
    }
    let all: Vec<_> = messages.iter().flat_map(ids).collect();
    if all.iter().collect::<BTreeSet<_>>().len() != all.len() {
        return Some(format!("an id twice: {all:?}"));
    }
    let names: Vec<_> = request.tools.iter().filter_map(ToolSpec::name).collect();
    (names.iter().collect::<BTreeSet<_>>().len() != names.len())
        .then(|| format!("a tool twice: {names:?}"))
}

fn ids(message: &Message) -> Vec<String> {
    let ids = message
        .content
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::ToolUse { id, .. } => Some(id.clone()),
            _ => None,
        });
    ids.collect()
}

fn answers(message: &Message) -> Vec<String> {
    let ids = message
        .content
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::ToolResult { tool_use_id, .. } => Some(tool_use_id.clone()),
            _ => None,
        });
    ids.collect()
}

/// The problem of the record: a call whose result is not in the next message.
fn unpaired(said: &[Message]) -> Option<String> {
    (0..said.len()).find_map(|at| {
        let called = ids(&said[at]);
        let answered = said.get(at + 1).map(answers).unwrap_or_default();
        let open = !called.is_empty() && called != answered;
        open.then(|| format!("message {at} calls {called:?}, the next answers {answered:?}"))
    })
}

fn thought() -> Block {
    Block::new(BlockKind::Thinking {
        text: "hm".to_owned(),
        signature: Some("s".to_owned()),
    })
}

/// A piece of a reply, by number.
fn piece(kind: u8, id: u8) -> Block {
    // Few ids, so that some come twice; one is empty.
    let id = ["", "a", "b", "c"][usize::from(id % 4)];
    let tool = |name: &str, input| ScriptStep::tool_use(id, name, &input);
    match kind % 14 {
        0 | 1 => Block::text("Some words."),
        2 => Block::text(""),
        3 => Block::text(" \n "),
        4 => thought(),
        5 => tool("block_list", json!({})),
        6 => tool(
            "block_write",
            json!({"name": "memory", "path": "0.1", "content": "x".repeat(3_000)}),
        ),
        7 => tool("block_read", json!({"name": "keystone"})),
        8 => tool("recompile", json!({ "jsx": SHELL })),
        9 => tool("recompile", json!({ "jsx": BROKEN })),
        10 => tool("no_such_tool", json!([])),
        11 => Block::new(BlockKind::ToolUse {
            id: id.to_owned(),
            name: "block_read".to_owned(),
            input: ToolInput::Invalid("{".to_owned()),
        }),
        12 => tool("set_tools", json!({"names": ["web", "files"]})),
        _ => Block::text("```jsx\nfunction App() { return null; }\n```"),
    }
}

fn stop(kind: u8) -> StopReason {
    match kind % 8 {
        0 | 1 => StopReason::EndTurn,
        2 | 3 => StopReason::ToolUse,
        4 => StopReason::PauseTurn,
        5 => StopReason::MaxTokens,
        6 => StopReason::Refusal,
        _ => StopReason::Other("odd".to_owned()),
    }
}

type Reply = (Vec<(u8, u8)>, u8, u8);

fn step((pieces, reason, odd): &Reply) -> ScriptStep {
    match odd {
        0 => ScriptStep::Error(BrainError::Other("down".to_owned())),
        1 => ScriptStep::reply(vec![], StopReason::ContextWindow),
        _ => {
            let pieces = pieces.iter().map(|(kind, id)| piece(*kind, *id)).collect();
            ScriptStep::reply(pieces, stop(*reason))
        }
    }
}

fn check(brain: &ScriptBrain) -> Result<(), TestCaseError> {
    for (at, request) in brain.asked().iter().enumerate() {
        if let Some(fault) = fault(request) {
            return Err(TestCaseError::fail(format!(
                "request {at}: {fault}\n{:#?}",
                request.messages
            )));
        }
    }
    Ok(())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

proptest! {
    #[test]
    fn any_replies_make_valid_requests(
        replies in prop::collection::vec(
            (prop::collection::vec((any::<u8>(), any::<u8>()), 0..5), any::<u8>(), 0..12_u8),
            0..12,
        ),
        boots in any::<bool>(),
        page in any::<bool>(),
    ) {
        runtime().block_on(async {
            let setting = if page { Setting::page() } else { Setting::default() };
            let (place, brain) = setting.script(replies.iter().map(step));
            if boots {
                place.boot().await;
            }
            for n in 0..4 {
                // An error is no end: the next words come.
                let _ = place.try_say(&format!("Question {n}")).await;
            }
            prop_assert_eq!(unpaired(&place.kernel.messages().await), None);
            check(&brain)
        })?;
    }
}

/// The steps of a session in which everything is written.
fn session() -> Vec<ScriptStep> {
    let mut steps = vec![
        call("a", "block_list", json!({})),
        call("b", "recompile", json!({ "jsx": SHELL })),
    ];
    for n in 0..6 {
        let write = json!({"name": "memory", "path": format!("0.{}", n % 9 + 1), "content": "x"});
        steps.push(call(&format!("w{n}"), "block_write", write));
        steps.push(call(
            &format!("s{n}"),
            "set_tools",
            json!({"names": [if n % 2 == 0 { "web" } else { "files" }]}),
        ));
        steps.push(ScriptStep::text(&format!("Answer {n}.")));
    }
    steps
}

/// Runs the session until request number `last`, in which the program ends.
async fn until(dir: &Path, last: usize) -> Place {
    let mut steps = session();
    steps.truncate(last);
    steps.push(ScriptStep::Hang);
    let brain = Arc::new(ScriptBrain::new(steps));
    let place = Setting::page().in_dir(dir).open(brain.clone()).unwrap();
    {
        let work = async {
            place.boot().await;
            for n in 0..12 {
                let _ = place.try_say(&format!("Question {n}.")).await;
            }
        };
        let dies = async {
            while brain.asked().len() <= last {
                tokio::task::yield_now().await;
            }
        };
        // Whatever is under way is dropped where it stands.
        tokio::select! {
            biased;
            () = work => {}
            () = dies => {}
        }
    }
    place
}

#[tokio::test]
async fn the_program_may_end_in_any_request() {
    for last in 0..session().len() {
        let dir = tempfile::tempdir().unwrap();
        let place = until(dir.path(), last).await;
        goes_on(&place, dir.path(), &format!("request {last}")).await;
    }
}

/// A next start on what is there works, and its requests keep the rules.
async fn goes_on(place: &Place, dir: &Path, at: &str) {
    let brain = Arc::new(ScriptBrain::new([
        call("z", "recompile", json!({ "jsx": SHELL })),
        ScriptStep::text("Here."),
        ScriptStep::text("Here."),
    ]));
    let next = Setting::page()
        .after(place, dir)
        .open(brain.clone())
        .unwrap();
    let whole = at.starts_with("request");
    let record = next.kernel.messages().await;
    assert!(!whole || unpaired(&record).is_none(), "{at}");
    let report = next.boot().await;
    assert_eq!(report.safe_face, None, "{at}");
    assert!(report.shell.is_some(), "{at}");
    assert_eq!(next.say("Still there?").await.text, "Here.", "{at}");
    for request in brain.asked() {
        assert_eq!(fault(&request), None, "{at}");
    }
}

#[tokio::test]
async fn the_program_may_end_between_any_two_writes() {
    let dir = tempfile::tempdir().unwrap();
    let place = until(dir.path(), 12).await;
    let record = fs::read(dir.path().join("conversation.jsonl")).unwrap();
    let usage = fs::read(dir.path().join("usage.jsonl")).unwrap();
    // Every line, and a byte in the midst of it: a journal is cut, the other files are the old ones or the new ones.
    let ends = record
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n');
    for end in ends.map(|(at, _)| at + 1) {
        for cut in [end, end - 9] {
            // A file that comes later than the others.
            let later: &[_] = if cut == end && end == record.len() {
                &["", "state.json", "shells.json"]
            } else {
                &[""]
            };
            for without in later {
                let copy = tempfile::tempdir().unwrap();
                fs::create_dir(copy.path().join("shells")).unwrap();
                for file in ["state.json", "shells.json", "shells/1.jsx"] {
                    if file != *without {
                        fs::copy(dir.path().join(file), copy.path().join(file)).unwrap();
                    }
                }
                fs::write(copy.path().join("conversation.jsonl"), &record[..cut]).unwrap();
                fs::write(copy.path().join("usage.jsonl"), &usage[..usage.len() - 5]).unwrap();
                goes_on(
                    &place,
                    copy.path(),
                    &format!("byte {cut}, without {without}"),
                )
                .await;
            }
        }
    }
}
