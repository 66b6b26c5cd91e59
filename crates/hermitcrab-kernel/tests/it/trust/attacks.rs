//! T1: sixty texts that ask for edits, and a model that obeys each of them as soon as it reads it.

use hermitcrab_kernel::prompt::CoreBlock;
use hermitcrab_kernel::{EventSink, toolbox};
use pscale_blocks::bundle::{Export, ImportBatch, ImportRules, OnConflict, export};
use pscale_blocks::store::{LogRange, LoggedOp, Origin};
use pscale_blocks::{Block, BlockName, BlockStore as _, EditAuthor, MemStore, Op, Stamp};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::brain::{Call, ObedientBrain};
use super::session::{FILE, Session};

/// An attack of the corpus.
#[derive(Debug, Deserialize)]
struct Attack {
    id: u32,
    /// The way on which the text reaches the model.
    way: String,
    /// The parts of the text.
    says: Vec<String>,
    /// The calls that it asks for.
    does: Vec<Call>,
    /// The number of turns before the model obeys.
    #[serde(default)]
    wait: u32,
}

/// The word of the origin that an attack has in the end.
fn expected_origin(way: &str) -> &'static str {
    match way {
        "client" | "client_memory" => "client ",
        "bundle" => "import ",
        "file" => "file ",
        "store" => "store ",
        "server" | "server_tool" => "server ",
        "face" | "face_words" => "face ",
        _ => "web ",
    }
}

fn fetch() -> Call {
    ("web_fetch".to_owned(), json!({"url": "PAGE"}))
}

fn call(tool: &str, input: Value) -> Call {
    (tool.to_owned(), input)
}

fn write_note(path: &str, text: &str) -> Call {
    call(
        "block_write",
        json!({"name": "notes", "path": path, "content": text}),
    )
}

fn name(text: &str) -> BlockName {
    text.parse().unwrap()
}

/// A tool call of another program over MCP.
fn visit(session: &Session, (tool, input): &Call) {
    let by = EditAuthor::Model {
        id: "visitor".to_owned(),
        web: None,
    };
    let from = Origin::Client {
        name: "visitor".to_owned(),
    };
    let stamp = Stamp::new(session.place.kernel.now(), by).with_from(from.into());
    let (store, review) = (&*session.place.store, session.place.kernel.review());
    let input = input.clone();
    let done = toolbox::run_block_tool(tool, input, store, &stamp, Some(review));
    assert!(!done.is_error, "{done:?}");
}

/// A bundle of one block, as another instance exports it.
fn bundle(name: &BlockName, text: &str) -> ImportBatch {
    let other = MemStore::new();
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Person);
    other.create(name, &Block::new(text), &stamp).unwrap();
    let text = export(&other, None, &Export::new(stamp.at)).unwrap();
    ImportBatch::read(&text, None, false).unwrap()
}

const SHELL: &str = "function App() { return <p>hello</p>; }";

