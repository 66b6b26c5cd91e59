//! T4: the edits that wait for the person.

use std::fs;
use std::sync::Arc;

use hermitcrab_kernel::toolbox::{QueuedEdit, ReviewQueue, run_block_tool};
use hermitcrab_kernel::{ErrorKind, ScriptStep};
use pscale_blocks::store::{LogRange, Origin, Origins};
use pscale_blocks::{Appended, Block, BlockName, BlockStore, EditAuthor, MemStore, Path, Stamp};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::place::{Setting, call, results};

/// A store with a constitution, and the queue in a folder.
struct Desk {
    store: MemStore,
    dir: TempDir,
    queue: ReviewQueue,
}

fn name() -> BlockName {
    "constitution".parse().unwrap()
}

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(second).unwrap()
}

fn client() -> Origins {
    let name = "visitor".to_owned();
    Origin::Client { name }.into()
}

impl Desk {
    fn new() -> Self {
        let store = MemStore::new();
        let by_person = Stamp::new(at(0), EditAuthor::Person);
        store
            .create(&name(), &Block::new("Rules."), &by_person)
            .unwrap();
        let dir = tempfile::tempdir().unwrap();
        let queue = ReviewQueue::open(dir.path());
        Self { store, dir, queue }
    }

    /// A call by a program of the person's; the answer.
    fn visit(&self, tool: &str, input: Value) -> Value {
        self.visit_from(client(), tool, input)
    }

    fn visit_from(&self, from: Origins, tool: &str, input: Value) -> Value {
        let by = EditAuthor::Model {
            id: "visitor".to_owned(),
            web: None,
        };
        let stamp = Stamp::new(at(10), by).with_from(from).with_message(7);
        run_block_tool(tool, input, &self.store, &stamp, Some(&self.queue)).content
    }

    fn write(&self, path: &str, text: &str) -> Value {
        self.visit(
            "block_write",
            json!({"name": "constitution", "path": path, "content": text}),
        )
    }

    fn by_person(&self, tool: &str, input: Value) {
        let stamp = Stamp::new(at(20), EditAuthor::Person);
        let done = run_block_tool(tool, input, &self.store, &stamp, Some(&self.queue));
        assert!(!done.is_error, "{done:?}");
    }

    fn text(&self, path: &str) -> Option<String> {
        let path: Path = path.parse().unwrap();
        let block = self.store.load(&name()).unwrap().block;
        block.text(&path).ok().flatten().map(str::to_owned)
    }

    fn approve(&self, id: &str) -> Result<u64, ErrorKind> {
        let approved = self.queue.approve(id, &self.store, at(30));
        approved.map(|(_, rev)| rev).map_err(|fault| fault.kind)
    }

    fn waiting(&self) -> usize {
        self.queue.list().unwrap().edits.len()
    }
}

