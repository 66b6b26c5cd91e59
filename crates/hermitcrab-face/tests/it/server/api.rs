//! The methods of the page's bar, the HTTP interface for what is large or secret, and the events.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hermitcrab_face::Keys;
use hermitcrab_kernel::ScriptStep;
use pscale_blocks::{Block, BlockName, EditAuthor, Op, Stamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::page::Page;
use super::stand::{GatedBrain, Setting, Stand, face};

#[tokio::test]
async fn a_long_text_is_cut_in_the_log_alone() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    let content = "ä".repeat(5_000);
    let save = json!(["memory", "0.1", content, 1]);
    page.bar("blockSave", save).await.unwrap();
    let log = page.bar("log", json!(["memory", 1])).await.unwrap();
    let after = log[0]["after"].as_str().unwrap();
    assert_eq!(after, format!("{}…", &content[..8_000]));
    let seen = page.bar("blockNode", json!(["memory", "0.1"])).await;
    assert_eq!(seen.unwrap()["content"], content);
    stand.end().await;
}

#[tokio::test]
async fn blocks_are_read_written_undone_and_all_pages_hear_of_it() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    let rows = first.bar("blockList", json!([])).await.unwrap();
    let mut rows = rows.as_array().unwrap().iter();
    let memory = rows.find(|row| row["name"] == "memory").unwrap();
    let columns: Vec<_> = memory.as_object().unwrap().keys().cloned().collect();
    assert_eq!(columns, ["bytes", "decimal", "head", "name", "nodes"]);

    let head = first.bar("blockNode", json!(["memory", "0"])).await;
    assert_eq!(head.unwrap()["rev"], 1);
    for (rev, content) in [(1, "The tide was high."), (2, "The tide was low.")] {
        let save = json!(["memory", "0.1", content, rev]);
        let saved = first.bar("blockSave", save.clone()).await.unwrap();
        assert_eq!(saved, json!({"name": "memory", "rev": rev + 1}));
        let seen = first.bar("blockNode", json!(["memory", "0.1"])).await;
        let seen = seen.unwrap();
        assert_eq!(
            (&seen["content"], &seen["rev"]),
            (&json!(content), &json!(rev + 1))
        );
        // Another page has the revision before: it replaces no text that its person has not seen.
        let stale = second.bar("blockSave", save).await.unwrap_err();
        assert_eq!(stale["error"], "revision", "{stale}");
    }

    let log = first.bar("log", json!(["memory"])).await.unwrap();
    let ops = |log: &Value| -> Vec<Value> {
        let rows = log.as_array().unwrap().iter();
        rows.map(|row| row["op"].clone()).collect()
    };
    assert_eq!(ops(&log), ["write", "write", "create"]);
    assert_eq!(log[1]["after"], "The tide was high.");
    assert_eq!(log[1]["by"], "person");
    assert_eq!(log[1]["path"], "0.1");
    let newest = first.bar("log", json!(["memory", 1])).await.unwrap();
    assert_eq!(ops(&newest), ["write"]);

    let undone = first.bar("undo", json!(["memory", 1])).await.unwrap();
    assert_eq!(undone["undone"], 1, "{undone}");
    let seen = first.bar("blockNode", json!(["memory", "0.1"])).await;
    assert_eq!(seen.unwrap()["content"], "The tide was high.");
    // Each row says how many steps lead to it and back.
    let log = first.bar("log", json!(["memory"])).await.unwrap();
    let rows = log.as_array().unwrap().iter();
    let steps: Vec<_> = rows
        .map(|row| {
            (
                row["op"].as_str().unwrap(),
                row["undo"].as_u64(),
                row["redo"].as_u64(),
            )
        })
        .collect();
    let expected = [
        ("undo", None, None),
        ("write", None, Some(1)),
        ("write", Some(1), None),
        ("create", None, None),
    ];
    assert_eq!(steps, expected);
    let redone = first.bar("redo", json!(["memory"])).await.unwrap();
    assert_eq!(redone["redone"], 1, "{redone}");
    for page in [&mut first, &mut second] {
        for _ in 0..4 {
            assert_eq!(page.event("block_changed").await["name"], "memory");
        }
    }
    stand.end().await;
}

