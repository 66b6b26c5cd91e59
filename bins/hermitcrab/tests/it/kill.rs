//! Processes that are killed in the middle of an edit, again and again: the next one starts, and nothing that was
//! reported is lost.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Place, Ran, start};

/// At least so many processes are killed, and so many report what they did.
const KILLED: u32 = 40;
const REPORTED: usize = 20;
/// More than it takes.
const MOST: u32 = 1000;

/// Numbers without a pattern, from a seed (`SplitMix64`).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A share of a span.
    fn share_of(&mut self, span: Duration) -> Duration {
        span.mul_f64(self.next() as f64 / u64::MAX as f64)
    }
}

/// The numbers of the entries in the block, in order.
fn entries(place: &Place) -> Vec<u32> {
    let read = place.json(&["block", "read", "memory"]);
    let texts = read["nodes"].as_array().unwrap().iter();
    let texts = texts.filter_map(|step| step["text"].as_str());
    let numbers = texts.filter_map(|text| text.strip_prefix("entry "));
    numbers.map(|number| number.parse().unwrap()).collect()
}

/// The entry, and a summary in case that nine are full.
fn append(place: &Place, number: u32) -> std::process::Command {
    let (text, summary) = (format!("entry {number}"), format!("up to {number}"));
    place.command(&[
        "block",
        "append",
        "memory",
        &text,
        "--summary",
        &summary,
        "--json",
    ])
}

#[test]
fn an_edit_that_was_reported_outlives_every_kill() {
    let place = Place::with_block("memory", "What I remember.", &["entry 0"]);
    let begun = Instant::now();
    let whole = start(&mut append(&place, 1)).wait_with_output().unwrap();
    Ran::from(whole).exits(0);
    let mut span = begun.elapsed();

    let mut draws = Draws(20_261_122);
    let mut reported = vec![0, 1];
    let mut killed = 0;
    for number in 2.. {
        if killed >= KILLED && reported.len() >= REPORTED {
            break;
        }
        assert!(
            number < MOST,
            "{killed} killed, {} reported",
            reported.len()
        );
        let delay = draws.share_of(span);
        let mut child = start(&mut append(&place, number));
        let begun = Instant::now();
        while begun.elapsed() < delay {
            thread::yield_now();
        }
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        // A machine gets busier and quieter: the next one is killed later, or earlier.
        if output.status.code().is_none() {
            killed += 1;
            span = span.mul_f64(1.05);
        } else {
            span = span.mul_f64(0.95);
        }
        let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        if answer.is_some_and(|answer| answer["path"].is_string()) {
            reported.push(number);
        }
        // What was not reported may be in, or come in when the next process repairs the block by its log.
        let kept = entries(&place);
        assert!(kept.is_sorted_by(|a, b| a < b), "{kept:?}");
        let lost: Vec<_> = reported
            .iter()
            .filter(|number| !kept.contains(number))
            .collect();
        assert!(
            lost.is_empty(),
            "{lost:?} lost by process {number}: {kept:?}"
        );
        assert!(kept.last() <= Some(&number), "{kept:?}");
        place.run(&["block", "log", "memory"]).exits(0);
    }
    // The history is whole: it can be taken back to the first entry.
    place
        .run(&["block", "undo", "memory", "--count", "1000"])
        .exits(0);
    assert_eq!(entries(&place), [0_u32; 0]);
}
