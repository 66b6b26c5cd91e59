//! Labels of nodes: derived from the log, and kept in a file that may be lost.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use pscale_blocks::store::conformance::{append, log, name, stamp, write};
use pscale_blocks::store::{KEY_REMOVED, Origin, Origins};
use pscale_blocks::{
    Appended, Applied, Block, BlockStore, DirStore, EditAuthor, MAX_TEXT, Op, Path, Stamp, Summary,
    SummaryKind,
};
use serde_json::{Value, json};

use crate::data_dir::Store;

pub const FILE: &str = "labels/notes.json";

pub fn by_model(web: Option<&str>) -> Stamp {
    let (id, web) = ("m".to_owned(), web.map(str::to_owned));
    Stamp::new(stamp(9).at, EditAuthor::Model { id, web })
}

fn page(url: &str) -> Origin {
    let url = url.to_owned();
    Origin::Web { url }
}

pub fn from(url: &str) -> Stamp {
    by_model(None).with_from(page(url).into())
}

/// The labelled paths of `notes`.
pub fn labelled(store: &dyn BlockStore) -> Vec<String> {
    let labels = store.labels(&name("notes")).unwrap();
    labels.nodes().keys().map(Path::to_string).collect()
}

pub fn edit(store: &dyn BlockStore, op: &Op, stamp: &Stamp) {
    store.edit(&name("notes"), None, op, stamp).unwrap();
}

pub fn reader(store: &Store) -> DirStore {
    DirStore::open_read_only(store.folder.path()).unwrap()
}

#[test]
fn a_file_holds_the_labelled_nodes_and_a_start_reads_no_log_for_them() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.2", "read"), &from("a").with_message(7));
    assert!(!store.path(FILE).exists(), "an edit costs nothing");
    assert_eq!(labelled(&open), ["0.2"]);
    let file: Value = serde_json::from_str(&store.read(FILE)).unwrap();
    let origins = json!([{"web": {"url": "a"}}]);
    let newest = log(&open, &name("notes")).pop().unwrap();
    let nodes = json!({"0.2": [0]});
    let hash = &newest.after_hash;
    let expected =
        json!({"schema_version": 2, "rev": 4, "hash": hash, "origins": origins, "nodes": nodes});
    assert_eq!(file, expected);
    assert_eq!((newest.from, newest.n), (page("a").into(), Some(7)));
    drop(open);
    for open in [store.open(), reader(&store)] {
        let before = open.read_counts();
        let labels = open.labels(&name("notes")).unwrap();
        assert_eq!(labels.at(&"0.2".parse().unwrap()), Some(&page("a").into()));
        let after = open.read_counts();
        let settled = u64::from(before.logs == 0);
        assert_eq!(
            after.logs - before.logs,
            settled,
            "the labels have the revision of the block"
        );
        drop(open);
    }
    let open = store.open();
    open.delete(&name("notes"), &stamp(10)).unwrap();
    assert!(!store.path(FILE).exists());
}

#[test]
fn a_crash_between_block_and_labels_loses_nothing() {
    let store = Store::new();
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = Arc::clone(&is_gone);
    let watch = move |_, path: &std::path::Path| {
        let is_label = path
            .parent()
            .is_some_and(|folder| folder.ends_with("labels"));
        if is_label && gone.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    };
    let open = DirStore::open_watched(store.folder.path(), Box::new(watch)).unwrap();
    edit(&open, &write("0.1", "read"), &from("a"));
    assert_eq!(labelled(&open), ["0.1"]);
    is_gone.store(true, Ordering::Relaxed);
    edit(&open, &write("0.2", "read, too"), &from("b"));
    edit(&open, &write("0.1", "clean"), &by_model(None));
    assert_eq!(labelled(&open), ["0.2"]);
    assert!(open.notices()[0].contains("labels of block notes could not be written"));
    drop(open);
    let file = store.read(FILE);
    assert!(file.contains("0.1") && !file.contains("0.2"), "{file}");
    assert_eq!(labelled(&reader(&store)), ["0.2"]);
    assert_eq!(store.read(FILE), file, "a reader writes nothing");
    let open = store.open();
    assert_eq!(labelled(&open), ["0.2"]);
    assert!(store.read(FILE).contains("0.2"));
    assert_eq!(open.notices(), [""; 0]);
    // The undo of an edit that the file did not know.
    open.undo(&name("notes"), 1, &stamp(10)).unwrap();
    assert_eq!(labelled(&open), ["0.1", "0.2"]);
}

