//! The files of the Python program of 2026-01-02: a journal made by its rules is read, and an altered one is not.

use std::ops::ControlFlow;

use logosphere_core::import::{
    Import, ImportError, ImportPlan, Imported, OldJournalError, ReferenceMetrics,
};
use logosphere_core::journal::is_legacy;
use logosphere_core::verify::Exposure;
use serde_json::{Value, json};

use super::{plan, run};
use crate::scripted_run::ids;

const INIT: &str = "notes\n---\nfirst seed\n---\nsecond seed\n---\n\n---\n~init\n";

/// A run of two minds by the old program's rules, written down by hand: its journal has nothing but the requirement's
/// fields, and local times.
fn log() -> Vec<Value> {
    let seeds = ["first seed\n\n~init", "second seed\n\n~init"];
    let call = |round: u32,
                mind: u32,
                input: &[&str],
                raw: &str,
                thinking: &str,
                sent: &[&str],
                signature: &str| {
        json!({"type": "mind_invocation", "timestamp": "2026-01-02T10:00:01.5", "round": round, "mind_id": mind,
            "input_messages": input, "thinking": thinking, "transmitted": sent, "completed": !raw.contains("endless"),
            "signature": signature, "tokens_used": 10, "raw_output": raw})
    };
    vec![
        json!({"type": "experiment_start", "timestamp": "2026-01-02T10:00:00.1",
            "config": {"N_MINDS": 2, "K_SAMPLES": 2, "M_ACTIVE_POOL": 2, "MAX_ROUNDS": 2, "TOKEN_LIMIT": 2000, "MODEL": "m"},
            "init_signature": "~init", "num_seed_messages": 2}),
        json!({"type": "round_start", "timestamp": "2026-01-02T10:00:00.2", "round": 1, "pool_size": 2, "active_pool_size": 2}),
        call(
            1,
            0,
            &[seeds[1], seeds[0]],
            "\n\nhm\n---\nhello\n---\n\n---\n~ann\n",
            "hm",
            &["hello\n\n~ann"],
            "~ann",
        ),
        call(
            1,
            1,
            &["hello\n\n~ann", seeds[1]],
            "t\n---\nendless",
            "t",
            &[],
            "",
        ),
        json!({"type": "round_end", "timestamp": "2026-01-02T10:00:03", "round": 1, "messages_added": 1, "pool_delta": ["hello\n\n~ann"]}),
        json!({"type": "round_start", "timestamp": "2026-01-02T10:00:04", "round": 2, "pool_size": 3, "active_pool_size": 2}),
        call(
            2,
            0,
            &["hello\n\n~ann", seeds[1]],
            "---\na\n---\nb\n---\n\n---",
            "",
            &["a", "b"],
            "",
        ),
        call(2, 1, &["b", "a"], "x\n---\n\n---", "x", &[], ""),
        json!({"type": "round_end", "timestamp": "2026-01-02T10:00:06", "round": 2, "messages_added": 2, "pool_delta": ["a", "b"]}),
        json!({"type": "experiment_end", "timestamp": "2026-01-02T10:00:07", "total_rounds": 2, "final_pool_size": 5, "total_tokens": 40}),
    ]
}

fn text(log: &[Value]) -> String {
    log.iter()
        .flat_map(|event| [event.to_string(), "\n".to_owned()])
        .collect()
}

fn read(journal: &str, plan: ImportPlan) -> Result<Imported, ImportError> {
    let mut on_line = || ControlFlow::Continue(());
    let mut import = Import::new(plan, &mut on_line);
    import.add_old_journal("old.jsonl", journal.as_bytes(), INIT)?;
    import.finish()
}

