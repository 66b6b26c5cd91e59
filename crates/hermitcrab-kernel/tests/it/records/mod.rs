//! The records of an instance over years: numbers, archives, files of earlier versions and damage.

mod crash;
mod history_rolls;
mod pages;
mod policy;
mod policy_files;
mod rotation;
mod upgrade;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::place::Place;

const FILE: &str = "conversation.jsonl";
const AT: &str = "2026-11-20T14:00:00Z";

/// The text of a message by its number: odd ones are of the person, with a word that no other has.
fn text(n: u64, bytes: usize) -> String {
    let mut text = format!("<{n}>");
    while text.len() < bytes {
        text.push_str(" keel and tide");
    }
    text
}

/// The author and the message with this number, of about this size.
fn message(n: u64, bytes: usize) -> (&'static str, Value) {
    let (by, role) = [("model", "assistant"), ("person", "user")][(n % 2) as usize];
    let content = json!([{"kind": {"text": {"text": text(n, bytes)}}}]);
    (by, json!({"role": role, "content": content}))
}

/// A line of the current version.
fn line(n: u64, bytes: usize) -> String {
    let (by, message) = message(n, bytes);
    let line =
        json!({"message": {"schema_version": 4, "n": n, "at": AT, "by": by, "message": message}});
    format!("{line}\n")
}

/// Writes a file of `count` messages of about this size, of which those up to number `moved` have moved.
fn write_file(dir: &Path, count: u64, bytes: usize, moved: u64) {
    let mut lines: String = (1..=count).map(|n| line(n, bytes)).collect();
    let moved = json!({"moved": {"schema_version": 4, "n": moved}});
    lines.push_str(&moved.to_string());
    lines.push('\n');
    fs::write(dir.join(FILE), lines).unwrap();
}

/// The archives, by their first messages.
fn archives(dir: &Path) -> Vec<PathBuf> {
    let Ok(rows) = fs::read_dir(dir.join("conversation")) else {
        return Vec::new();
    };
    // A program that was killed may leave a draft, whose name begins with a dot.
    let is_archive = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gz");
    let paths = rows.map(|row| row.unwrap().path());
    let mut found: Vec<_> = paths.filter(is_archive).collect();
    found.sort_by_key(|path| range(path));
    found
}

/// The numbers in the name of an archive.
fn range(path: &Path) -> (u64, u64) {
    let name = path.file_name().unwrap().to_str().unwrap();
    let (first, last) = (name.strip_suffix(".jsonl.gz").unwrap().split_once('-')).unwrap();
    (first.parse().unwrap(), last.parse().unwrap())
}

fn unpacked(path: &Path) -> String {
    let bytes = durable::Disk::default().unpack(path, 64 << 20).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn live(dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(dir.join(FILE)).unwrap();
    (text.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The number in each text of the whole record, in its order.
fn marks(place: &Place) -> Vec<u64> {
    let record = place.kernel.record().unwrap();
    let texts = record.iter().map(|said| said.message.text());
    texts
        .filter_map(|text| text.strip_prefix('<')?.split_once('>')?.0.parse().ok())
        .collect()
}

/// The numbers that the tool gives for the whole record, a page after the other.
async fn numbers(place: &Place) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    loop {
        let from = found.last().map_or(1, |last| last + 1);
        let read = place.tool("conversation_read", json!({"from": from, "limit": 100}));
        let read = read.await.content;
        let messages = read["messages"].as_array().unwrap();
        if messages.is_empty() {
            assert_eq!(read["of"], json!(found.last().copied().unwrap_or(0)));
            return found;
        }
        found.extend(
            messages
                .iter()
                .map(|message| message["n"].as_u64().unwrap()),
        );
    }
}
