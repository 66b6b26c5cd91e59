//! The HTTP interface of the host page, and its events.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hermitcrab_face::Keys;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::stand::{GatedBrain, Setting, Stand, face};

async fn put(stand: &Stand, name: &str, rev: &Value, body: Value) -> Value {
    let request = stand.request("PUT", &format!("/api/blocks/{name}")).await;
    let request = request.json(&body).header("If-Match", &rev.to_string());
    let answer = request.send(stand.addr).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[tokio::test]
async fn blocks_are_read_written_undone_and_all_pages_hear_of_it() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    let rows = stand.get("/api/blocks").await.json();
    let memory = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "memory");
    let columns: Vec<_> = memory
        .unwrap()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(columns, ["bytes", "decimal", "head", "name", "nodes"]);

    let found = stand.get("/api/blocks/memory").await.json();
    assert_eq!(
        (&found["name"], &found["rev"]),
        (&json!("memory"), &json!(1))
    );
    let node = json!({"path": "0.1", "content": "The tide was high."});
    let written = put(&stand, "memory", &found["rev"], node).await;
    assert_eq!(written, json!({"name": "memory", "rev": 2}));
    let seen = stand.get("/api/blocks/memory?path=0.1").await.json();
    assert_eq!(
        (&seen["content"], &seen["rev"]),
        (&json!("The tide was high."), &json!(2)),
        "{seen}"
    );
    assert!(seen.get("receipt").is_none(), "{seen}");
    let spindle = stand.get("/api/blocks/memory?path=0.1&view=spindle").await;
    assert_eq!(spindle.status, 200);
    put(&stand, "memory", &written["rev"], found["block"].clone()).await;
    assert_eq!(
        stand.get("/api/blocks/memory").await.json()["block"],
        found["block"]
    );

    let log = stand.get("/api/log?name=memory").await.json();
    let ops: Vec<_> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["op"].clone())
        .collect();
    assert_eq!(ops, ["replace", "write", "create"]);
    assert_eq!(log[1]["after"], "The tide was high.");
    assert_eq!(log[1]["by"], "person");
    assert_eq!(log[1]["path"], "0.1");
    assert_eq!(
        stand
            .get("/api/log?name=memory&limit=1")
            .await
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let undone = stand
        .post("/api/undo", json!({"name": "memory", "count": 1}))
        .await;
    assert_eq!(undone.json()["undone"], 1, "{undone:?}");
    let seen = stand.get("/api/blocks/memory?path=0.1").await.json();
    assert_eq!(seen["content"], "The tide was high.");
    // Each row says how many steps lead to it and back.
    let log = stand.get("/api/log?name=memory").await.json();
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
        ("replace", None, Some(1)),
        ("write", Some(1), None),
        ("create", None, None),
    ];
    assert_eq!(steps, expected);
    let redone = stand.post("/api/redo", json!({"name": "memory"})).await;
    assert_eq!(redone.json()["redone"], 1, "{redone:?}");
    for page in [&mut first, &mut second] {
        for _ in 0..4 {
            assert_eq!(page.event("block_changed").await["name"], "memory");
        }
    }
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
    let (one, two) = (
        stand.get("/api/blocks/tides").await.json(),
        other.get("/api/blocks/tides").await.json(),
    );
    assert_eq!(one["block"], two["block"]);
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
    let mut tides = pscale_blocks::Block::new("When the water comes.");
    for (one, two) in nodes.take(45) {
        let path = format!("0.{one}.{two}").parse().unwrap();
        tides.write(&path, &text).unwrap();
    }
    let rev = stand.get("/api/blocks/memory").await.json()["rev"].take();
    put(&stand, "memory", &rev, json!(tides)).await;
    let rev = stand.get("/api/blocks/network").await.json()["rev"].take();
    put(&stand, "network", &rev, json!(tides)).await;
    let bundle = stand.get("/api/export").await;
    assert!(bundle.body.len() > 5 << 20, "{}", bundle.body.len());
    let other = Stand::script([face("1")]).await;
    drop(other.booted().await);
    let imported = other.post("/api/import", bundle.json()).await;
    assert_eq!(imported.status, 200, "{imported:?}");
    let block = stand.get("/api/blocks/memory").await.json()["block"].take();
    let rows = other.get("/api/blocks").await.json();
    let came = (rows.as_array().unwrap().iter()).filter(|row| row["nodes"].as_u64() > Some(45));
    assert_eq!(came.count(), 2, "{rows}");
    assert_eq!(block, json!(tides));
    stand.end().await;
    other.end().await;
}

async fn author(stand: &Stand, name: &str) -> Value {
    let log = stand.get(&format!("/api/log?name={name}&limit=1")).await;
    log.json()[0]["by"].clone()
}

#[tokio::test]
async fn edits_are_of_the_person_or_of_the_shells_author() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    page.bar("blockWrite", json!(["memory", "0.1", "by the bar"]))
        .await
        .unwrap();
    assert_eq!(author(&stand, "memory").await, "person");
    page.shell("blockWrite", json!(["memory", "0.1", "by the face"]))
        .await
        .unwrap();
    let by = |id: &str| json!({"model": {"id": id}});
    assert_eq!(author(&stand, "memory").await, by("script (face 1)"));
    // A shell that a shell wrote is by the same author.
    for n in 2..=3 {
        let jsx = format!("function App() {{ return <p>{n}</p>; }}");
        page.shell("recompile", json!([jsx])).await.unwrap();
    }
    page.shell("blockWrite", json!(["memory", "0.1", "by its child"]))
        .await
        .unwrap();
    assert_eq!(author(&stand, "memory").await, by("script (face 3)"));
    page.bar("recompile", json!(["function App() { return <p>4</p>; }"]))
        .await
        .unwrap();
    page.shell("blockWrite", json!(["memory", "0.1", "by the person's"]))
        .await
        .unwrap();
    assert_eq!(author(&stand, "memory").await, by("person (face 4)"));
    page.bar("safeFace", json!([])).await.unwrap();
    page.shell("blockWrite", json!(["memory", "0.1", "in the safe face"]))
        .await
        .unwrap();
    assert_eq!(author(&stand, "memory").await, "person");
    let rows = page.bar("log", json!(["memory", 2])).await.unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 2);
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
    for target in [
        "/health",
        "/api/blocks",
        "/api/log",
        "/api/export",
        "/api/key",
    ] {
        answers.push(format!("{:?}", stand.get(target).await));
    }
    for method in ["usage", "conversation.load", "state.get", "getSource"] {
        answers.push(format!("{:?}", page.shell(method, json!([])).await));
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
    let rev = stand.get("/api/blocks/memory").await.json()["rev"].clone();
    let memory = json!({"decimal": 2, "tree": {"0": {"_": "Memory.", "1": {
        "_": "We paid 100 euros for it, as Grace said.", "1": "We paid 100 euros for it.", "2": "We paid 200 euros for it."
    }}}});
    put(&stand, "memory", &rev, memory).await;
    let seen = stand.get("/api/blocks/memory?path=0.1").await.json();
    assert_eq!(
        seen["receipt"],
        json!({
            "kept": 1,
            "lost": [{"kind": "number", "text": "200 euros", "path": "0.1.2"}],
            "added": [{"kind": "name", "text": "Grace"}],
        })
    );
}
