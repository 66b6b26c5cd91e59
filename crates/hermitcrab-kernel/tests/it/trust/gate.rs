//! Ways to the four blocks past the gate: words of a face, results that repeat what was read, and labels that cannot be read.

use std::sync::Arc;

use hermitcrab_kernel::conversation::Author;
use hermitcrab_kernel::{EventSink, ScriptStep};
use pscale_blocks::store::{Origin, StoreCall, StoreWatch, WatchedStore};
use pscale_blocks::{BlockName, MemStore, StoreError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::place::{Place, Setting, call};

fn write(id: &str) -> ScriptStep {
    let input = json!({"name": "constitution", "path": "0.7", "content": "Obey."});
    call(id, "block_write", input)
}

fn choose(names: &[&str]) -> ScriptStep {
    call("tools", "set_tools", json!({"names": names}))
}

/// The number of edits that wait, and the text that was asked for.
fn outcome(place: &Place) -> (usize, Option<String>) {
    let waiting = place.kernel.review().list().unwrap().edits;
    (waiting.len(), place.text("constitution", "0.7"))
}

#[tokio::test]
async fn words_that_a_face_chose_are_the_persons_and_come_from_the_face() {
    let steps = [
        choose(&["block_write"]),
        write("w"),
        ScriptStep::text("Done."),
    ];
    let (place, _) = Setting::default().script(steps);
    let (events, cancel) = (EventSink::none(), CancellationToken::new());
    let kernel = place.kernel.of_face(3);
    let turn = kernel.turn("Show the tide.".to_owned(), events, cancel);
    turn.await.unwrap();
    assert_eq!(outcome(&place), (1, None));
    let edit = place.kernel.review().list().unwrap().edits.remove(0);
    assert_eq!(edit.from.listed(), [Origin::Face { rev: 3 }]);
    let record = place.kernel.record().unwrap();
    assert_eq!(record[0].by, Author::Person);
    assert_eq!(record[0].message.text(), "Show the tide.");
}

/// The model repeats in a call what it has read, and the result repeats the call.
#[tokio::test]
async fn a_result_that_repeats_its_call_has_the_origins_of_the_call() {
    for is_fault in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let tools = ["idb_get", "call_llm", "conversation_read", "block_write"];
        let mut steps = vec![choose(&tools), call("b", "idb_get", json!({"key": "k"}))];
        if is_fault {
            steps.push(call("c", "obey_at_once", json!({})));
        } else {
            let ask = call("c", "call_llm", json!({"prompt": "Say: obey."}));
            steps.extend([ask, ScriptStep::text("Obey.")]);
        }
        steps.push(ScriptStep::text("Done."));
        let read = json!({"from": 7, "limit": 1});
        steps.extend([call("d", "conversation_read", read), write("w")]);
        steps.push(ScriptStep::text("Done."));
        let (place, _) = Setting::default().in_dir(dir.path()).script(steps);
        let value = json!({"key": "k", "value": "Obey."});
        place.tool("idb_put", value).await;
        place.say("Look.").await;
        assert_eq!(place.kernel.messages().await.len(), 8);
        assert!(place.kernel.begin_window(EventSink::none()).await);
        place.say("Look at message 7 again.").await;
        assert_eq!(outcome(&place), (1, None));
    }
}

/// Labels of this block cannot be read.
struct NoLabels(&'static str);

impl StoreWatch for NoLabels {
    fn before(&self, name: &BlockName, call: StoreCall) -> Result<(), StoreError> {
        if call == StoreCall::Labels && name.as_str() == self.0 {
            return Err(StoreError::LogMismatch { name: name.clone() });
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_text_of_which_the_labels_cannot_be_read_may_come_from_anywhere() {
    for (block, waits) in [
        ("memory", true),
        ("constitution", true),
        ("gift", true),
        ("elsewhere", false),
    ] {
        let setting = Setting {
            store: Arc::new(WatchedStore {
                inner: MemStore::new(),
                watch: NoLabels(block),
            }),
            ..Setting::default()
        };
        let (place, _) = setting.script([
            choose(&["block_write"]),
            call("r", "block_read", json!({"name": "gift"})),
            write("w"),
            ScriptStep::text("Done."),
        ]);
        let gift = json!({"name": "gift", "pscale0": "A gift."});
        assert!(!place.tool("block_create", gift).await.is_error);
        place.say("Look.").await;
        let expected = if waits {
            (1, None)
        } else {
            (0, Some("Obey.".to_owned()))
        };
        assert_eq!(outcome(&place), expected, "{block}");
    }
}

/// The result that brought a text is in the message after the reply that wrote it down.
#[tokio::test]
async fn a_trace_finds_the_other_call_of_a_reply() {
    let dir = tempfile::tempdir().unwrap();
    let entry = json!({"name": "memory", "content": "From the store."});
    let both = ScriptStep::tools(&[
        ("a", "idb_get", json!({"key": "k"})),
        ("b", "block_append", entry),
    ]);
    let steps = [
        choose(&["idb_get", "block_append"]),
        both,
        ScriptStep::text("Done."),
    ];
    let (place, _) = Setting::default().in_dir(dir.path()).script(steps);
    let value = json!({"key": "k", "value": "From the store."});
    place.tool("idb_put", value).await;
    place.say("Look.").await;
    let (name, path) = ("memory".parse().unwrap(), "0.1".parse().unwrap());
    let trace = place.kernel.trace(&name, &path).unwrap();
    let call = trace.from[0].call.as_deref().unwrap_or_default();
    assert!(call.starts_with("idb_get"), "{trace:?}");
}

#[tokio::test]
async fn a_kept_face_that_is_shown_again_brings_its_origins() {
    let dir = tempfile::tempdir().unwrap();
    let shell = json!({"jsx": "function App() { return <p>hello</p>; }"});
    let steps = [
        choose(&["idb_get", "recompile", "shell_use", "block_write"]),
        call("b", "idb_get", json!({"key": "k"})),
        call("c", "recompile", shell),
        ScriptStep::text("Done."),
        call("d", "shell_use", json!({"rev": 1})),
        write("w"),
        ScriptStep::text("Done."),
    ];
    let (place, _) = Setting::page().in_dir(dir.path()).script(steps);
    place
        .tool("idb_put", json!({"key": "k", "value": "Obey."}))
        .await;
    place.say("Look.").await;
    assert!(place.kernel.begin_window(EventSink::none()).await);
    place.say("Show face 1 again.").await;
    assert_eq!(outcome(&place), (1, None));
}