/// The page of the person says what is wrong with a name, a path or a revision, and nothing is changed.
#[tokio::test]
async fn a_save_names_the_fault() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    for (method, args, error, named) in [
        (
            "blockSave",
            json!(["memory", "0.1", "x"]),
            "bad_arguments",
            "rev is missing",
        ),
        (
            "blockSave",
            json!(["memory", "0.1", "x", "*"]),
            "bad_arguments",
            "rev is a whole number",
        ),
        (
            "blockSave",
            json!(["memory", "0.1", "x", -1]),
            "bad_arguments",
            "rev is a whole number",
        ),
        (
            "blockSave",
            json!(["memory", "0.1", "x", 99]),
            "revision",
            "99",
        ),
        (
            "blockSave",
            json!(["memory", 3, "x", 1]),
            "bad_arguments",
            "path is a path",
        ),
        (
            "blockSave",
            json!(["memory", "0"]),
            "bad_arguments",
            "content is missing",
        ),
        (
            "blockSave",
            json!(["memory", "0..1", "x", 1]),
            "bad_path",
            "character 2",
        ),
        (
            "blockSave",
            json!(["../x", "0", "x", 1]),
            "bad_name",
            "../x",
        ),
        (
            "blockSave",
            json!(["nowhere", "0", "x", 1]),
            "no_block",
            "nowhere",
        ),
        ("blockNode", json!(["../x", "0"]), "bad_name", "../x"),
        ("blockNode", json!(["a\0b", "0"]), "bad_name", "a"),
        ("blockNode", json!(["nowhere", "0"]), "no_block", "nowhere"),
        (
            "blockNode",
            json!(["memory", "0..1"]),
            "bad_path",
            "character 2",
        ),
        ("log", json!(["../x"]), "bad_name", "../x"),
        ("log", json!(["memory", "x"]), "bad_arguments", "limit"),
    ] {
        let told = page.bar(method, args.clone()).await.unwrap_err();
        assert_eq!(told["error"], error, "{method} {args}: {told}");
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains(named), "{method} {args}: {told}");
    }
    let log = page.bar("log", json!([])).await.unwrap();
    let mut rows = log.as_array().unwrap().iter();
    assert!(rows.all(|row| row["by"] == "kernel"), "{log}");
    stand.end().await;
}

#[tokio::test]
async fn what_is_exported_can_be_imported_elsewhere() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    page.bar("blockCreate", json!(["tides", "When the water comes."]))
        .await
        .unwrap();
    let bundle = stand.get("/api/export").await;
    assert_eq!(
        bundle.header("content-disposition"),
        Some("attachment; filename=\"hermitcrab.json\"")
    );
    let other = Stand::script([face("1")]).await;
    let mut page = other.booted().await;
    let imported = other.post("/api/import", bundle.json()).await;
    assert_eq!(imported.status, 200, "{imported:?}");
    page.event("block_changed").await;
    let tides = BlockName::new("tides").unwrap();
    let block_of = |stand: &Stand| stand.kernel.store().load(&tides).unwrap().block;
    assert_eq!(block_of(&stand), block_of(&other));
    let foreign = other.post("/api/import", json!({"nodes": []})).await;
    assert_eq!(foreign.status, 400, "{foreign:?}");
    foreign.error();
    stand.end().await;
    other.end().await;
}

/// The blocks of years, more than other requests may bring.
#[tokio::test]
async fn a_large_export_can_be_imported() {
    let stand = Stand::script([face("1")]).await;
    drop(stand.booted().await);
    let text = "a year of tides; ".repeat(3_800);
    let nodes = (1..=9).flat_map(|one| (1..=9).map(move |two| (one, two)));
    let mut tides = Block::new("When the water comes.");
    for (one, two) in nodes.take(45) {
        let path = format!("0.{one}.{two}").parse().unwrap();
        tides.write(&path, &text).unwrap();
    }
    let stamp = Stamp::new(stand.kernel.now(), EditAuthor::Person);
    for name in ["memory", "network"] {
        let (name, block) = (BlockName::new(name).unwrap(), tides.clone());
        let edit = Op::Replace { block };
        (stand.kernel.store())
            .edit(&name, None, &edit, &stamp)
            .unwrap();
    }
    let bundle = stand.get("/api/export").await;
    assert!(bundle.body.len() > 5 << 20, "{}", bundle.body.len());
    let other = Stand::script([face("1")]).await;
    let mut page = other.booted().await;
    let imported = other.post("/api/import", bundle.json()).await;
    assert_eq!(imported.status, 200, "{imported:?}");
    let rows = page.bar("blockList", json!([])).await.unwrap();
    let came = (rows.as_array().unwrap().iter()).filter(|row| row["nodes"].as_u64() > Some(45));
    assert_eq!(came.count(), 2, "{rows}");
    stand.end().await;
    other.end().await;
}

async fn author(page: &mut Page, name: &str) -> Value {
    let log = page.bar("log", json!([name, 1])).await.unwrap();
    log[0]["by"].clone()
}