#[test]
fn one_that_holds_is_read_as_a_run() {
    let journal = text(&log());
    let found = read(&journal, ImportPlan::default()).unwrap();
    assert!(!found.is_unended);
    assert_eq!(found.header.exposure, Exposure::Recorded);
    assert_eq!(found.header.round.to_string(), "recorded");
    assert_eq!(found.header.active, Some(2));
    let authors: Vec<&str> = found.messages.iter().map(|m| m.author.as_str()).collect();
    assert_eq!(authors, ["a00", "a00", "a01", "a01", "a01"]);
    let run = run(&found).transcript;
    assert_eq!(
        (run.minds, run.samples, run.active, run.seeds),
        (1, 2, 2, 2)
    );
    let texts: Vec<&str> = run.messages.iter().map(|m| m.text.as_str()).collect();
    let expected = [
        "first seed\n\n~init",
        "second seed\n\n~init",
        "hello\n\n~ann",
        "a",
        "b",
    ];
    assert_eq!(texts, expected);
    // Calls without a message are not imported.
    let calls: Vec<_> = (run.calls.iter())
        .map(|call| {
            let of = (call.round.0, call.mind.0);
            (of, call.sampled.clone(), call.added.clone())
        })
        .collect();
    assert_eq!(
        calls,
        [
            ((1, 0), ids(&[1, 0]), ids(&[2])),
            ((2, 0), ids(&[2, 1]), ids(&[3, 4])),
        ]
    );
    let rounds = run
        .rounds
        .iter()
        .map(|round| (round.round.0, round.pool_size));
    assert_eq!(rounds.collect::<Vec<_>>(), [(1, 3), (2, 5)]);
    let windows = INIT.replace('\n', "\r\n");
    let mut on_line = || ControlFlow::Continue(());
    let mut import = Import::new(ImportPlan::default(), &mut on_line);
    import
        .add_old_journal("old.jsonl", journal.as_bytes(), &windows)
        .unwrap();

    let first = |journal: &str| is_legacy(journal.lines().next().unwrap());
    assert!(first(&journal));
    assert!(!first(
        "{\"type\":\"experiment_start\",\"schema_version\":1}"
    ));
    assert!(!first("{\"type\":\"round_start\"}") && !first("hello"));
}

#[test]
fn reads_of_unknown_texts_downgrade_the_exposure() {
    for text_of in ["never sent", "first seed\n\n~init"] {
        let mut altered = log();
        altered[6]["input_messages"][1] = json!(text_of);
        let found = read(&text(&altered), ImportPlan::default()).unwrap();
        assert_eq!(found.header.exposure.to_string(), "window:2");
        assert_eq!(found.unknown_reads, 1);
        let reads: Vec<_> = found.messages.iter().map(|m| m.reads.clone()).collect();
        // The newest two of other authors.
        assert_eq!(reads[4], ids(&[1, 0]));
    }
    let found = read(&text(&log()), plan("none", "")).unwrap();
    assert_eq!(found.header.exposure, Exposure::Unknown);
}

#[test]
fn an_altered_one_is_rejected_with_line_and_field() {
    for (event, pointer, value, line, field) in [
        (0, "/num_seed_messages", json!(3), 1, "num_seed_messages"),
        (0, "/init_signature", json!("~other"), 1, "init_signature"),
        (1, "/pool_size", json!(3), 2, "pool_size"),
        (1, "/round", json!(2), 2, "round"),
        (2, "/thinking", json!("hmm"), 3, "thinking"),
        (2, "/transmitted/0", json!("hello"), 3, "transmitted"),
        (2, "/signature", json!("~bob"), 3, "signature"),
        (
            2,
            "/raw_output",
            json!("hm\n---\nhullo\n---\n\n---\n~ann\n"),
            3,
            "transmitted",
        ),
        (3, "/completed", json!(true), 4, "completed"),
        (4, "/messages_added", json!(2), 5, "messages_added"),
        (4, "/pool_delta", json!([]), 5, "pool_delta"),
        (5, "/active_pool_size", json!(3), 6, "active_pool_size"),
        (5, "/round", json!(3), 6, "round"),
        (
            7,
            "/input_messages",
            json!(["b"]),
            8,
            "the number of input_messages",
        ),
        (9, "/total_rounds", json!(3), 10, "total_rounds"),
        (9, "/final_pool_size", json!(4), 10, "final_pool_size"),
        (9, "/total_tokens", json!(41), 10, "total_tokens"),
    ] {
        let mut log = log();
        *log[event].pointer_mut(pointer).unwrap() = value;
        let error = read(&text(&log), ImportPlan::default()).unwrap_err();
        let ImportError::OldJournal { source, .. } = &error else {
            panic!("{event}{pointer}: {error}");
        };
        match source {
            OldJournalError::Differs {
                line: at,
                field: name,
                ..
            } => assert_eq!((*at, *name), (line, field)),
            other => panic!("{event}{pointer}: {other}"),
        }
    }
}