#[test]
fn a_missing_or_damaged_file_is_made_again_and_kept_by_the_writer_only() {
    let store = Store::new();
    let open = store.open();
    for _ in 0..50 {
        edit(&open, &write("0.1", "clean"), &stamp(4));
        edit(&open, &write("0.1", "read"), &from("a"));
    }
    let labels = open.labels(&name("notes")).unwrap();
    drop(open);
    let index_too_large = r#"{"schema_version":2,"rev":5,"origins":[],"nodes":{"0.1":[0]}}"#;
    let newer_than_the_log = r#"{"schema_version":2,"rev":500,"origins":[],"nodes":{}}"#;
    let newer_version = r#"{"schema_version":3,"rev":103,"origins":[],"nodes":{}}"#;
    for damage in ["", "{", index_too_large, newer_version, newer_than_the_log] {
        store.write(FILE, damage);
        let read = reader(&store).labels(&name("notes")).unwrap();
        assert_eq!(read.nodes(), labels.nodes(), "{damage}");
        assert_eq!(store.read(FILE), damage);
        let open = store.open();
        let again = open.labels(&name("notes")).unwrap();
        assert_eq!(again.nodes(), labels.nodes(), "{damage}");
        assert!(store.read(FILE).contains("0.1"), "{damage}");
    }
    fs::remove_file(store.path(FILE)).unwrap();
    assert_eq!(labelled(&reader(&store)), ["0.1"]);
    let open = store.open();
    let before = open.read_counts().logs;
    for _ in 0..3 {
        assert_eq!(labelled(&open), ["0.1"]);
        let logs = open.read_counts().logs - before;
        assert_eq!(logs, 2, "it is made once: searched and followed");
    }
}

/// A backup brings an earlier block and its log back, and the labels stay.
#[test]
fn a_file_of_another_log_is_not_believed() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.1", "read"), &from("a"));
    let files = ["blocks/notes.json", "log/notes.jsonl"];
    let backup = files.map(|file| store.read(file));
    edit(&open, &write("0.1", "clean"), &by_model(None));
    edit(&open, &write("0.7", "read"), &from("b"));
    assert_eq!(labelled(&open), ["0.7"]);
    drop(open);
    let kept = store.read(FILE);
    let (new, bare) = (from("c"), by_model(None));
    let texts = [("0.3", &new), ("0.4", &new), ("0.5", &bare)];
    for count in [1, 2, 3] {
        for (file, bytes) in files.iter().zip(&backup) {
            store.write(file, bytes);
        }
        let open = store.open();
        for (path, stamp) in &texts[..count] {
            edit(&open, &write(path, "new"), stamp);
        }
        drop(open);
        store.write(FILE, &kept);
        let expected = &["0.1", "0.3", "0.4"][..=count.min(2)];
        assert_eq!(labelled(&store.open()), expected, "{count} edits");
    }
    // A file without labels says that none was there.
    let planted = r#"{"schema_version":1,"rev":7,"origins":[],"nodes":{}}"#;
    store.write(FILE, planted);
    assert_eq!(labelled(&reader(&store)), ["0.1", "0.3", "0.4"]);
    assert_eq!(labelled(&store.open()), ["0.1", "0.3", "0.4"]);
    // A person edits the file, and a reader finds it before the log knows of it.
    let file = store.read("blocks/notes.json").replace("two", "by hand");
    store.write("blocks/notes.json", file);
    let before = reader(&store);
    assert_eq!(labelled(&before), ["0.1", "0.3", "0.4"]);
}

