//! A young instance, and one of years: the same one after 10,000 turns.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use pscale_blocks::{
    Appended, Block, BlockName, BlockStore, DirStore, EditAuthor, Op, Stamp, Summary, SummaryKind,
};
use serde_json::{Value, json};

use crate::program::Program;

/// Turns of the young instance, and those that the aged one had before them.
const YOUNG_TURNS: u32 = 10;
const TURNS: u32 = 10_000;
/// Entries in the memory of the aged instance, and in its block `history`.
const MEMORIES: u32 = 7_000;
const MOVED: u32 = 2_500;
/// Writes of 6 KB to one block: 30 MiB of its log.
const WRITES: u32 = 2_600;
const WRITTEN: usize = 6_000;

/// Words in a seeded order: every run of the bench has the same instances.
struct Words(u64);

impl Words {
    /// A number below `limit`, by splitmix64.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % limit
    }

    /// A text of about this number of bytes.
    fn text(&mut self, bytes: usize) -> String {
        const WORDS: [&str; 12] = [
            "ferry", "tide", "keel", "winter", "crossing", "ledger", "calm", "north", "rope",
            "harbour", "lantern", "oak",
        ];
        let mut text = format!(
            "{} {}",
            WORDS[self.below(WORDS.len())],
            self.below(1_000_000)
        );
        while text.len() < bytes {
            text.push(' ');
            text.push_str(WORDS[self.below(WORDS.len())]);
        }
        text
    }
}

/// Makes a young instance by ten turns of the offline script.
pub fn make_young(program: &Program, data: &Path) {
    let mut lines = String::new();
    for turn in 0..YOUNG_TURNS {
        writeln!(lines, "read memory, turn {turn}").unwrap();
    }
    program.chat(data, &lines);
}

/// Makes the aged instance: what `young` is, with a past.
pub fn make_aged(young: &Path, data: &Path) {
    copy(young, data);
    let mut words = Words(23);
    age_blocks(data, &mut words);
    age_records(data, &mut words);
}

/// Copies a folder.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The time of a past turn, some 20 minutes after the one before.
fn time(turn: u32) -> Timestamp {
    Timestamp::UNIX_EPOCH
        + SignedDuration::from_hours(24 * 365 * 55)
        + SignedDuration::from_mins(20 * i64::from(turn))
}

fn age_blocks(data: &Path, words: &mut Words) {
    let store = DirStore::open(data).unwrap().without_fsync();
    let [memory, history, notes] =
        ["memory", "history", "notes"].map(|name| BlockName::new(name).unwrap());
    let stamp = |turn| Stamp::new(time(turn), EditAuthor::Person);
    let mut block = Block::clone(&store.load(&memory).unwrap().block);
    for _ in 0..MEMORIES {
        append(&mut block, &words.text(120), words);
    }
    let op = Op::Replace { block };
    store.edit(&memory, None, &op, &stamp(0)).unwrap();
    let mut block = Block::clone(&store.load(&history).unwrap().block);
    for _ in 0..MOVED {
        append(&mut block, &words.text(300), words);
    }
    let op = Op::Replace { block };
    store.edit(&history, None, &op, &stamp(0)).unwrap();
    (store.create(&notes, &Block::new("Notes of all kinds."), &stamp(0))).unwrap();
    for edit in 0..WRITES {
        let op = Op::Write {
            path: "0.1".parse().unwrap(),
            text: words.text(WRITTEN),
        };
        store.edit(&notes, None, &op, &stamp(edit)).unwrap();
    }
}

/// Appends an entry, with a summary where one is asked for.
fn append(block: &mut Block, text: &str, words: &mut Words) {
    let mut summary = None;
    while let Appended::NeedsSummary { .. } = block.append(text, summary.take()).unwrap() {
        summary = Some(Summary {
            kind: SummaryKind::Summary,
            text: words.text(100),
        });
    }
}

/// Puts the past before what the conversation and the costs have, in the lines of version 1, which every version reads.
fn age_records(data: &Path, words: &mut Words) {
    let mut said = String::new();
    let mut calls = String::new();
    for turn in 0..TURNS {
        let at = time(turn);
        for (role, bytes) in [("user", 150), ("assistant", 350)] {
            let content = json!([{"type": "text", "text": words.text(bytes)}]);
            let message = json!({"role": role, "content": content});
            let line = json!({"message": {"schema_version": 1, "at": at, "message": message}});
            writeln!(said, "{line}").unwrap();
        }
        let call = json!({
            "schema_version": 1, "at": at, "model": "claude-opus-5", "input": 1_200 + words.below(900),
            "cached_read": 3_000, "cached_write": 0, "output": words.below(600), "usd": 0.021,
            "cost_from": "provider",
        });
        writeln!(calls, "{call}").unwrap();
    }
    let moved = json!({"moved": {"schema_version": 1, "messages": 2 * TURNS}});
    writeln!(said, "{moved}").unwrap();
    for (file, mut text) in [("conversation.jsonl", said), ("usage.jsonl", calls)] {
        let path = data.join(file);
        let young = fs::read_to_string(&path).unwrap_or_default();
        text.extend(young.lines().map(renumbered));
        fs::write(path, text).unwrap();
    }
}

/// A line of the young instance after the messages of the past: their numbers come first.
fn renumbered(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    for content in line.as_object_mut().unwrap().values_mut() {
        if let Some(n) = content.get("n").and_then(Value::as_u64) {
            content["n"] = json!(n + u64::from(2 * TURNS));
        }
    }
    format!("{line}\n")
}
