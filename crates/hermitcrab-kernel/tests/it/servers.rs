//! Tools of other programs, with sources that the test plays.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hermitcrab_kernel::toolbox::{OfferedTools, ServerTool, ToolSource};
use hermitcrab_kernel::{
    ErrorKind, Event, EventSink, Kernel, KernelConfig, ScriptBrain, ScriptStep, ToolError,
};
use llm_client::ToolSpec;
use pscale_blocks::store::{Origin, Origins};
use pscale_blocks::{EditAuthor, MemStore};
use serde_json::{Value, json};
use test_support::Signal;
use tokio_util::sync::CancellationToken;

use crate::place::{call, results};

/// A source with one tool, and what happened to it.
#[derive(Default)]
struct PlayedSource {
    tools: Vec<ServerTool>,
    fails: bool,
    /// The call never ends.
    silent: Option<Signal>,
    /// The tool is not allowed any more.
    off: AtomicBool,
    asked: AtomicU32,
    called: Mutex<Vec<(String, Value)>>,
    ended: AtomicBool,
}

impl PlayedSource {
    fn with(names: &[&str]) -> Self {
        let schema = json!({"type": "object", "properties": {"items": {"type": "array"}}});
        let tool = |name: &&str| ServerTool::new(*name, "Finds.", schema.clone());
        Self {
            tools: names.iter().map(tool).collect(),
            ..Self::default()
        }
    }
}

#[async_trait]
impl ToolSource for PlayedSource {
    async fn tools(&self) -> Result<OfferedTools, ToolError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.fails {
            return Err(ToolError::new(ErrorKind::ServerFailed, "notes: it ended"));
        }
        Ok(OfferedTools {
            tools: self.tools.clone(),
            notices: vec!["other is off".to_owned()],
        })
    }

    async fn call(
        &self,
        tool: &str,
        args: Value,
        _: &CancellationToken,
    ) -> Result<String, ToolError> {
        if let Some(reached) = &self.silent {
            reached.fire();
            std::future::pending::<()>().await;
        }
        if self.off.load(Ordering::SeqCst) {
            return Err(ToolError::new(ErrorKind::Inactive, "find is off"));
        }
        self.called.lock().unwrap().push((tool.to_owned(), args));
        Ok("found".to_owned())
    }

    fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }
}

/// A kernel with the server `notes`.
struct Setup {
    kernel: Kernel,
    source: Arc<PlayedSource>,
    brain: Arc<ScriptBrain>,
    notices: Arc<Mutex<Vec<String>>>,
}

impl Setup {
    fn new(source: PlayedSource, steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let (source, brain) = (Arc::new(source), Arc::new(ScriptBrain::new(steps)));
        let mut config = KernelConfig::default();
        config.face = hermitcrab_kernel::Face::Terminal;
        let kernel = Kernel::builder(Arc::new(MemStore::new()), brain.clone())
            .config(config)
            .server("notes".parse().unwrap(), source.clone())
            .open()
            .unwrap();
        Self {
            kernel,
            source,
            brain,
            notices: Arc::default(),
        }
    }

    fn sink(&self) -> EventSink {
        let notices = self.notices.clone();
        EventSink::new(move |event| {
            if let Event::Notice { text } = event {
                notices.lock().unwrap().push(text);
            }
        })
    }

    async fn say(&self, cancel: CancellationToken) {
        let turn = self.kernel.turn("look".to_owned(), self.sink(), cancel);
        turn.await.unwrap();
    }

    /// The tools of a request.
    fn tools(&self, request: usize) -> Vec<String> {
        let asked = self.brain.asked();
        let names = asked[request].tools.iter().filter_map(ToolSpec::name);
        names.map(str::to_owned).collect()
    }

    /// The messages on record that have texts of the server, by their place.
    fn of_server(&self) -> Vec<usize> {
        let name = "notes".to_owned();
        let server = Origins::from(Origin::Server { name });
        let record = self.kernel.record().unwrap();
        let of_server = record
            .iter()
            .enumerate()
            .filter(|(_, said)| said.from == server);
        of_server.map(|(place, _)| place).collect()
    }

    /// The result of the calls in the last message of a request.
    fn result(&self, request: usize) -> (String, bool) {
        let asked = self.brain.asked();
        results(asked[request].messages.last().unwrap()).remove(0)
    }
}

fn choose(id: &str, names: &[&str]) -> ScriptStep {
    call(id, "set_tools", json!({ "names": names }))
}