#[test]
fn events_that_are_missing_twice_or_torn_are_rejected() {
    let is_wrong = |journal: &str| {
        let read = read(journal, ImportPlan::default());
        matches!(read, Err(ImportError::OldJournal { .. }))
    };
    for gone in [0, 1, 4] {
        let mut log = log();
        log.remove(gone);
        assert!(is_wrong(&text(&log)), "{gone}");
    }
    for twice in 0..10 {
        let mut log = log();
        log.insert(twice, log[twice].clone());
        assert!(is_wrong(&text(&log)), "{twice}");
    }
    let whole = text(&log());
    assert!(is_wrong(&whole[..whole.len() - 5]));
    assert!(is_wrong(""));
}

#[test]
fn a_journal_without_its_end_is_marked() {
    for lines in [8, 9] {
        let journal = text(&log()[..lines]);
        let found = read(&journal, ImportPlan::default()).unwrap();
        assert!(found.is_unended, "{lines}");
    }
}

#[test]
fn tokens_beyond_any_number_are_refused_with_their_line() {
    let mut log = log();
    log[2]["tokens_used"] = json!(u64::MAX);
    let error = read(&text(&log), ImportPlan::default()).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        source,
        "line 4: tokens_used: the sum of the run is above 2^64 - 1"
    );
}

#[test]
fn an_error_shows_the_beginning_of_a_long_value() {
    let mut log = log();
    log[4]["pool_delta"][0] = json!("x".repeat(1_000_000));
    let error = read(&text(&log), ImportPlan::default()).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.starts_with("line 5: pool_delta: expected"));
    assert!(source.len() < 2000, "{} bytes", source.len());
}

#[test]
fn columns_are_refused() {
    let mut map = ImportPlan::default();
    map.columns = vec!["text=body".parse().unwrap()];
    let error = read(&text(&log()), map.clone()).unwrap_err();
    assert!(matches!(error, ImportError::UnusedMap), "{error}");
    let mut on_line = || ControlFlow::Continue(());
    let mut import = Import::new(map, &mut on_line);
    let error = import.add_memes("m.yaml", MEMES.as_bytes()).unwrap_err();
    assert!(matches!(error, ImportError::UnusedMap), "{error}");
}

fn memes(text: &str) -> Result<Imported, ImportError> {
    let mut on_line = || ControlFlow::Continue(());
    let mut import = Import::new(ImportPlan::default(), &mut on_line);
    import.add_memes("novel_memes.yaml", text.as_bytes())?;
    import.finish()
}

const MEMES: &str = "round: 2\nmind_id: 0\nsignature: ''\ncontent: |-\n  One: \"two\"\n  \n  --- three\n---\n\
    round: 2\nmind_id: 1\ncontent: |-\n  <b>four</b>\n---\nround: 4\nmind_id: 0\ncontent: |-\n  five\n";

