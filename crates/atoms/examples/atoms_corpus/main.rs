//! Measures a corpus in a JSON file: what is found of planted corruptions, and false alarms of faithful paraphrases.
//!
//! `cargo run -p orrery-atoms --example atoms_corpus -- FILE [WORDS]`, where WORDS has the common words, one a line. It ends
//! with 1 below the goals: 95 % found, 90 % of each kind; false alarms of at most 5 % of all paraphrases and 10 % of free ones.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example is a program: it has arguments and prints"
)]

mod measure;

use std::collections::HashSet;
use std::error::Error;
use std::fs::read_to_string;
use std::process::ExitCode;

use measure::{Corpus, Count};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("expected a corpus file")?;
    let corpus: Corpus = serde_json::from_str(&read_to_string(file)?)?;
    let words = arguments
        .next()
        .map(read_to_string)
        .transpose()?
        .unwrap_or_default();
    let words: HashSet<&str> = words.lines().collect();
    let measured = corpus.measure(&|word: &str| words.contains(word))?;

    for line in &measured.wrong {
        println!("{line}");
    }
    let print = |name: &str, count: Count| println!("{name:24} {} of {}", count.found, count.all);
    for (kind, count) in &measured.kinds {
        print(kind, *count);
    }
    print("found", measured.corruptions);
    print("false alarms", measured.paraphrases);
    print("of them rewritten freely", measured.free);
    let is_good = measured.corruptions.is_at_least(95)
        && measured.kinds.values().all(|count| count.is_at_least(90))
        && measured.paraphrases.is_at_most(5)
        && measured.free.is_at_most(10);
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