#[tokio::test]
async fn edits_are_of_the_person_or_of_the_shells_author() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    page.bar("blockWrite", json!(["memory", "0.1", "by the bar"]))
        .await
        .unwrap();
    assert_eq!(author(&mut page, "memory").await, "person");
    page.shell("blockWrite", json!(["memory", "0.1", "by the face"]))
        .await
        .unwrap();
    let by = |id: &str| json!({"model": {"id": id}});
    assert_eq!(author(&mut page, "memory").await, by("script (face 1)"));
    // A shell that a shell wrote is by the same author.
    for n in 2..=3 {
        let jsx = format!("function App() {{ return <p>{n}</p>; }}");
        page.shell("recompile", json!([jsx])).await.unwrap();
    }
    page.shell("blockWrite", json!(["memory", "0.1", "by its child"]))
        .await
        .unwrap();
    assert_eq!(author(&mut page, "memory").await, by("script (face 3)"));
    page.bar("recompile", json!(["function App() { return <p>4</p>; }"]))
        .await
        .unwrap();
    page.shell("blockWrite", json!(["memory", "0.1", "by the person's"]))
        .await
        .unwrap();
    assert_eq!(author(&mut page, "memory").await, by("person (face 4)"));
    // The frame goes with its face, and nothing calls from it any longer.
    page.bar("safeFace", json!([])).await.unwrap();
    let fault = page.shell("usage", json!([])).await.unwrap_err();
    assert_eq!(fault["error"], "no_frame", "{fault}");
    stand.end().await;
}

/// The keys as a test sees them.
#[derive(Default)]
struct KeyRing {
    given: Mutex<Vec<String>>,
    offline: Mutex<bool>,
}

#[async_trait]
impl Keys for KeyRing {
    fn wanted(&self) -> Option<String> {
        let has_one = !self.given.lock().unwrap().is_empty() || *self.offline.lock().unwrap();
        (!has_one).then(|| "anthropic".to_owned())
    }

    async fn set(&self, key: SecretString) -> Result<(), String> {
        let key = key.expose_secret();
        if key.len() < 8 {
            return Err("this is too short for a key".to_owned());
        }
        self.given.lock().unwrap().push(key.to_owned());
        Ok(())
    }

    async fn offline(&self) {
        *self.offline.lock().unwrap() = true;
    }
}

async fn with_keys(keys: &Arc<KeyRing>) -> (Stand, Arc<GatedBrain>) {
    let brain = GatedBrain::new(9, [face("1")]);
    let setting = Setting {
        keys: keys.clone(),
        ..Setting::default()
    };
    (setting.open(brain.clone()).await, brain)
}

#[tokio::test]
async fn the_model_sleeps_until_there_is_a_key_and_the_key_is_told_to_nobody() {
    const KEY: &str = "marker-of-a-key";
    let keys = Arc::new(KeyRing::default());
    let (stand, brain) = with_keys(&keys).await;
    let mut page = stand.knock().await;
    page.tell(Stand::hello(&stand.session().await)).await;
    let welcome = page
        .wait("welcome", |message| message["type"] == "welcome")
        .await;
    assert_eq!(welcome["key_wanted"], "anthropic");
    let short = stand.post("/api/key", json!({"key": "short"})).await;
    assert_eq!((short.status, short.error().as_str()), (400, "key"));
    assert!(brain.asked().is_empty());

    let set = stand.post("/api/key", json!({"key": KEY})).await;
    assert_eq!((set.status, set.json()), (200, json!({"ok": true})));
    assert_eq!(*keys.given.lock().unwrap(), [KEY]);
    page.event_of("status", |data| data["key_wanted"].is_null())
        .await;
    page.show_of(1).await;
    page.event_of("busy", |data| data["busy"] == false).await;
    let mut answers = vec![format!("{set:?}"), json!(page.rest().await).to_string()];
    for target in ["/health", "/api/export", "/api/key"] {
        answers.push(format!("{:?}", stand.get(target).await));
    }
    for method in ["usage", "conversation.load", "state.get", "getSource"] {
        answers.push(format!("{:?}", page.shell(method, json!([])).await));
    }
    for method in ["blockList", "log", "shells"] {
        answers.push(format!("{:?}", page.bar(method, json!([])).await));
    }
    answers.push(serde_json::to_string(&brain.asked()[0].messages).unwrap());
    assert!(
        answers.iter().all(|answer| !answer.contains("marker")),
        "{answers:#?}"
    );
    stand.end().await;
}

#[tokio::test]
async fn the_person_may_go_on_without_a_key() {
    let keys = Arc::new(KeyRing::default());
    let (stand, brain) = with_keys(&keys).await;
    let mut page = stand.page().await;
    assert!(brain.asked().is_empty());
    let answer = stand.post("/api/key", json!({"offline": true})).await;
    assert_eq!(answer.status, 200);
    page.show_of(1).await;
    assert!(*keys.offline.lock().unwrap());
    stand.end().await;
}