#[test]
fn the_list_of_memes_is_read_in_its_one_form() {
    let found = memes(MEMES).unwrap();
    let shown: Vec<_> = (found.messages.iter())
        .map(|m| {
            (
                m.round.0,
                m.author.as_str(),
                m.text.as_str(),
                m.source_id.as_str(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (2, "a01", "One: \"two\"\n\n--- three", "meme:1"),
            (2, "a02", "<b>four</b>", "meme:2"),
            (4, "a01", "five", "meme:3"),
        ]
    );
    assert_eq!(found.header.exposure, Exposure::Unknown);
    assert_eq!(run(&found).transcript.rounds.len(), 4);
    for (old, new, line) in [
        ("round: 2\nmind_id: 0", "round: two\nmind_id: 0", 1),
        ("signature: ''", "other: 1", 3),
        ("content: |-\n  <b>", "content: |\n  <b>", 11),
        ("  five", "five", 17),
        ("round: 4", "round: 1", 14),
        ("round: 4", "round: 4\nround: 4", 15),
        ("content: |-\n  five\n", "", 15),
        ("  five\n", "  five\n---\n", 18),
        ("  five\n", "  \n", 17),
    ] {
        assert!(MEMES.contains(old), "{old}");
        match memes(&MEMES.replacen(old, new, 1)).unwrap_err() {
            ImportError::Form { line: at, .. } => assert_eq!(at, line, "{new}"),
            other => panic!("{new}: {other}"),
        }
    }
}

fn metrics(text: &str) -> Result<Imported, ImportError> {
    let mut on_line = || ControlFlow::Continue(());
    let mut import = Import::new(ImportPlan::default(), &mut on_line);
    import.add_memes("novel_memes.yaml", MEMES.as_bytes())?;
    import.add_metrics("diversity_metrics.json", text.as_bytes())?;
    import.finish()
}

#[test]
fn the_measures_are_kept_without_rounds_of_one_message() {
    let file = json!({"rounds": [1, 2, 4, 5, 6, 9], "mean_similarity": [0.25, 1.0, 0.5, 0.75, 1.0, 0.5],
        "distance_from_seed": [0.125, 0.5, 0.25, 0.5, 0.5, 0.75], "num_messages": [3, 1, 2, 4, 2, 2]});
    let found = run(&metrics(&file.to_string()).unwrap()).header;
    let kept = found.reference_metrics.unwrap();
    assert_eq!(
        (kept.rounds.clone(), kept.singles),
        (vec![1, 4, 5, 6, 9], 1)
    );
    // Worked by hand: of five values the quarters have 1, 1, 1 and 2.
    let quarters = ReferenceMetrics::quarters(&kept.mean_similarity);
    assert_eq!(quarters, Some([0.25, 0.5, 0.75, 0.75]));
    let quarters = ReferenceMetrics::quarters(&kept.distance_from_seed);
    assert_eq!(quarters, Some([0.125, 0.25, 0.5, 0.625]));
    assert_eq!(ReferenceMetrics::quarters(&[1.0; 3]), None);
    for wrong in [
        json!({"rounds": [1]}),
        json!({"rounds": [1], "mean_similarity": [], "distance_from_seed": [0.5], "num_messages": [2]}),
        json!({"rounds": [2, 1], "mean_similarity": [0.5, 0.5], "distance_from_seed": [0.5, 0.5], "num_messages": [2, 2]}),
        json!({"rounds": [1], "mean_similarity": ["x"], "distance_from_seed": [0.5], "num_messages": [2]}),
    ] {
        let error = metrics(&wrong.to_string()).unwrap_err();
        assert!(matches!(error, ImportError::Form { .. }), "{error}");
    }
    // Values that are not a cosine, each with its line; a rounding error is allowed.
    let file = |similarity: &str, distance: &str| {
        format!(
            "{{\"rounds\":[1],\n\"mean_similarity\":[{similarity}],\n\"distance_from_seed\":[{distance}],\"num_messages\":[2]}}"
        )
    };
    metrics(&file("1.0000002", "-1e-7")).unwrap();
    metrics(&file("-1.000009", "2.000009")).unwrap();
    for (similarity, distance, expected) in [
        ("1e308", "0", "json: line 2: "),
        ("-1.1", "0", "-1.1e0 is not a number from -1 to 1"),
        ("0", "2.5", "json: line 3: "),
        ("NaN", "0", "json: line 2: "),
        ("1.0005", "0", "1.0005e0 is not a number from -1 to 1"),
        ("0", "-0.00002", "-2e-5 is not a number from 0 to 2"),
    ] {
        let error = metrics(&file(similarity, distance))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    let found = metrics(&file("1", "1")).unwrap();
    let whole = String::from_utf8(super::written(&found)).unwrap();
    for (old, new, expected) in [
        (
            "_similarity\":[1.0]",
            "_similarity\":[1e308]",
            "line 1: 1e308",
        ),
        (
            "_similarity\":[1.0]",
            "_similarity\":[1.0005]",
            "line 1: 1.0005e0",
        ),
        (
            "_similarity\":[1.0]",
            "_similarity\":[]",
            "line 1: expected lists of equal length, found 1 and [0, 1]; import the files again",
        ),
        (
            "\"rounds\":[1]",
            "\"rounds\":[1,1]",
            "line 1: expected lists of equal length",
        ),
    ] {
        assert!(whole.contains(old), "{old}");
        let altered = whole.replacen(old, new, 1);
        let error = logosphere_core::import::ImportedRun::read(altered.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
