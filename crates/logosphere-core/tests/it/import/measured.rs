//! The measures of imported messages, by recorded, assumed and unknown reads and by given parents.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use logosphere_core::import::{ImportPlan, Imported, ImportedRun, MOST_TEXT};
use logosphere_core::measures::lineage::{Lineage, Method};
use logosphere_core::measures::metrics::Metric;
use logosphere_core::measures::nulls::{Family, NullComparison, NullPlan, compare};
use logosphere_core::measures::verdict::{Verdict, VerdictCase};
use logosphere_core::{Transcript, measures};
use serde_json::json;

use super::{imported, jsonl, plan, run, written};
use crate::population;

/// A run of scripted minds as foreign messages with recorded reads; seed messages are those of a further author.
fn posts(mind: &str) -> (Transcript, String) {
    let settings = population::settings(mind, 5, 15, 20, 3);
    let seeds = [
        "the river keeps the bridge",
        "count the doors first",
        "salt remembers the sea",
    ];
    let run = population::run(&settings, &seeds.map(str::to_owned));
    let mut text = String::new();
    for (id, message) in run.messages.iter().enumerate() {
        let call = message.call.map(|call| &run.calls[call]);
        let author = call.map_or("seeds".to_owned(), |call| format!("mind {}", call.mind));
        let reads: Vec<u64> = call.map_or(Vec::new(), |call| {
            call.sampled.iter().map(|id| id.0).collect()
        });
        let line = json!({"id": id, "author": author, "text": message.text, "reads": reads});
        let _ = writeln!(text, "{line}");
    }
    (run, text)
}

fn null() -> NullPlan {
    NullPlan {
        runs: 199,
        ..NullPlan::default()
    }
}