#[test]
fn a_move_keeps_no_rows_for_its_undo() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.3.1", "read"), &from("a"));
    let path = |text: &str| text.parse().unwrap();
    for (from, to) in [("0.3", "0.5"), ("0.5", "0.6")] {
        let (from, to) = (path(from), path(to));
        edit(&open, &Op::Relocate { from, to }, &by_model(None));
    }
    assert_eq!(labelled(&open), ["0.6.1"]);
    assert!(!store.read(FILE).contains("replaced"));
    open.undo(&name("notes"), 2, &stamp(10)).unwrap();
    assert_eq!(labelled(&open), ["0.3.1"]);
    open.redo(&name("notes"), 1, &stamp(10)).unwrap();
    assert_eq!(labelled(&open), ["0.5.1"]);
}

/// The places of the two cannot be told apart.
#[test]
fn equal_texts_that_a_person_moves_have_the_origins_of_all() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.3", "ok"), &from("a"));
    edit(&open, &write("0.4", "ok"), &from("b"));
    assert_eq!(labelled(&open), ["0.3", "0.4"]);
    let mut block = Block::clone(&open.load(&name("notes")).unwrap().block);
    for (from, to) in [("0.3", "0.5"), ("0.4", "0.6")] {
        let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
        block.relocate(&from, &to).unwrap();
    }
    edit(&open, &Op::Replace { block }, &stamp(10));
    let labels = open.labels(&name("notes")).unwrap();
    let both = [page("a"), page("b")].into_iter().collect::<Origins>();
    for path in ["0.5", "0.6"] {
        assert_eq!(labels.at(&path.parse().unwrap()), Some(&both), "{path}");
    }
    assert_eq!(labels.nodes().len(), 2);
}

/// Without the block before, any text may have been moved.
#[test]
fn a_hand_edit_of_a_block_that_the_log_cannot_make_again_keeps_all_origins() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.3", "read"), &from("a"));
    assert_eq!(labelled(&open), ["0.3"]);
    drop(open);
    let log = store.read("log/notes.jsonl");
    let (_, rest) = log.split_once('\n').unwrap();
    store.write("log/notes.jsonl", format!("damage\n{rest}"));
    for backup in store.list("backups") {
        fs::remove_file(store.path("backups").join(backup)).unwrap();
    }
    let mut block = Block::parse(&store.read("blocks/notes.json")).unwrap();
    let (from, to) = ("0.3".parse().unwrap(), "0.5".parse().unwrap());
    block.relocate(&from, &to).unwrap();
    store.write("blocks/notes.json", block.to_file());
    assert_eq!(labelled(&store.open()), ["0", "0.1", "0.2", "0.5"]);
}

#[test]
fn entries_of_older_programs_have_labels_only_for_pages() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.1", "read"), &by_model(Some("a")));
    edit(&open, &write("0.2", "not read"), &by_model(None));
    edit(&open, &write("0.1", "clean"), &by_model(None));
    drop(open);
    let log = store.read("log/notes.jsonl");
    assert!(!log.contains("from\"") && !log.contains("\"n\":"), "{log}");
    let open = store.open();
    assert_eq!(labelled(&open), [""; 0]);
    open.undo(&name("notes"), 1, &stamp(10)).unwrap();
    assert_eq!(labelled(&open), ["0.1"]);
    // A person edits the file: that node alone loses its label.
    drop(open);
    let file = store
        .read("blocks/notes.json")
        .replace("not read", "by hand");
    store.write("blocks/notes.json", file);
    let open = store.open();
    assert_eq!(labelled(&open), ["0.1"]);
    open.undo(&name("notes"), 1, &stamp(11)).unwrap();
    assert_eq!(labelled(&open), ["0.1"]);
}

#[test]
fn labels_outlive_the_archives_of_their_entries() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.1", "read"), &from("a"));
    let long = ["c", "d"].map(|text| text.repeat(MAX_TEXT));
    for text in (0..).map(|at| &long[at % 2]) {
        edit(&open, &write("0.2", text), &stamp(5));
        let is_archive = |file: &String| file != "notes.jsonl" && file != "other.jsonl";
        if let Some(archive) = store.list("log").into_iter().find(is_archive) {
            // Nothing has asked for the labels yet.
            fs::remove_file(store.path("log").join(archive)).unwrap();
            break;
        }
    }
    drop(open);
    assert_eq!(labelled(&store.open()), ["0.1"]);
    assert_eq!(labelled(&reader(&store)), ["0.1"]);
}