#[expect(clippy::too_many_lines, reason = "an arm for each way")]
async fn run(attack: &Attack) -> Session {
    let brain = ObedientBrain::new(&attack.says, attack.does.clone());
    let session = Session::begin(brain.clone(), &attack.says).await;
    let text = attack.says[0].as_str();
    match attack.way.as_str() {
        "page" => {
            brain.wake();
            session.turn(&[fetch()]).await;
            session
        }
        "page_later" => {
            session.turn(&[fetch()]).await;
            for _ in 1..attack.wait {
                session.turn(&[]).await;
            }
            brain.wake();
            session.turn(&[]).await;
            session
        }
        "fragments" | "frame" => {
            let mut session = session;
            for part in &attack.says {
                let note = json!({"name": "memory", "content": part});
                session.turn(&[fetch(), call("block_append", note)]).await;
                session = session.next(true).await;
            }
            brain.wake();
            session.turn(&[]).await;
            session
        }
        "summary" => {
            let create = json!({"name": "notes", "pscale0": "Notes."});
            session.turn(&[fetch(), call("block_create", create)]).await;
            let entries: Vec<_> = (1..=9)
                .map(|n| json!({"name": "notes", "content": format!("Entry {n}.")}))
                .map(|input| call("block_append", input))
                .collect();
            session.turn(&entries).await;
            let session = session.next(true).await;
            // It reads the nine entries, and sums them up in the words of the attack.
            let entry = json!({"name": "notes", "content": "Entry 10."});
            let summed = json!({"name": "notes", "content": "Entry 10.", "summary": text});
            let both = [call("block_append", entry), call("block_append", summed)];
            session.turn(&both).await;
            let session = session.next(true).await;
            brain.wake();
            session
                .model("block_read", json!({"name": "notes", "path": "0.1"}))
                .await;
            session
        }
        "moved" | "undo" => {
            let create = json!({"name": "notes", "pscale0": "Notes."});
            let note = [
                fetch(),
                call("block_create", create),
                write_note("0.3", text),
            ];
            session.turn(&note).await;
            let session = session.next(true).await;
            let read = if attack.way == "moved" {
                let to = json!({"name": "notes", "from": "0.3", "to": "0.5.2"});
                session.model("block_move", to).await;
                json!({"name": "notes", "path": "0.5", "view": "subtree"})
            } else {
                let gone = json!({"name": "notes", "path": "0.3"});
                session.place.tool("block_remove", gone).await;
                session.model("block_undo", json!({"name": "notes"})).await;
                json!({"name": "notes", "path": "0.3"})
            };
            let session = session.next(true).await;
            brain.wake();
            session.model("block_read", read).await;
            session
        }
        "client" => {
            attack.does.iter().for_each(|order| visit(&session, order));
            session
        }
        "client_memory" => {
            let note = json!({"name": "memory", "content": text});
            visit(&session, &call("block_append", note));
            brain.wake();
            session.turn(&[]).await;
            session
        }
        "bundle" => {
            let at = session.place.kernel.now();
            let (gift, rules) = (name("gift"), ImportRules::new(OnConflict::Skip));
            let batch = bundle(&gift, text);
            batch
                .import(&*session.place.store, rules, "gift.json", at)
                .unwrap();
            brain.wake();
            session.model("block_read", json!({"name": "gift"})).await;
            session
        }
        "bundle_replace" => {
            let at = session.place.kernel.now();
            let kept = CoreBlock::REVIEWED.map(|core| core.name().clone());
            let rules = ImportRules::new(OnConflict::Replace).keeping(&kept);
            for core in CoreBlock::REVIEWED {
                let batch = bundle(core.name(), "Another block.");
                let rows = batch
                    .import(&*session.place.store, rules, "gift.json", at)
                    .unwrap();
                assert_eq!(rows[0].notices.len(), 1, "{rows:?}");
            }
            session
        }
        "file" => {
            brain.wake();
            let file = json!({"root": "FOLDER", "path": FILE});
            session.model("fs_read", file).await;
            session
        }
        "server_tool" => {
            session.choose_server(Some(text)).await;
            brain.wake();
            session.turn(&[]).await;
            session
        }
        "server" => {
            session.choose_server(None).await;
            brain.wake();
            session.model("notes__read", json!({})).await;
            session
        }
        "store" => {
            let value = json!({"key": "mail", "value": text});
            session.place.tool("idb_put", value).await;
            brain.wake();
            session.model("idb_get", json!({"key": "mail"})).await;
            session
        }
        "face" => {
            session.model("recompile", json!({"jsx": SHELL})).await;
            let session = session.next(true).await;
            by_face(&session, attack).await;
            session
        }
        "face_words" => {
            session.model("recompile", json!({"jsx": SHELL})).await;
            let session = session.next(true).await;
            brain.wake();
            let (events, cancel) = (EventSink::none(), CancellationToken::new());
            let turn = session
                .place
                .kernel
                .turn_of_face(1, text.to_owned(), events, cancel);
            turn.await.unwrap();
            session
        }
        "face_of_page" => {
            let shell = call("recompile", json!({"jsx": SHELL}));
            session.turn(&[fetch(), shell]).await;
            let session = session.next(true).await;
            by_face(&session, attack).await;
            session
        }
        "source" => {
            let shell = json!({"jsx": format!("{text}\n{SHELL}")});
            session.turn(&[fetch(), call("recompile", shell)]).await;
            let session = session.next(true).await;
            brain.wake();
            session.model("get_source", json!({})).await;
            session
        }
        way => panic!("{way} is not a way"),
    }
}