fn compared(imported: &Imported) -> NullComparison {
    let null = null();
    compare(&run(imported).transcript, &null, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap()
}

#[test]
fn recorded_reads_are_tested_as_those_of_a_journal() {
    let (own, text) = posts("mutator:p=0.1");
    let found = imported(text.as_bytes(), false, ImportPlan::default()).unwrap();
    let foreign = run(&found).transcript;
    // The parents are those of the run, also with the seeds as messages of round 1.
    let parents = |run: &Transcript| -> Vec<_> {
        let lineage = Lineage::of(run);
        let nodes = lineage.nodes().iter();
        nodes
            .map(|node| node.parent().map(|parent| parent.id))
            .collect()
    };
    assert_eq!(parents(&own), parents(&foreign));
    let compared = compared(&found);
    assert_eq!(compared.assumption, None);
    let choice = compared.test("choice").unwrap();
    assert_eq!(choice.family, Family::Primary);
    let null = null();
    let of_run = compare(&own, &null, &mut |_| ControlFlow::Continue(())).unwrap();
    let of_run = of_run.test("choice").unwrap();
    assert!((choice.observed - of_run.observed).abs() < 1e-9);
}

#[test]
fn assumed_reads_make_choice_a_further_test() {
    let (_, text) = posts("mutator:p=0.1");
    let found = imported(text.as_bytes(), false, plan("window:5", "")).unwrap();
    let compared = compared(&found);
    let assumption = "each author read the 5 newest messages of other authors";
    assert_eq!(compared.assumption.as_deref(), Some(assumption));
    assert_eq!(compared.test("choice").unwrap().family, Family::Secondary);
    let primary = compared
        .tests
        .iter()
        .filter(|test| test.family == Family::Primary);
    assert_eq!(primary.count(), 1);
    let similarity = compared.test("tfidf_similarity").unwrap();
    assert_eq!(similarity.p, similarity.p_holm);
    let Verdict { case, sentence, .. } = compared.verdict.unwrap();
    assert!(matches!(case, VerdictCase::Drift | VerdictCase::Similarity));
    assert!(
        sentence.starts_with(&format!("Under the assumption that {assumption}: ")),
        "{sentence}"
    );
    assert!(!sentence.contains("choice"), "{sentence}");
}

#[test]
fn unknown_reads_are_not_tested() {
    let (_, text) = posts("copier:mu=0.1");
    let found = imported(text.as_bytes(), false, plan("none", "")).unwrap();
    let compared = compared(&found);
    assert!(compared.tests.is_empty());
    assert_eq!(compared.null.runs, 0);
    let sentence = compared.verdict.unwrap().sentence;
    assert_eq!(
        sentence,
        "Not tested: it is not known which messages each author read."
    );
    let plan = measures::AnalysisPlan::default();
    let analysis = measures::Analysis::of(&run(&found).transcript, &plan);
    assert!(
        analysis
            .metric(Metric::TfidfSimilarity)
            .unwrap()
            .mean
            .is_some()
    );
    assert!(
        analysis
            .metric(Metric::InputSimilarity)
            .unwrap()
            .mean
            .is_none()
    );
}

#[test]
fn given_parents_take_precedence_over_the_rule() {
    let text = "{\"id\":1,\"text\":\"the sea is wide\"}\n{\"id\":2,\"text\":\"other words here\"}\n\
        {\"id\":3,\"text\":\"the sea is wide\",\"parent\":2,\"reads\":[1]}\n{\"id\":4,\"text\":\"the sea is wide\",\"reads\":[1,2]}\n";
    let run = run(&jsonl(text).unwrap()).transcript;
    let lineage = Lineage::of(&run);
    let parents: Vec<_> = (lineage.nodes().iter())
        .map(|node| node.parent().map(|parent| (parent.id.0, parent.method)))
        .collect();
    let expected = [
        None,
        None,
        Some((1, Method::Given)),
        Some((0, Method::Exact)),
    ];
    assert_eq!(parents, expected);
    let summary = lineage.summary(&run, 3);
    assert_eq!(
        (summary.given, summary.exact, summary.innovations),
        (1, 1, 2)
    );
    assert_eq!(
        serde_json::to_value(lineage.nodes()[2].parents[0]).unwrap()["method"],
        "given"
    );
}

#[test]
fn null_runs_know_the_parents_that_the_data_names() {
    // Answers that have no word in common with what they answer: the rule alone finds no parent.
    let mut text = String::new();
    for id in 0..120_u32 {
        let words = format!("w{id} x{id} y{id}");
        let parent = (id > 1).then(|| id - 1 - id % 2);
        let reads: Vec<u32> = (id.saturating_sub(3)..id).collect();
        let line = json!({"id": id, "author": format!("p{}", id % 7), "text": words, "parent": parent, "reads": reads});
        let _ = writeln!(text, "{line}");
    }
    let found = jsonl(&text).unwrap();
    let compared = compared(&found);
    assert_eq!(compared.null.pairs, 118);
    // Null runs would have no contest, and any run would be far from them.
    let choice = compared.test("choice").unwrap();
    assert!(choice.median > 0.5, "{choice:?}");
}

#[test]
fn a_changed_file_is_refused_with_its_line() {
    let found =
        jsonl("{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"text\":\"b\",\"reads\":[1]}\n").unwrap();
    let whole = String::from_utf8(written(&found)).unwrap();
    for (old, new, expected) in [
        (
            "\"schema_version\":1",
            "\"schema_version\":2",
            "schema_version 2 is newer",
        ),
        ("\"type\":\"import\"", "\"type\":\"other\"", "line 1: "),
        (
            "\"messages\":2",
            "\"messages\":3",
            "expected 3 messages, found 2",
        ),
        ("\"id\":1", "\"id\":2", "line 3: the ids are not"),
        (
            "\"reads\":[0]",
            "\"reads\":[1]",
            "line 3: a parent or a read is not older",
        ),
        (
            "\"reads\":[0]",
            "\"reads\":[18446744073709551615]",
            "not older",
        ),
        ("\"round\":1,", "\"round\":2,", "line 3: the rounds go back"),
        ("\"text\":\"b\"", "\"text\":7", "line 3: "),
        (
            "\"schema_version\":1",
            "\"schema_version\":0",
            "line 1: schema_version: expected 1, found 0; import the files again",
        ),
        (
            "\"reads\":[0]",
            &format!("\"reads\":[0{}]", ",0".repeat(2000)),
            "line 3: expected each read once, found 0 twice; import the files again",
        ),
        (
            "\"parents\":[],\"reads\":[0]",
            "\"parents\":[0,0],\"reads\":[0]",
            "line 3: expected each parent once, found 0 twice; import",
        ),
        (
            "\"text\":\"b\"",
            "\"text\":\"\"",
            "line 3: text is missing or empty; expected 1 B to 1 MiB; import",
        ),
        (
            "\"text\":\"b\"",
            "\"text\":\" \\n\"",
            "line 3: text is blank; expected a visible character; import",
        ),
        (
            "\"text\":\"b\"",
            "\"text\":\"b\\u0000\"",
            "line 3: contains a NUL character; expected none; import",
        ),
        (
            "\"source_id\":\"2\"",
            "\"source_id\":\"\\u0000\"",
            "line 3: contains a NUL",
        ),
        (
            "\"text\":\"b\"",
            &format!("\"text\":\"{}\"", "b".repeat(MOST_TEXT + 1)),
            "line 3: text has 1048577 bytes; the most are 1048576; import",
        ),
    ] {
        assert!(whole.contains(old), "{old}");
        let altered = whole.replacen(old, new, 1);
        let error = ImportedRun::read(altered.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{new}: {error}");
    }
    assert!(ImportedRun::read(&b""[..]).is_err());
    assert!(ImportedRun::is_begun_by(whole.as_bytes()));
    assert!(!ImportedRun::is_begun_by(b"{\"type\":\"experiment_start\""));
}

/// Returns `count` messages of about 200 bytes, each a changed copy of one of the 15 before it.
fn many(count: usize) -> String {
    let mut texts: Vec<Vec<String>> = Vec::new();
    let mut lines = String::new();
    for id in 0..count {
        let mut words = match id.checked_sub(1 + (id * 7919) % 15) {
            Some(parent) => texts[parent].clone(),
            None => (0..34)
                .map(|at| format!("word{}", (id * 34 + at) % 500))
                .collect(),
        };
        words[id * 31 % 34] = format!("new{}", id % 1000);
        let line = json!({"id": id, "author": format!("p{}", id % 40), "time": 1_767_000_000 + id, "text": words.join(" ")});
        let _ = writeln!(lines, "{line}");
        texts.push(words);
    }
    lines
}

/// A reader of a few bytes at a time.
struct SlowReader<'a>(&'a [u8]);
impl std::io::Read for SlowReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = buffer.len().min(self.0.len()).min(777);
        buffer[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}

#[test]
fn thousands_of_lines_are_streamed_to_the_same_bytes() {
    let text = many(3000);
    let mut on_line = || ControlFlow::Continue(());
    let mut import = logosphere_core::import::Import::new(plan("window:15", ""), &mut on_line);
    import
        .add_jsonl("m.jsonl", SlowReader(text.as_bytes()))
        .unwrap();
    let slow = written(&import.finish().unwrap());
    let whole = imported(text.as_bytes(), false, plan("window:15", "")).unwrap();
    assert_eq!(slow, written(&whole));
    let run = ImportedRun::read(&slow[..]).unwrap();
    assert_eq!(run.transcript.messages.len(), 3000);
    assert_eq!(
        (run.transcript.rounds.len(), run.transcript.active),
        (60, 15)
    );
}

/// Writes the file of the goal: 100,000 posts of 200 B. `logosphere import` and `analyze` of a release build are timed by
/// hand on it.
#[test]
#[ignore = "writes 30 MB for a measurement"]
fn a_hundred_thousand_posts_are_written() {
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/posts-100000.jsonl");
    std::fs::write(path, many(100_000)).unwrap();
}