#[test]
fn an_undo_of_an_edit_long_ago_restores_its_labels() {
    let store = Store::new();
    let open = store.open();
    edit(&open, &write("0.1", "read"), &from("a"));
    for number in 0..1_100 {
        edit(&open, &write("0.1", &format!("clean {number}")), &stamp(5));
    }
    assert_eq!(labelled(&open), [""; 0]);
    drop(open);
    let open = store.open();
    assert_eq!(labelled(&open), [""; 0]);
    open.undo(&name("notes"), 1_100, &stamp(6)).unwrap();
    assert_eq!(labelled(&open), ["0.1"]);
    open.redo(&name("notes"), 1_100, &stamp(6)).unwrap();
    assert_eq!(labelled(&open), [""; 0]);
    open.undo(&name("notes"), 1_100, &stamp(6)).unwrap();
    assert_eq!(labelled(&open), ["0.1"]);
}

#[test]
fn no_key_is_kept_as_an_origin() {
    let store = Store::new();
    let open = store.open();
    let url = "https://example.org/?key=sk-ant-api03-abcdefgh";
    let path: Path = "0.2".parse().unwrap();
    edit(&open, &write("0.1", "read"), &from(url));
    let block = Block::new("other");
    let labels = BTreeMap::from([(path, Origins::from(page(url)))]);
    edit(
        &open,
        &Op::Replace { block },
        &from(url).with_labels(labels),
    );
    open.labels(&name("notes")).unwrap();
    let kept = store.read("log/notes.jsonl") + &store.read(FILE);
    assert!(
        !kept.contains("sk-ant") && kept.contains(KEY_REMOVED),
        "{kept}"
    );
}

/// A random step.
#[derive(Debug, Clone)]
enum Step {
    Write(Path),
    Append,
    Remove(Path),
    Relocate(Path, Path),
    Grow,
    Undo(u32),
    Redo(u32),
    /// A person edits some texts, moves one and brings the whole block.
    Replace(Path, Path),
    Ask,
    Reopen,
}

fn some_path() -> impl Strategy<Value = Path> {
    let below = prop::collection::vec(0..4_u8, 0..4);
    below.prop_map(|below| Path::from_digits([0].into_iter().chain(below)).unwrap())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => some_path().prop_map(Step::Write),
        6 => Just(Step::Append),
        1 => some_path().prop_map(Step::Remove),
        2 => (some_path(), some_path()).prop_map(|(from, to)| Step::Relocate(from, to)),
        1 => Just(Step::Grow),
        2 => (1..4_u32).prop_map(Step::Undo),
        2 => (1..3_u32).prop_map(Step::Redo),
        1 => (some_path(), some_path()).prop_map(|(from, to)| Step::Replace(from, to)),
        2 => Just(Step::Ask),
        1 => Just(Step::Reopen),
    ]
}

/// A store, and the text of each write with its origins: no text is written twice.
struct Written {
    store: Store,
    open: Option<DirStore>,
    origins: BTreeMap<String, Origins>,
}