#[tokio::test]
async fn tools_of_a_server_are_chosen_by_group_or_name_and_called_as_they_are() {
    let input = json!({"items": [{"deep": [1, 2]}], "more": true});
    let steps = [
        choose("a", &["notes"]),
        choose("b", &["mcp:notes"]),
        choose("c", &["web", "notes__find"]),
        call("d", "notes__find", input.clone()),
        ScriptStep::text("done"),
    ];
    let setup = Setup::new(PlayedSource::with(&["find", "list all"]), steps);
    setup.say(CancellationToken::new()).await;
    assert_eq!(setup.tools(0).len(), 10);
    let (text, is_error) = setup.result(1);
    assert!(is_error && text.contains("mcp:notes"), "{text}");
    assert_eq!(setup.tools(2)[3..], ["notes__find", "notes__list_all"]);
    assert_eq!(setup.tools(3)[6..], ["notes__find"]);
    assert_eq!(setup.result(4), ("found".to_owned(), false));
    let called = setup.source.called.lock().unwrap().clone();
    assert_eq!(called, [("find".to_owned(), input)]);
    // The answers of `set_tools` with its names, those to requests with tools of the server, and the result of its tool.
    assert_eq!(setup.of_server(), [4, 5, 6, 7, 8, 9]);
    // A line for the person is shown once.
    assert_eq!(*setup.notices.lock().unwrap(), ["other is off"]);
    assert!(!setup.source.ended.load(Ordering::SeqCst));
    setup.kernel.settle().await.unwrap();
    assert!(setup.source.ended.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_server_is_not_asked_before_its_tools_are_chosen() {
    let setup = Setup::new(PlayedSource::with(&["find"]), [ScriptStep::text("done")]);
    setup.say(CancellationToken::new()).await;
    assert_eq!(setup.source.asked.load(Ordering::SeqCst), 0);
    let asked = setup.brain.asked();
    let sent = serde_json::to_string(&asked[0].tools).unwrap();
    assert!(sent.contains("Other programs: mcp:notes."), "{sent}");
    assert!(!sent.contains("notes__find"), "{sent}");
}

#[tokio::test]
async fn a_server_that_fails_is_an_error_of_the_choice() {
    let source = PlayedSource {
        fails: true,
        ..PlayedSource::with(&["find"])
    };
    let steps = [choose("a", &["mcp:notes"]), ScriptStep::text("done")];
    let setup = Setup::new(source, steps);
    setup.say(CancellationToken::new()).await;
    let (text, is_error) = setup.result(1);
    assert!(is_error && text.contains("server_failed"), "{text}");
    assert_eq!(setup.tools(1).len(), 10);
    assert_eq!(setup.of_server(), [2, 3]);
}

#[tokio::test]
async fn a_tool_that_is_off_is_not_offered_again_and_the_person_reads_why() {
    let steps = [
        choose("a", &["mcp:notes"]),
        call("b", "notes__find", json!({})),
        ScriptStep::text("done"),
    ];
    let source = PlayedSource::with(&["find"]);
    source.off.store(true, Ordering::SeqCst);
    let setup = Setup::new(source, steps);
    setup.say(CancellationToken::new()).await;
    assert!(setup.tools(1).contains(&"notes__find".to_owned()));
    let (text, is_error) = setup.result(2);
    assert!(is_error && text.contains("inactive"), "{text}");
    assert!(!setup.tools(2).contains(&"notes__find".to_owned()));
    let notices = setup.notices.lock().unwrap().clone();
    assert_eq!(notices, ["other is off", "find is off"]);
}

#[tokio::test]
async fn the_person_stops_a_call_without_an_answer() {
    let reached = Signal::new();
    let source = PlayedSource {
        silent: Some(reached.clone()),
        ..PlayedSource::with(&["find"])
    };
    let steps = [
        choose("a", &["mcp:notes"]),
        call("b", "notes__find", json!({})),
    ];
    let setup = Setup::new(source, steps);
    let cancel = CancellationToken::new();
    let stop = async {
        reached.wait().await;
        cancel.cancel();
    };
    tokio::join!(setup.say(cancel.clone()), stop);
}

#[tokio::test]
async fn a_face_names_tools_of_a_server() {
    let steps = [
        call("a", "notes__find", json!({})),
        ScriptStep::text("done"),
    ];
    let setup = Setup::new(PlayedSource::with(&["find"]), steps);
    let params = json!({
        "messages": [{"role": "user", "content": "look"}],
        "tools": ["mcp:notes"],
    });
    let by = EditAuthor::Model {
        id: "face 1".to_owned(),
        web: None,
    };
    let cancel = CancellationToken::new();
    let outcome = (setup.kernel)
        .call_with_tools(params, by, setup.sink(), cancel)
        .await;
    assert!(!outcome.is_error, "{:?}", outcome.content);
    assert_eq!(setup.tools(0), ["notes__find"]);
    assert_eq!(setup.result(1), ("found".to_owned(), false));
}

#[tokio::test]
async fn a_face_alone_starts_no_server_and_calls_none_of_its_tools() {
    let steps = [
        choose("a", &["mcp:notes"]),
        ScriptStep::text("chosen"),
        call("b", "notes__find", json!({})),
        ScriptStep::text("done"),
    ];
    let setup = Setup::new(PlayedSource::with(&["find"]), steps);
    let ask = async || {
        let params = json!({
            "messages": [{"role": "user", "content": "look"}],
            "tools": ["mcp:notes"],
        });
        let by = EditAuthor::Model {
            id: "face 1".to_owned(),
            web: None,
        };
        let kernel = setup.kernel.unprompted();
        let asked = kernel.call_with_tools(params, by, setup.sink(), CancellationToken::new());
        asked.await
    };
    let refused = ask().await;
    assert!(refused.is_error, "{:?}", refused.content);
    assert_eq!(setup.source.asked.load(Ordering::SeqCst), 0);
    // Nor does it help that the model has listed them meanwhile.
    setup.say(CancellationToken::new()).await;
    let answered = ask().await;
    assert!(!answered.is_error, "{:?}", answered.content);
    let (text, is_error) = setup.result(3);
    assert!(is_error && text.contains("denied"), "{text}");
    assert!(setup.source.called.lock().unwrap().is_empty());
}