fn id(answer: &Value) -> String {
    answer["queued"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

#[test]
fn an_approved_edit_is_the_persons_and_its_log_names_the_origin() {
    let desk = Desk::new();
    let answer = desk.write("0.1", "New.");
    assert_eq!(
        answer["why"],
        "asked for by the program visitor; the person decides"
    );
    assert_eq!(desk.text("0.1"), None);
    // The same again waits once.
    assert_eq!(id(&desk.write("0.1", "New.")), id(&answer));
    assert_eq!(desk.waiting(), 1);
    let rev = desk.approve(&id(&answer)).unwrap();
    assert_eq!(desk.text("0.1").as_deref(), Some("New."));
    let entry = desk
        .store
        .log(&name(), LogRange::newest(1))
        .unwrap()
        .remove(0);
    assert_eq!(
        (entry.rev, &entry.by, entry.n),
        (rev, &EditAuthor::Person, Some(7))
    );
    assert_eq!(entry.from, client());
    assert_eq!(entry.note, Some(format!("approved {}", id(&answer))));
    assert!(desk.store.labels(&name()).unwrap().nodes().is_empty());
    assert_eq!(desk.waiting(), 0);
    assert_eq!(desk.approve(&id(&answer)), Err(ErrorKind::NotFound));
    // What changes nothing does not wait, and what cannot be done fails at once.
    assert_eq!(desk.write("0.1", "New.")["rev"], rev);
    let missing = json!({"name": "constitution", "path": "0.7"});
    assert_eq!(desk.visit("block_remove", missing)["error"], "not_found");
    // Other blocks take such an edit, labelled.
    let create = json!({"name": "notes", "pscale0": "Notes."});
    assert_eq!(desk.visit("block_create", create)["rev"], 1);
    let labels = desk.store.labels(&"notes".parse().unwrap()).unwrap();
    assert_eq!(labels.nodes().values().next(), Some(&client()));
}

#[test]
fn an_edit_that_was_made_before_its_file_went_is_not_made_twice() {
    let desk = Desk::new();
    let entry = json!({"name": "constitution", "content": "One more."});
    let queued = id(&desk.visit("block_append", entry));
    let file = desk.dir.path().join(format!("review/{queued}.json"));
    let bytes = fs::read(&file).unwrap();
    let rev = desk.approve(&queued).unwrap();
    fs::write(&file, bytes).unwrap();
    assert_eq!(desk.approve(&queued), Ok(rev));
    assert_eq!(
        (desk.text("0.1").as_deref(), desk.text("0.2")),
        (Some("One more."), None)
    );
    assert!(!file.exists());
}

#[test]
fn a_dropped_edit_leaves_nothing() {
    let desk = Desk::new();
    let queued = id(&desk.write("0.1", "New."));
    assert_eq!(desk.queue.drop(&queued).unwrap().unwrap().id, queued);
    assert_eq!((desk.waiting(), desk.text("0.1")), (0, None));
    for wrong in [&*queued, "", "../state", "no-such"] {
        assert_eq!(
            desk.queue.drop(wrong).unwrap_err().kind,
            ErrorKind::NotFound
        );
    }
}

#[test]
fn an_edit_of_a_node_that_has_changed_is_a_conflict() {
    let desk = Desk::new();
    desk.by_person(
        "block_write",
        json!({"name": "constitution", "path": "0.1", "content": "Mine."}),
    );
    let write = id(&desk.write("0.1", "Theirs."));
    let elsewhere = id(&desk.write("0.2", "Theirs."));
    let undo = id(&desk.visit("block_undo", json!({"name": "constitution"})));
    let move_ = json!({"name": "constitution", "from": "0.1", "to": "0.4"});
    let moved = id(&desk.visit("block_move", move_));
    desk.by_person(
        "block_write",
        json!({"name": "constitution", "path": "0.1", "content": "Mine now."}),
    );
    for gone in [&write, &undo, &moved] {
        assert_eq!(desk.approve(gone), Err(ErrorKind::Conflict));
    }
    assert_eq!(desk.text("0.1").as_deref(), Some("Mine now."));
    // A change of another node is none of this one's.
    desk.approve(&elsewhere).unwrap();
    assert_eq!(desk.text("0.2").as_deref(), Some("Theirs."));
    assert_eq!(desk.waiting(), 3);
}

#[test]
fn undo_redo_and_create_wait_and_are_made() {
    let desk = Desk::new();
    desk.by_person(
        "block_write",
        json!({"name": "constitution", "path": "0.1", "content": "Mine."}),
    );
    let undo = id(&desk.visit("block_undo", json!({"name": "constitution"})));
    assert_eq!(desk.text("0.1").as_deref(), Some("Mine."));
    desk.approve(&undo).unwrap();
    assert_eq!(desk.text("0.1"), None);
    let redo = id(&desk.visit("block_redo", json!({"name": "constitution"})));
    assert_eq!(desk.text("0.1"), None);
    desk.approve(&redo).unwrap();
    assert_eq!(desk.text("0.1").as_deref(), Some("Mine."));
    let create = id(&desk.visit(
        "block_create",
        json!({"name": "skills", "pscale0": "Skills."}),
    ));
    let skills = "skills".parse().unwrap();
    assert!(desk.store.load(&skills).is_err());
    desk.approve(&create).unwrap();
    assert_eq!(
        desk.store.load(&skills).unwrap().block.head_text(),
        Some("Skills.")
    );
    let none = desk.visit("block_redo", json!({"name": "constitution"}));
    assert_eq!(none["error"], "nothing_to_redo");
}

/// A store takes keys out before it looks at the size of a text. So does the gate, and what it cannot judge is not made.
#[test]
fn a_text_that_fits_without_its_key_waits_and_one_that_is_too_long_fails() {
    let desk = Desk::new();
    let mine = json!({"name": "constitution", "path": "0.2", "content": "Mine."});
    desk.by_person("block_write", mine);
    let long = "A".repeat(70_000);
    let text = format!("Obey. sk-ant-{long}");
    let entry = json!({"name": "constitution", "content": text});
    let summary = json!({"name": "constitution", "summary": text, "kind": "summary"});
    for answer in [
        desk.write("0.1", &text),
        desk.visit("block_append", entry),
        desk.visit("block_grow", summary),
    ] {
        id(&answer);
    }
    assert_eq!(id(&desk.write("0.1", &text)).len(), 10);
    let waiting = desk.queue.list().unwrap().edits;
    assert_eq!(waiting.len(), 3);
    for edit in &waiting {
        let op = json!(edit.op).to_string();
        assert!(op.contains("Obey. [key removed]"), "{op}");
    }
    let refused = desk.write("0.1", &long);
    assert_eq!(refused["error"], "too_large", "{refused}");
    let exists = json!({"name": "constitution", "pscale0": "Another one."});
    assert_eq!(desk.visit("block_create", exists)["error"], "exists");
    assert_eq!(desk.store.load(&name()).unwrap().rev, 2);
}

#[test]
fn an_undo_shows_its_texts_and_is_that_of_its_revision() {
    let desk = Desk::new();
    let write = |text: &str| {
        let input = json!({"name": "constitution", "path": "0.1", "content": text});
        desk.by_person("block_write", input);
    };
    write("Old.");
    write("New.");
    let all = json!({"name": "constitution", "count": 1_000});
    let undo = id(&desk.visit("block_undo", all));
    let edit = desk.queue.list().unwrap().edits.remove(0);
    let changes = edit.changes(&desk.store);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0].before.as_deref(), Some("New."));
    assert_eq!(changes[0].after, None);
    // The texts are the same again, and an undo would take back other edits.
    write("Other.");
    write("New.");
    assert_eq!(desk.approve(&undo), Err(ErrorKind::Conflict));
    assert_eq!(desk.text("0.1").as_deref(), Some("New."));
}

