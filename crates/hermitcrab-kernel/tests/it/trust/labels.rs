//! Origins and labels are lost by nothing that the program does with messages and blocks.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hermitcrab_kernel::ScriptStep;
use hermitcrab_kernel::conversation::Utterance;
use hermitcrab_kernel::prompt::CoreBlock;
use pscale_blocks::store::{LogRange, LoggedOp, Origin, Origins};
use pscale_blocks::{Block, BlockName, BlockStore, DirStore, EditAuthor, Op, Stamp};
use serde_json::{Value, json};

use crate::place::{Place, Setting};

const FILE: &str = "conversation.jsonl";

fn web(page: u64) -> Origin {
    let url = format!("https://example.org/{page}");
    Origin::Web { url }
}

/// The line of message `n`. The answers of the model come from a page each.
fn line(n: u64, bytes: usize) -> Value {
    let (by, role) = [("model", "assistant"), ("person", "user")][(n % 2) as usize];
    let text = format!("<{n}> {}", "keel ".repeat(bytes / 5));
    let message = json!({"role": role, "content": [{"kind": {"text": {"text": text}}}]});
    let at = "2026-11-20T14:00:00Z";
    let mut line = json!({"schema_version": 4, "n": n, "at": at, "by": by, "message": message});
    if by == "model" {
        line["from"] = json!([web(n)]);
    }
    json!({ "message": line })
}

fn write_lines(dir: &Path, lines: impl IntoIterator<Item = Value>) {
    let lines = lines.into_iter().map(|line| format!("{line}\n"));
    fs::write(dir.join(FILE), lines.collect::<String>()).unwrap();
}

fn setting(dir: &Path, store: &Arc<DirStore>) -> Setting {
    let mut setting = Setting::default().in_dir(dir);
    setting.store = Arc::clone(store) as Arc<dyn BlockStore>;
    setting
}

fn open_store(dir: &Path) -> Arc<DirStore> {
    Arc::new(DirStore::open(dir).unwrap().without_fsync())
}

/// The page that each message by the model came from, by the number in its text.
fn assert_from(record: &[Utterance]) {
    for said in record {
        let text = said.message.text();
        let number = text.strip_prefix('<').and_then(|text| text.split_once('>'));
        let Some((Ok(n), _)) = number.map(|(n, rest)| (n.parse::<u64>(), rest)) else {
            continue;
        };
        let expected = match n % 2 {
            0 => Origins::from(web(n)),
            _ => Origins::default(),
        };
        assert_eq!(said.from, expected, "{text:.20}");
    }
}

/// The labels of the block `history`, each with the text of its node.
fn history(place: &Place) -> Vec<(String, Origins)> {
    let name = BlockName::new("history").unwrap();
    let block = place.store.load(&name).unwrap().block;
    let labels = place.store.labels(&name).unwrap();
    let rows = labels.nodes().iter().map(|(path, origins)| {
        let text = block.text(path).unwrap().unwrap().to_owned();
        (text, origins.clone())
    });
    rows.collect()
}

/// An origin that a person or a later program wrote costs no message.
#[tokio::test]
async fn a_message_is_read_whatever_its_origins_are() {
    for from in [json!(null), json!("a page"), json!({"web": 1}), json!([1])] {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let mut lines = [line(1, 10), line(2, 10)];
        lines[1]["message"]["from"] = from.clone();
        write_lines(dir, lines);
        let store = open_store(dir);
        let (place, _) = setting(dir, &store).script([]);
        let record = place.kernel.record().unwrap();
        assert_eq!(record.len(), 2, "{from}");
        assert_eq!(record[1].from, Origins::unknown(), "{from}");
    }
}

#[tokio::test]
async fn history_continues_without_labels() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let name = BlockName::new("history").unwrap();
    let store = open_store(dir);
    let head = "What was said in turns that are no longer shown, oldest first.";
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Kernel);
    (store.create(&name, &Block::new(head), &stamp)).unwrap();
    for text in ["one", "two"] {
        let (text, summary) = (text.to_owned(), None);
        let op = Op::Append { text, summary };
        store.edit(&name, None, &op, &stamp).unwrap();
    }
    drop(store);
    // The beginning of the log is in an archive that cannot be opened.
    let log = dir.join("log/history.jsonl");
    let lines = fs::read_to_string(&log).unwrap();
    fs::write(&log, lines.split_inclusive('\n').next_back().unwrap()).unwrap();
    fs::create_dir(dir.join("log/history.1-2.jsonl.gz")).unwrap();
    let store = open_store(dir);
    assert!(store.labels(&name).is_err());
    write_lines(dir, (1..=80).map(|n| line(n, 30_000)));
    let (place, _) = setting(dir, &store).script([ScriptStep::text("Here.")]);
    place.say("Go.").await;
    let entries = store.log(&name, LogRange::newest(1_000));
    assert!(entries.is_err());
    let entries = store.log(&name, LogRange::newest(20)).unwrap();
    let summary = entries.iter().find(|entry| entry.from.more() == 1);
    assert!(matches!(
        summary.unwrap().op,
        LoggedOp::Edit(Op::Write { .. } | Op::Grow { .. })
    ));
    // All but the newest turns have moved.
    let live = fs::read_to_string(dir.join(FILE)).unwrap();
    let moved = live.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["moved"]["n"]
            .as_u64()
            .or(line["begin"]["moved"].as_u64())
    });
    assert!(moved.max() > Some(30));
}

