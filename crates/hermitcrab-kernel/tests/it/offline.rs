//! The script that answers where no model does, driven by results of tools made by hand.

use hermitcrab_kernel::faces::ShellCompiler as _;
use hermitcrab_kernel::{Brain as _, BrainError, BrainRequest, EventSink, Face, OfflineBrain};
use llm_client::{
    Block, BlockKind, Message, Reply, ReplySource, Role, StopReason, ToolInput, ToolSpec,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::stub::StubCompiler;

const TOOLS: [&str; 10] = [
    "block_read",
    "block_write",
    "block_list",
    "block_create",
    "get_source",
    "recompile",
    "get_datetime",
    "set_tools",
    "block_append",
    "patch_source",
];

/// A conversation with the script.
struct Talk {
    face: Face,
    messages: Vec<Message>,
}

/// A call: id, name, arguments.
type Call = (String, String, Value);

impl Talk {
    fn new(words: &str) -> Self {
        Self {
            face: Face::Page,
            messages: vec![Message::user(words)],
        }
    }

    fn request(&self) -> BrainRequest {
        let tool = |name: &&str| ToolSpec::Function {
            name: (*name).to_owned(),
            description: String::new(),
            schema: json!({"type": "object"}),
            strict: None,
        };
        let mut request = BrainRequest::default();
        request.system = vec![Block::text("The face is a terminal or a page.")];
        request.face = self.face;
        request.tools = TOOLS.iter().map(tool).collect();
        request.messages.clone_from(&self.messages);
        request
    }

    async fn ask(&mut self) -> Reply {
        let request = self.request();
        // A new brain each time: it keeps nothing.
        let answer = OfflineBrain
            .complete(request.clone(), EventSink::none(), CancellationToken::new())
            .await
            .unwrap();
        let again = OfflineBrain
            .complete(request, EventSink::none(), CancellationToken::new())
            .await
            .unwrap();
        assert_eq!(answer, again);
        assert_eq!(
            answer.reply.source,
            ReplySource::Offline("offline".to_owned())
        );
        self.messages.push(answer.reply.to_message());
        answer.reply
    }

    /// The calls of the next reply.
    async fn calls(&mut self) -> Vec<Call> {
        let reply = self.ask().await;
        assert_eq!(reply.stop, StopReason::ToolUse, "{}", reply.text());
        let calls = reply.tool_uses().map(|block| match &block.kind {
            BlockKind::ToolUse {
                id,
                name,
                input: ToolInput::Json(raw),
            } => (id.clone(), name.clone(), raw.to().unwrap()),
            other => panic!("{other:?}"),
        });
        calls.collect()
    }

    /// The one call of the next reply: name and arguments.
    async fn call(&mut self) -> (String, Value) {
        let calls = self.calls().await;
        let [(_, name, input)] = calls.as_slice() else {
            panic!("{calls:?}");
        };
        (name.clone(), input.clone())
    }

    /// Answers every call of the last reply.
    fn answer(&mut self, results: &[(Value, bool)]) {
        let calls = self.messages.last().unwrap().content.iter();
        let ids = calls.filter_map(|block| match &block.kind {
            BlockKind::ToolUse { id, .. } => Some(id.clone()),
            _ => None,
        });
        let results = ids
            .zip(results)
            .map(|(id, (result, is_error))| Block::tool_result(id, result.to_string(), *is_error));
        let results = results.collect();
        self.messages.push(Message::new(Role::User, results));
    }

    fn good(&mut self, result: Value) {
        self.answer(&[(result, false)]);
    }

    fn bad(&mut self, result: Value) {
        self.answer(&[(result, true)]);
    }

    /// The words of the next reply, which ends the turn.
    async fn words(&mut self) -> String {
        let reply = self.ask().await;
        assert_eq!(reply.stop, StopReason::EndTurn);
        assert_eq!(reply.tool_uses().count(), 0);
        reply.text()
    }

    /// Boots as far as the first orientation.
    async fn oriented(memory: Value) -> Self {
        let mut talk = Self::new("BOOT");
        let calls = talk.calls().await;
        let asked: Vec<Value> = calls
            .into_iter()
            .map(|(_, name, input)| json!([name, input]))
            .collect();
        assert_eq!(
            json!(asked),
            json!([
                ["block_read", {"name": "constitution", "path": "0.6", "view": "subtree"}],
                ["block_read", {"name": "capabilities", "path": "0"}],
                ["block_list", {}],
                ["block_read", {"name": "memory", "path": "0"}],
            ])
        );
        talk.answer(&[
            (json!({"path": "0.6"}), false),
            (json!({"path": "0"}), false),
            (json!([{"name": "a"}, {"name": "b"}]), false),
            (memory, false),
        ]);
        talk
    }
}

#[tokio::test]
async fn boot_reads_writes_a_real_shell_and_greets_beside_it() {
    let mut talk = Talk::oriented(json!({"path": "0", "content": "memory of x"})).await;
    let reply = talk.ask().await;
    assert!(reply.text().contains("first meeting") && reply.text().contains("2 blocks"));
    let BlockKind::ToolUse { name, input, .. } = &reply.content[1].kind else {
        panic!("{reply:?}");
    };
    assert_eq!(name, "recompile");
    let ToolInput::Json(raw) = input else {
        panic!("{input:?}")
    };
    let jsx = raw.to::<Value>().unwrap()["jsx"]
        .as_str()
        .unwrap()
        .to_owned();
    let compiled = StubCompiler.compile(&jsx).unwrap();
    assert_eq!(compiled.component, "App");
    let lines = jsx.lines().count();
    assert!((120..=230).contains(&lines), "{lines}");
    for part in [
        "blockRead",
        "blockWrite",
        "blockList",
        "props.send",
        "props.usage",
        "#0a0a1a",
    ] {
        assert!(jsx.contains(part), "{part}");
    }
    for forbidden in ["import ", "fetch(", "localStorage", "className"] {
        assert!(!jsx.contains(forbidden), "{forbidden}");
    }
    talk.good(json!({"rev": 1, "component": "App", "mounted": true, "warnings": []}));
    assert_eq!(talk.words().await, "The face is up.");
}

#[tokio::test]
async fn boot_says_what_memory_holds_and_gives_up_a_shell_that_fails_twice() {
    let memory = json!({
        "path": "0", "content": "m",
        "children": {"0": "the nine before", "1": "a tide came, then went", "2": "Crabs moved: twice"},
    });
    let mut talk = Talk::oriented(memory).await;
    let reply = talk.ask().await;
    assert!(reply.text().contains("2 entries"), "{}", reply.text());
    assert!(
        reply.text().contains("the last one: Crabs moved"),
        "{}",
        reply.text()
    );
    let error = json!({"error": "syntax", "detail": "line 3, column 4: no", "hint": "close it"});
    talk.bad(error.clone());
    assert_eq!(talk.call().await.0, "recompile");
    talk.bad(error);
    assert_eq!(
        talk.words().await,
        "My face does not compile: syntax: line 3, column 4: no (close it)"
    );
}

#[tokio::test]
async fn a_terminal_gets_a_greeting_and_no_face() {
    let mut talk = Talk::oriented(json!({"error": "not_found"})).await;
    talk.face = Face::Terminal;
    assert!(talk.words().await.contains("offline script"));
}

#[tokio::test]
async fn commands_become_calls_and_results_become_words() {
    let cases = [
        (
            "list",
            "block_list",
            json!({}),
            json!([{"name": "memory", "nodes": 3, "head": "what was"}]),
            "memory (3 nodes): what was",
        ),
        (
            "read memory",
            "block_read",
            json!({"name": "memory", "path": "0"}),
            json!({"path": "0", "content": "what was", "children": {"1": "a", "2": null}}),
            "0 what was\n0.1 a\n0.2 (no text)",
        ),
        (
            "read memory 0.1",
            "block_read",
            json!({"name": "memory", "path": "0.1"}),
            json!({"path": "0.1", "content": "a"}),
            "0.1 a",
        ),
        (
            "write notes 0.2.1: buy: salt",
            "block_write",
            json!({"name": "notes", "path": "0.2.1", "content": "buy: salt"}),
            json!({"path": "0.2.1", "rev": 2}),
            "Written to notes 0.2.1.",
        ),
        (
            "create notes: what to buy",
            "block_create",
            json!({"name": "notes", "pscale0": "what to buy"}),
            json!({"name": "notes", "rev": 1}),
            "Block notes is made.",
        ),
        (
            "tools web self",
            "set_tools",
            json!({"names": ["web", "self"]}),
            json!({"active": ["web_fetch", "usage"], "tokens": 90}),
            "The tools of the next calls: active: web_fetch, usage; tokens: 90",
        ),
        (
            "time",
            "get_datetime",
            json!({}),
            json!({"now": "2026-11-22T15:00:00Z", "zone": "UTC"}),
            "now: 2026-11-22T15:00:00Z; zone: UTC",
        ),
    ];
    for (words, tool, input, result, said) in cases {
        let mut talk = Talk::new(words);
        assert_eq!(talk.call().await, (tool.to_owned(), input), "{words}");
        talk.good(result);
        assert_eq!(talk.words().await, said, "{words}");
        // An error is told, too.
        let mut talk = Talk::new(words);
        talk.call().await;
        talk.bad(json!({"error": "not_found", "detail": "no such block"}));
        assert_eq!(
            talk.words().await,
            "It did not work: not_found: no such block"
        );
    }
}

#[tokio::test]
async fn what_is_no_command_names_help_which_lists_the_commands() {
    for words in [
        "what is the tide?",
        "read",
        "write a: b",
        "colour red",
        "remember:",
        "list: x",
        "",
    ] {
        let said = Talk::new(words).words().await;
        assert_eq!(said, "That is not in my script; try `help`.", "{words}");
    }
    let said = Talk::new("help").words().await;
    assert!(said.starts_with("I am a script"), "{said}");
    for command in [
        "list", "read", "write", "create", "remember", "tools", "bigger", "colour", "break", "time",
    ] {
        assert!(said.contains(command), "{command}");
    }
}

#[tokio::test]
async fn remember_answers_a_request_for_a_summary() {
    let mut talk = Talk::new("remember: the tenth: a storm");
    let content = json!({"name": "memory", "content": "the tenth: a storm"});
    assert_eq!(talk.call().await, ("block_append".to_owned(), content));
    let entries: Vec<Value> = (1..=9)
        .map(|n| json!({"path": format!("0.{n}"), "pscale": -1, "text": format!("entry {n}, with more")}))
        .collect();
    talk.good(json!({"needs_summary": "0", "grows": true, "entries": entries}));
    let (name, input) = talk.call().await;
    assert_eq!(name, "block_append");
    assert_eq!(input["content"], "the tenth: a storm");
    assert_eq!(input["kind"], "summary");
    assert!(
        input["summary"]
            .as_str()
            .unwrap()
            .starts_with("entry 1; entry 2; ")
    );
    talk.good(json!({"name": "memory", "path": "0.2.1", "rev": 11}));
    assert_eq!(talk.words().await, "Remembered at 0.2.1.");
}

#[tokio::test]
async fn the_face_is_changed_by_a_patch_of_one_line() {
    let source = "const SIZE = 16;\nconst GROUND = '#0a0a1a';\nexport default function App() {}";
    for (words, old, new) in [
        ("bigger text", "const SIZE = 16;", "const SIZE = 18;"),
        (
            "colour #223344",
            "const GROUND = '#0a0a1a';",
            "const GROUND = '#223344';",
        ),
    ] {
        // As the text itself, or inside an object.
        for result in [json!(source), json!({"rev": 1, "source": source})] {
            let mut talk = Talk::new(words);
            assert_eq!(talk.call().await, ("get_source".to_owned(), json!({})));
            talk.good(result);
            let patch = json!({"old": old, "new": new});
            assert_eq!(talk.call().await, ("patch_source".to_owned(), patch));
            talk.good(json!({"rev": 2, "mounted": true}));
            assert_eq!(talk.words().await, "The face is changed.");
        }
    }
    let mut talk = Talk::new("bigger text");
    talk.call().await;
    talk.good(json!("function App() {}"));
    assert!(talk.words().await.contains("no line"));
}

#[tokio::test]
async fn break_sends_a_fault_reads_the_error_and_repairs_it() {
    let mut talk = Talk::new("break");
    let (name, faulty) = talk.call().await;
    assert_eq!(name, "recompile");
    let faulty = faulty["jsx"].as_str().unwrap().to_owned();
    assert!(faulty.contains("<main") && !faulty.contains("</main>"));
    talk.bad(json!({"error": "syntax", "detail": "line 185, column 5: expected </main>"}));
    let reply = talk.ask().await;
    assert!(
        reply.text().contains("line 185, column 5"),
        "{}",
        reply.text()
    );
    let repaired = reply.tool_uses().count();
    assert_eq!(repaired, 1);
    talk.good(json!({"rev": 2, "mounted": true}));
    assert_eq!(talk.words().await, "The face is repaired.");
}

#[tokio::test]
async fn a_second_command_starts_anew_and_ids_stay_distinct() {
    let mut talk = Talk::new("time");
    talk.call().await;
    talk.good(json!("now"));
    talk.words().await;
    talk.messages.push(Message::user("time"));
    let calls = talk.calls().await;
    assert_eq!(calls[0].0, "offline_2");

    // A result and the next words in one message.
    let mut talk = Talk::new("BOOT");
    talk.calls().await;
    let result = (json!({}), false);
    talk.answer(&[result.clone(), result.clone(), result.clone(), result]);
    let last = talk.messages.last_mut().unwrap();
    last.content.push(Block::text("list"));
    assert_eq!(talk.call().await.0, "block_list");
}

#[tokio::test]
async fn it_is_labelled_and_can_be_stopped() {
    let info = OfflineBrain.info();
    assert_eq!(info.provider, "offline");
    assert_eq!(info.offline.as_deref(), Some("script"));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let request = Talk::new("list").request();
    let outcome = OfflineBrain.complete(request, EventSink::none(), cancel);
    assert!(matches!(outcome.await, Err(BrainError::Cancelled)));
}