#[test]
fn an_edit_that_is_asked_for_again_keeps_its_place() {
    let desk = Desk::new();
    let first = id(&desk.write("0.1", "One."));
    id(&desk.write("0.2", "Two."));
    let before = desk.queue.list().unwrap().edits;
    let again = |from: Origins| {
        let by = EditAuthor::Model {
            id: "visitor".to_owned(),
            web: None,
        };
        let stamp = Stamp::new(at(25), by).with_from(from).with_message(9);
        let input = json!({"name": "constitution", "path": "0.1", "content": "One."});
        run_block_tool("block_write", input, &desk.store, &stamp, Some(&desk.queue)).content
    };
    let answer = again(client());
    assert_eq!(
        (id(&answer), &answer["waited"]),
        (first.clone(), &json!(true))
    );
    assert_eq!(desk.queue.list().unwrap().edits, before);
    // Another place is added, and nothing else.
    assert_eq!(again(Origin::Face { rev: 3 }.into())["waited"], true);
    let after = desk.queue.list().unwrap().edits;
    let ids = |edits: &[QueuedEdit]| edits.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&after), ids(&before));
    let edit = after.iter().find(|edit| edit.id == first).unwrap();
    assert_eq!((edit.at, edit.n), (at(10), Some(7)));
    assert_eq!(edit.from.listed().len(), 2);
}

#[test]
fn a_summary_that_was_not_shown_is_not_approved() {
    let desk = Desk::new();
    let block = || Block::clone(&desk.store.load(&name()).unwrap().block);
    let asks = |mut block: Block| {
        matches!(
            block.append("More.", None).unwrap(),
            Appended::NeedsSummary { .. }
        )
    };
    let append = || {
        let entry = json!({"name": "constitution", "content": "An entry."});
        desk.by_person("block_append", entry);
    };
    while !asks(block()) {
        append();
    }
    let grows = json!({"name": "constitution", "content": "An entry.", "summary": "Nine."});
    desk.by_person("block_append", grows);
    // One place is left in the group.
    loop {
        let mut next = block();
        next.append("More.", None).unwrap();
        if asks(next) {
            break;
        }
        append();
    }
    let plain = json!({"name": "constitution", "content": "Plain."});
    let with_summary = json!({"name": "constitution", "content": "Other.", "summary": "Obey."});
    let plain = id(&desk.visit("block_append", plain));
    let with_summary = id(&desk.visit("block_append", with_summary));
    desk.approve(&plain).unwrap();
    assert_eq!(desk.approve(&with_summary), Err(ErrorKind::Conflict));
    let text = format!("{:?}", block());
    assert!(text.contains("Plain.") && !text.contains("Obey."), "{text}");
}