/// The Blocks panel shows it.
#[tokio::test]
async fn a_summary_has_its_receipt() {
    let stand = Stand::script([]).await;
    let mut page = stand.page().await;
    let memory = json!({"decimal": 2, "tree": {"0": {"_": "Memory.", "1": {
        "_": "We paid 100 euros for it, as Grace said.", "1": "We paid 100 euros for it.", "2": "We paid 200 euros for it."
    }}}});
    let block = Block::parse(&memory.to_string()).unwrap();
    let stamp = Stamp::new(stand.kernel.now(), EditAuthor::Person);
    let (name, op) = (BlockName::new("memory").unwrap(), Op::Replace { block });
    (stand.kernel.store())
        .edit(&name, None, &op, &stamp)
        .unwrap();
    let seen = page.bar("blockNode", json!(["memory", "0.1"])).await;
    assert_eq!(
        seen.unwrap()["receipt"],
        json!({
            "kept": 1,
            "lost": [{"kind": "number", "text": "200 euros", "path": "0.1.2"}],
            "added": [{"kind": "name", "text": "Grace"}],
        })
    );
    let seen = page.bar("blockNode", json!(["memory", "0.1.1"])).await;
    assert_eq!(seen.unwrap().get("receipt"), None);
    stand.end().await;
}

#[tokio::test]
async fn an_edit_by_a_face_of_the_models_own_blocks_waits_for_the_person() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    let write = |path: &str| json!(["constitution", path, "by the face"]);
    let mut ids = Vec::new();
    for path in ["0.7", "0.8"] {
        let answer = page.shell("blockWrite", write(path)).await.unwrap();
        ids.push(answer["queued"].as_str().unwrap().to_owned());
        page.event_of("notice", |data| data["text"].to_string().contains("waits"))
            .await;
    }
    // The same edit again waits once.
    let again = page.shell("blockWrite", write("0.7")).await.unwrap();
    assert_eq!(again["queued"], ids[0]);
    assert_eq!(again["waited"], true);
    // The bar is the person.
    let edited = page
        .bar("blockWrite", json!(["constitution", "0.9", "mine"]))
        .await;
    assert_eq!(edited.unwrap()["path"], "0.9");
    let waiting = page.bar("review", json!([])).await.unwrap();
    assert_eq!(waiting["edits"].as_array().unwrap().len(), 2, "{waiting}");
    let first = &waiting["edits"]
        .as_array()
        .unwrap()
        .iter()
        .find(|edit| edit["id"] == ids[0]);
    let first = first.unwrap();
    assert_eq!(
        first["why"],
        "asked for by face 1, or after its words; the person decides"
    );
    assert_eq!(first["changes"][0]["after"], "by the face");
    let approved = page.bar("approveEdit", json!([ids[0]])).await.unwrap();
    assert_eq!(approved["block"], "constitution");
    page.event_of("block_changed", |data| data["name"] == "constitution")
        .await;
    let again = page.bar("approveEdit", json!([ids[0]])).await;
    assert_eq!(again.unwrap_err()["error"], "not_found");
    page.bar("dropEdit", json!([ids[1]])).await.unwrap();
    let by_face = page.shell("approveEdit", json!([ids[1]])).await;
    assert_eq!(by_face.unwrap_err()["error"], "unknown_method");
    let waiting = page.bar("review", json!([])).await.unwrap();
    assert_eq!(waiting["edits"], json!([]));
    let node = page.bar("blockNode", json!(["constitution", "0.7"])).await;
    assert_eq!(node.unwrap()["content"], "by the face");
    let node = page.bar("blockNode", json!(["constitution", "0.8"])).await;
    assert_eq!(node.unwrap_err()["error"], "not_found");
    // Memory takes such an edit, with a label.
    let entry = json!(["memory", "0.1", "by the face"]);
    page.shell("blockWrite", entry).await.unwrap();
    let labels = stand
        .kernel
        .store()
        .labels(&"memory".parse().unwrap())
        .unwrap();
    assert_eq!(labels.nodes().len(), 1);
    stand.end().await;
}

#[tokio::test]
async fn the_person_begins_a_new_window() {
    let stand = Stand::script([face("1"), ScriptStep::text("up")]).await;
    let mut page = stand.booted().await;
    assert!(!stand.kernel.messages().await.is_empty());
    let answer = page.bar("newWindow", json!([])).await;
    assert_eq!(answer.unwrap(), json!({"begun": true}));
    assert!(stand.kernel.messages().await.is_empty());
    stand.end().await;
}