impl Written {
    /// A block of decimal 0 if it `is_flat`, with more revisions than labels are kept after if it `is_long`.
    fn new(is_flat: bool, is_long: bool) -> Self {
        let store = Store::new();
        let open = Some(store.open());
        let mut written = Self {
            store,
            open,
            origins: BTreeMap::new(),
        };
        if is_flat {
            let block = Block::parse(r#"{"decimal":0,"tree":{"_":"n"}}"#).unwrap();
            edit(written.open(), &Op::Replace { block }, &stamp(1));
        }
        for _ in 0..if is_long { 70 } else { 0 } {
            written.act(&Step::Write("0.2".parse().unwrap()));
        }
        written
    }

    fn open(&self) -> &DirStore {
        self.open.as_ref().unwrap()
    }

    /// A new text, and a stamp by a model that read a page, or did not.
    fn text(&mut self) -> (String, Stamp) {
        let number = self.origins.len();
        let text = format!("text {number}");
        let stamp = match number % 3 {
            0 => by_model(None),
            _ => from(&format!("page {}", number % 5)),
        };
        self.origins.insert(text.clone(), stamp.from.clone());
        (text, stamp)
    }

    fn summary(&mut self) -> (Summary, Stamp) {
        let (text, stamp) = self.text();
        let kind = SummaryKind::Summary;
        (Summary { kind, text }, stamp)
    }

    /// Appends; the texts of one operation have the same origins.
    fn append(&mut self) {
        let (text, stamp) = self.text();
        let mut op = append(&text, None);
        loop {
            let edited = self.open().edit(&name("notes"), None, &op, &stamp);
            let Ok(edited) = edited else { return };
            let Some(Applied::Appended(Appended::NeedsSummary { .. })) = edited.applied else {
                return;
            };
            let (summary, _) = self.summary();
            self.origins
                .insert(summary.text.clone(), stamp.from.clone());
            let (text, summary) = (text.clone(), Some(summary));
            op = Op::Append { text, summary };
        }
    }

    fn replace(&mut self, from: &Path, to: &Path) {
        let found = self.open().load(&name("notes")).unwrap();
        let mut block = Block::clone(&found.block);
        let _ = block.relocate(from, to);
        let text = format!("by hand {}", self.origins.len());
        if block.write(to, &text).is_ok() {
            self.origins.insert(text, Origins::default());
        }
        if found.rev.is_multiple_of(2) {
            // In the file, as a person with an editor does it.
            self.store.write("blocks/notes.json", block.to_file());
        } else {
            let by = stamp(20);
            let _ = self
                .open()
                .edit(&name("notes"), None, &Op::Replace { block }, &by);
        }
    }

    fn act(&mut self, step: &Step) {
        let notes = name("notes");
        match step {
            Step::Write(path) => {
                let (text, stamp) = self.text();
                let _ = self
                    .open()
                    .edit(&notes, None, &Op::Write { path: *path, text }, &stamp);
            }
            Step::Append => self.append(),
            Step::Remove(path) => {
                let path = *path;
                let _ = self
                    .open()
                    .edit(&notes, None, &Op::Remove { path }, &from("not a text"));
            }
            Step::Relocate(old, to) => {
                let op = Op::Relocate {
                    from: *old,
                    to: *to,
                };
                let _ = self.open().edit(&notes, None, &op, &from("not a text"));
            }
            Step::Grow => {
                let (summary, stamp) = self.summary();
                let _ = self
                    .open()
                    .edit(&notes, None, &Op::Grow { summary }, &stamp);
            }
            Step::Undo(count) => drop(self.open().undo(&notes, *count, &from("not a text"))),
            Step::Redo(count) => drop(self.open().redo(&notes, *count, &from("not a text"))),
            Step::Replace(from, to) => self.replace(from, to),
            Step::Ask => self.check(),
            Step::Reopen => {
                self.open = None;
                self.open = Some(self.store.open());
            }
        }
    }

    /// Every node has the label of its text, whatever happened to it.
    fn check(&self) {
        let labels = self.open().labels(&name("notes")).unwrap();
        let block = self.open().load(&name("notes")).unwrap().block;
        let mut expected = BTreeMap::new();
        for node in block.subtree(&Path::root(), None).unwrap() {
            let origins = node.text.as_ref().and_then(|text| self.origins.get(text));
            if let Some(origins) = origins.filter(|origins| !origins.is_empty()) {
                expected.insert(node.path, origins.clone());
            }
        }
        assert_eq!(*labels.nodes(), expected, "{}", block.to_file());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_label_follows_its_text_through_all_edits(
        is_flat: bool,
        is_long: bool,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut written = Written::new(is_flat, is_long);
        for step in &steps {
            written.act(step);
        }
        written.check();
        // From the log alone, with what is kept taken away.
        written.open = None;
        let _ = fs::remove_file(written.store.path(FILE));
        written.open = Some(written.store.open());
        written.check();
    }
}