#[test]
fn fifty_edits_wait_and_the_next_one_is_refused() {
    let desk = Desk::new();
    let write = |client: usize, text: &str| {
        let name = format!("client {client}");
        let input = json!({"name": "constitution", "path": "0.1", "content": text});
        desk.visit_from(Origin::Client { name }.into(), "block_write", input)
    };
    for n in 0..50 {
        id(&write(n / 10, &format!("Text {n}.")));
    }
    let refused = write(7, "One too many.");
    assert_eq!(refused["error"], "full", "{refused}");
    // One that waits already is answered as before.
    let known = id(&write(0, "Text 7."));
    desk.queue.drop(&known).unwrap();
    id(&write(7, "One too many."));
    assert_eq!(desk.waiting(), 50);
}

#[test]
fn ten_edits_of_one_origin_leave_room_for_others() {
    let desk = Desk::new();
    for n in 0..10 {
        id(&desk.write("0.1", &format!("Text {n}.")));
    }
    let refused = desk.write("0.1", "One too many.");
    assert_eq!(refused["error"], "full", "{refused}");
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("asked for by the program visitor"),
        "{detail}"
    );
    let input = json!({"name": "constitution", "path": "0.1", "content": "Other."});
    let page = Origin::Web {
        url: "https://example.org".to_owned(),
    };
    id(&desk.visit_from(page.into(), "block_write", input));
}

/// The list shows the effect of each, for which it reads the log.
#[test]
fn one_undo_or_redo_of_a_block_waits() {
    let desk = Desk::new();
    for text in ["One.", "Two."] {
        let input = json!({"name": "constitution", "path": "0.1", "content": text});
        desk.by_person("block_write", input);
    }
    let undo = |count: u32| {
        desk.visit(
            "block_undo",
            json!({"name": "constitution", "count": count}),
        )
    };
    let first = id(&undo(1));
    let refused = undo(2);
    assert_eq!(refused["error"], "full", "{refused}");
    assert!(
        refused["detail"].as_str().unwrap().contains(&first),
        "{refused}"
    );
    assert_eq!(id(&undo(1)), first);
    desk.queue.drop(&first).unwrap();
    id(&undo(2));
}

#[test]
fn a_file_of_a_newer_program_is_left_alone_and_a_damaged_one_can_go() {
    let desk = Desk::new();
    let good = id(&desk.write("0.1", "New."));
    let folder = desk.dir.path().join("review");
    fs::write(
        folder.join("aa.json"),
        r#"{"schema_version": 2, "id": "aa"}"#,
    )
    .unwrap();
    fs::write(
        folder.join("bb.json"),
        r#"{"schema_version": 1, "id": "other"}"#,
    )
    .unwrap();
    let listed = desk.queue.list().unwrap();
    assert_eq!(listed.edits.len(), 1);
    assert_eq!(listed.unread.len(), 2);
    assert!(
        listed.unread[0].contains("newer program (schema 2"),
        "{:?}",
        listed.unread
    );
    assert_eq!(desk.approve("aa"), Err(ErrorKind::Newer));
    assert_eq!(desk.queue.drop("aa").unwrap_err().kind, ErrorKind::Newer);
    assert_eq!(desk.approve("bb"), Err(ErrorKind::Corrupt));
    assert_eq!(desk.queue.drop("bb").unwrap(), None);
    desk.approve(&good).unwrap();
    assert!(folder.join("aa.json").exists());
}

#[tokio::test]
async fn the_model_and_the_person_are_told_that_an_edit_waits() {
    let input = json!({"name": "constitution", "path": "0.7", "content": "From the store."});
    let (place, brain) = Setting::default().script([
        call(
            "a",
            "set_tools",
            json!({"names": ["idb_get", "block_write"]}),
        ),
        call("b", "idb_get", json!({"key": "k"})),
        call("c", "block_write", input),
        ScriptStep::text("It waits."),
    ]);
    place
        .tool("idb_put", json!({"key": "k", "value": "From the store."}))
        .await;
    place.say("Look").await;
    let asked = brain.asked();
    let (text, is_error) = results(asked[3].messages.last().unwrap()).remove(0);
    assert!(!is_error && text.contains("queued"), "{text}");
    assert!(
        text.contains("after reading the stored value k; the person decides"),
        "{text}"
    );
    let notices = place.notices().join("\n");
    assert!(
        notices.contains("an edit of constitution waits for you"),
        "{notices}"
    );
    assert_eq!(place.text("constitution", "0.7"), None);
    let store: Arc<dyn BlockStore> = place.kernel.store();
    let waiting = place.kernel.review().list().unwrap().edits.remove(0);
    assert_eq!(waiting.changes(&*store).len(), 1);
    place
        .kernel
        .review()
        .approve(&waiting.id, &*store, place.kernel.now())
        .unwrap();
    assert_eq!(
        place.text("constitution", "0.7").as_deref(),
        Some("From the store.")
    );
}
