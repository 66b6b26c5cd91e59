//! The processor that `watch` takes of a run which writes ten events a second.
//!
//! `cargo bench -p logosphere --bench watch` prints one JSON object a line: for runs that begin with 1,000 and with 100,000 messages the
//! seconds of the first reading, and the share of a core after it, over ten seconds (goal 0.02). Numbers as arguments take runs of
//! that many messages instead.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../tests/it/terminal.rs"]
#[expect(dead_code, reason = "tests use all of it")]
mod terminal;

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use logosphere_core::experiment::Experiment;
use serde_json::json;

/// The events that are written while `watch` is measured, ten a second.
const EVENTS: usize = 100;
const MINDS: usize = 10;

fn main() {
    let chosen: Vec<usize> = (std::env::args().skip(1))
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if chosen.is_empty() {
        vec![1_000, 100_000]
    } else {
        chosen
    };
    for messages in sizes {
        measure(messages);
    }
}

fn logosphere(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_logosphere"));
    command.args(line.split(' ')).current_dir(folder);
    command
}

fn measure(messages: usize) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let journal = run(folder, messages);
    let mut lines: Vec<&str> = journal.split_inclusive('\n').collect();
    // The last lines would end the run.
    lines.truncate(lines.len() - EVENTS);
    let later = lines.split_off(lines.len() - EVENTS);

    let path = folder.join("W");
    fs::create_dir_all(path.join("logs")).unwrap();
    fs::copy(folder.join("E/init.md"), path.join("init.md")).unwrap();
    fs::write(path.join("logs/experiment.jsonl"), lines.concat()).unwrap();
    let _lock = Experiment::open(&path)
        .unwrap()
        .lock(std::process::id())
        .unwrap();
    let mut file = OpenOptions::new();
    let mut file = file.append(true).open(path.join("logs/experiment.jsonl"));
    let file = file.as_mut().unwrap();

    let mut watch = logosphere(folder, "watch W");
    let (mut child, mut screen) = terminal::begin(&mut watch, (80, 24), true);
    let begun = Instant::now();
    let mut bytes = vec![0; 1 << 16];
    let _ = screen.read(&mut bytes).unwrap();
    let first = begun.elapsed();
    thread::spawn(move || while screen.read(&mut bytes).is_ok() {});
    let before = processor(child.id());
    let begun = Instant::now();
    for (line, at) in later.iter().zip(1..) {
        file.write_all(line.as_bytes()).unwrap();
        thread::sleep((Duration::from_millis(100) * at).saturating_sub(begun.elapsed()));
    }
    let (took, wall) = (
        processor(child.id()) - before,
        begun.elapsed().as_secs_f64(),
    );
    let ended = child.try_wait().unwrap();
    assert!(ended.is_none(), "watch ended before the run: {ended:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    println!(
        "{}",
        json!({"messages": messages, "first_frame_s": first.as_secs_f64(), "events": EVENTS, "seconds": wall, "processor_s": took, "share_of_a_core": took / wall, "goal": 0.02})
    );
}

/// Makes the run `E` with this many messages of about 20 words, and returns its journal.
fn run(folder: &Path, messages: usize) -> String {
    fs::create_dir(folder.join("E")).unwrap();
    let seed = |number: usize| {
        let words = (0..20).map(|word| format!("word{}", (number * 7 + word * word) % 200));
        words.collect::<Vec<_>>().join(" ")
    };
    let seeds: Vec<String> = (0..15).map(seed).collect();
    let init = format!(
        "Seeds of a benchmark.\n---\n{}\n---\n\n---\n~init\n",
        seeds.join("\n---\n")
    );
    fs::write(folder.join("E/init.md"), init).unwrap();
    let rounds = messages / MINDS;
    let line = format!("run E --rounds {rounds} --minds {MINDS} --mind mutator:p=0.05 --seed 1 -q");
    assert!(logosphere(folder, &line).status().unwrap().success());
    fs::read_to_string(folder.join("E/logs/experiment.jsonl")).unwrap()
}

/// The seconds that a process has had a processor, in steps of 10 ms.
fn processor(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .map(|ticks| ticks.parse::<f64>().unwrap())
        .sum::<f64>()
        / 100.0
}