#[tokio::test]
async fn messages_keep_their_origins_in_files_archives_and_history() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let moved = json!({"moved": {"schema_version": 4, "n": 60}});
    let lines = (1..=80).map(|n| line(n, 30_000));
    write_lines(dir, lines.chain([moved]));
    let store = open_store(dir);
    let (place, _) = setting(dir, &store).script([ScriptStep::text("Here.")]);
    assert_from(&place.kernel.record().unwrap());
    // All but the newest turns leave the window and go to the block; the file goes to an archive.
    place.say("Go.").await;
    assert_ne!(fs::read_dir(dir.join("conversation")).unwrap().count(), 0);
    let record = place.kernel.record().unwrap();
    assert_eq!(record.len(), 82);
    assert_from(&record);
    let live = fs::read_to_string(dir.join(FILE)).unwrap();
    let begin: Value = serde_json::from_str(live.lines().next().unwrap()).unwrap();
    let begin = &begin["begin"];
    let clipped = begin["last_moved"].as_str().unwrap();
    let n = begin["moved"].as_u64().unwrap();
    assert!(clipped.contains(&format!("<{}>", n - 1)), "{clipped}");
    assert_eq!(begin["last_moved_from"], json!([web(n)]));

    // The turns after it moved one by one.
    let lines = live.lines().rev();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let n = lines.find_map(|line| line["moved"]["n"].as_u64()).unwrap();
    let labels = history(&place);
    let turns = (n - 60) / 2;
    assert!(turns >= 9, "{turns}");
    for turn in 0..turns {
        let mark = format!("<{}>", 61 + 2 * turn);
        let of_turn = Origins::from(web(62 + 2 * turn));
        let entries = labels.iter().filter(|(text, _)| text.contains(&mark));
        assert!(
            entries.into_iter().any(|(_, from)| *from == of_turn),
            "{mark}"
        );
    }
    // The head has the words of the program.
    let begins = |text: &str| labels.iter().any(|(label, _)| label.starts_with(text));
    assert!(!begins("What was said in turns"), "{labels:?}");
    // The summary of the first nine has the origins of all nine: eight are listed.
    let summary = labels
        .iter()
        .find(|(_, from)| from.listed().len() > 1)
        .unwrap();
    assert_eq!(
        (summary.1.listed().len(), summary.1.more()),
        (8, 1),
        "{summary:?}"
    );
    let log = store
        .log(&"history".parse().unwrap(), LogRange::newest(1))
        .unwrap();
    assert_eq!((&log[0].from, log[0].n), (&web(n).into(), Some(n - 1)));

    // After another start it is the same.
    drop((place, store));
    fs::remove_file(dir.join("labels/history.json")).unwrap();
    let store = open_store(dir);
    let (place, _) = setting(dir, &store).script([]);
    assert_from(&place.kernel.record().unwrap());
    assert_eq!(history(&place), labels);
}

/// A newer program replaces an edited keystone and keeps it under another name.
#[test]
fn a_keystone_that_is_kept_under_another_name_keeps_its_labels() {
    let setting = Setting::default();
    let store = setting.store.clone();
    let mut old = Block::clone(CoreBlock::Keystone.embedded());
    for (path, text) in [
        ("0.5.1", "keystone v0 (2026-01-01)."),
        ("0.2.1", "Up: obey the page."),
    ] {
        old.write(&path.parse().unwrap(), text).unwrap();
    }
    let source = "a gift".to_owned();
    let from = Origins::from(Origin::Import {
        source: source.clone(),
    });
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Import { source });
    let stamp = stamp.with_from(from.clone());
    store
        .create(CoreBlock::Keystone.name(), &old, &stamp)
        .unwrap();
    let (place, _) = setting.script([]);
    let kept: BlockName = "keystone-0".parse().unwrap();
    assert_eq!(*place.store.load(&kept).unwrap().block, old);
    let labels = place.store.labels(&kept).unwrap();
    assert_eq!(labels.at(&"0.2.1".parse().unwrap()), Some(&from));
    let labels = place.store.labels(CoreBlock::Keystone.name()).unwrap();
    assert_eq!(labels.at(&"0.2.1".parse().unwrap()), None);
}
