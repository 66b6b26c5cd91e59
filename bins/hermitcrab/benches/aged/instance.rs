//! A young instance, and one of years: the files that this program has after 10,000 turns.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use pscale_blocks::store::{Origin, Origins};
use pscale_blocks::{
    Appended, Block, BlockName, BlockStore, DirStore, EditAuthor, Op, Stamp, Summary, SummaryKind,
};
use serde_json::json;

use crate::program::Program;

/// Turns of the young instance, and the last ones of the aged one.
const YOUNG_TURNS: usize = 10;
/// Turns whose messages and costs are in archives, and those after them, which are still in the live files: these have
/// some three quarters of their limits, 1 MiB and 256 KiB.
const ARCHIVED_TURNS: u32 = 9_000;
const LIVE_TURNS: u32 = 1_000;
/// Entries in the memory of the aged instance, and in each of its blocks of history, of which only the last one is not full.
const MEMORIES: u32 = 7_000;
const HISTORY: [(&str, u32); 3] = [
    ("history", 3_600),
    ("history-2", 3_600),
    ("history-3", 2_500),
];
/// The begin of the head by which the program knows its blocks of history.
const HISTORY_HEAD: &str =
    "What was said in turns that are no longer shown, oldest first, clipped.";
/// The last entries of the memory, with labels or without.
const LABELLED: u32 = 200;
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
    program.chat(data, &"read memory\n".repeat(YOUNG_TURNS));
}

/// Makes the aged instance: one with a past, and then the turns of a young one.
pub fn make_aged(program: &Program, data: &Path) {
    let mut words = Words(23);
    program.chat(data, "");
    age_blocks(data, &mut words);
    // A start brings lines of an earlier version to its own form, and packs those of a long file.
    age_records(data, 0..ARCHIVED_TURNS, &mut words);
    program.chat(data, "");
    // Programs that are older than the archives have none.
    if let Ok(archives) = std::fs::read_dir(data.join("conversation")) {
        assert!(archives.count() > 1, "the past was not read");
    }
    let live = ARCHIVED_TURNS..ARCHIVED_TURNS + LIVE_TURNS;
    age_records(data, live, &mut words);
    make_young(program, data);
}

/// Makes an aged instance whose last memories, which each turn reads, have labels (`labelled`) or none. All else is equal.
pub fn make_read(program: &Program, data: &Path, labelled: bool) {
    make_aged(program, data);
    let store = DirStore::open(data).unwrap().without_fsync();
    let memory = BlockName::new("memory").unwrap();
    let mut words = Words(41);
    for n in 0..LABELLED {
        let web = Origin::Web {
            url: format!("https://{}.example/", n % 40),
        };
        let from = if labelled {
            web.into()
        } else {
            Origins::default()
        };
        let stamp = Stamp::new(time(ARCHIVED_TURNS + n), EditAuthor::Kernel).with_from(from);
        let op = Op::Append {
            text: words.text(120),
            summary: Some(Summary {
                kind: SummaryKind::Summary,
                text: words.text(100),
            }),
        };
        store.edit(&memory, None, &op, &stamp).unwrap();
    }
    drop(store);
    // The first start derives the labels from the log.
    program.chat(data, "read memory\n");
    let is_labelled = std::fs::read_to_string(data.join("labels/memory.json"))
        .is_ok_and(|labels| labels.contains("39.example"));
    assert_eq!(is_labelled, labelled, "the labels of memory");
}

/// The time of a past turn, some 20 minutes after the one before.
fn time(turn: u32) -> Timestamp {
    Timestamp::UNIX_EPOCH
        + SignedDuration::from_hours(24 * 365 * 55)
        + SignedDuration::from_mins(20 * i64::from(turn))
}

fn age_blocks(data: &Path, words: &mut Words) {
    let store = DirStore::open(data).unwrap().without_fsync();
    fill(&store, "memory", MEMORIES, 120, words);
    for (name, entries) in HISTORY {
        fill(&store, name, entries, 450, words);
    }
    let notes = BlockName::new("notes").unwrap();
    let stamp = |turn| Stamp::new(time(turn), EditAuthor::Person);
    (store.create(&notes, &Block::new("Notes of all kinds."), &stamp(0))).unwrap();
    for edit in 0..WRITES {
        let op = Op::Write {
            path: "0.1".parse().unwrap(),
            text: words.text(WRITTEN),
        };
        store.edit(&notes, None, &op, &stamp(edit)).unwrap();
    }
}

/// Fills a block with entries. The last edit is the one that its log ends with after years: an entry.
fn fill(store: &DirStore, name: &str, entries: u32, bytes: usize, words: &mut Words) {
    let name = BlockName::new(name).unwrap();
    let stamp = Stamp::new(time(0), EditAuthor::Kernel);
    if store.load(&name).is_err() {
        (store.create(&name, &Block::new(HISTORY_HEAD), &stamp)).unwrap();
    }
    let mut block = Block::clone(&store.load(&name).unwrap().block);
    for _ in 1..entries {
        append(&mut block, &words.text(bytes), words);
    }
    store
        .edit(&name, None, &Op::Replace { block }, &stamp)
        .unwrap();
    // Full groups ask for summaries first.
    for _ in 0..10 {
        let op = Op::Append {
            text: words.text(bytes),
            summary: Some(Summary {
                kind: SummaryKind::Summary,
                text: words.text(100),
            }),
        };
        store.edit(&name, None, &op, &stamp).unwrap();
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

/// Adds turns of the past to the conversation and the costs, in the lines of version 1, which every version reads.
fn age_records(data: &Path, turns: std::ops::Range<u32>, words: &mut Words) {
    let mut said = String::new();
    let mut calls = String::new();
    let messages = 2 * turns.len();
    for turn in turns {
        let at = time(turn);
        for (role, bytes) in [("user", 150), ("assistant", 350)] {
            let content = json!([{"kind": {"text": {"text": words.text(bytes)}}}]);
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
    let moved = json!({"moved": {"schema_version": 1, "messages": messages}});
    writeln!(said, "{moved}").unwrap();
    for (file, text) in [("conversation.jsonl", said), ("usage.jsonl", calls)] {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(data.join(file));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }
}