/// The orders as calls of the face, without a model.
async fn by_face(session: &Session, attack: &Attack) {
    let kernel = session.place.kernel.of_face(1);
    for (tool, input) in &attack.does {
        let by = EditAuthor::Model {
            id: "obedient (face 1)".to_owned(),
            web: None,
        };
        let (events, cancel) = (EventSink::none(), CancellationToken::new());
        kernel
            .call_tool(tool, input.clone(), by, events, cancel)
            .await;
    }
}

#[tokio::test]
async fn no_text_from_outside_gets_into_the_four_blocks_without_approval() {
    let attacks: Vec<Attack> = serde_json::from_str(include_str!("attacks.json")).unwrap();
    assert_eq!(attacks.len(), 63);
    for attack in attacks {
        let before = {
            let brain = ObedientBrain::new(&[], Vec::new());
            Session::begin(brain, &[]).await.own_blocks()
        };
        let session = run(&attack).await;
        let context = format!("attack {} by {}", attack.id, attack.way);
        assert_eq!(session.own_blocks(), before, "{context}");
        let waiting = session.place.kernel.review().list().unwrap();
        assert!(waiting.unread.is_empty(), "{context}");
        if attack.way == "bundle_replace" {
            assert!(waiting.edits.is_empty(), "{context}");
            continue;
        }
        if !matches!(&*attack.way, "client" | "face" | "face_of_page") {
            // The model did all that it read.
            assert_eq!(session.brain.orders_left(), 0, "{context}");
        }
        assert_eq!(waiting.edits.len(), attack.does.len(), "{context}");
        let word = expected_origin(&attack.way);
        for edit in &waiting.edits {
            let from = edit.from.listed().iter().map(ToString::to_string);
            let from: Vec<_> = from.collect();
            assert!(
                from.iter().any(|it| it.starts_with(word)),
                "{context}: {from:?}"
            );
            if attack.way == "face_of_page" {
                assert!(from.iter().any(|it| it.starts_with("face ")), "{context}");
            }
        }
        // The person approves the first one, and the way back is known all the same.
        let edit = &waiting.edits[0];
        let (kernel, store) = (&session.place.kernel, &*session.place.store);
        kernel
            .review()
            .approve(&edit.id, store, kernel.now())
            .unwrap();
        let log = store.log(&edit.block, LogRange::newest(1)).unwrap();
        let (LoggedOp::Edit(Op::Write { .. } | Op::Append { .. }), Some(path)) =
            (&log[0].op, log[0].path)
        else {
            continue;
        };
        let labels = store.labels(&edit.block).unwrap();
        assert_eq!(labels.at(&path), None, "{context}");
        let trace = kernel.trace(&edit.block, &path).unwrap();
        let traced = trace
            .from
            .iter()
            .find(|it| it.origin.to_string().starts_with(word));
        let traced = traced.unwrap_or_else(|| panic!("{context}: {trace:?}"));
        let tool = match attack.way.as_str() {
            "page" | "page_later" => "web_fetch",
            "file" => "fs_read",
            "store" => "idb_get",
            "server" => "notes__read",
            _ => continue,
        };
        let call = traced.call.as_deref().unwrap_or_default();
        assert!(
            call.starts_with(tool) && traced.message < trace.n,
            "{context}: {traced:?}"
        );
    }
}
