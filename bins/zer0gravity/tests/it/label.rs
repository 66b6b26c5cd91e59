//! `label`: people score pairs, in the terminal and by a sheet.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::process::{ChildStdout, Stdio};

use serde_json::{Value, json};
use test_support::program::RandomNumbers;
use test_support::{CompressionStub, StubMode};

use crate::program::{Place, Ran, finish, start};

const PROMPT: &str = "0-40, s skip, b back, q quit: ";

/// A place with `scored.json`: this number of texts, each decoded without its last word.
pub fn scored(count: usize) -> Place {
    let place = Place::new();
    let case = |text: usize| {
        let again = "again ".repeat(text % 9);
        let decoded = format!("The text of the number {text} has {again}a few words");
        json!({
            "id": format!("t{text}"), "text": format!("{decoded} more"), "encodedText": "x",
            "decodedText": decoded, "encodingId": "zebra-rules",
        })
    };
    let cases: Vec<_> = (0..count).map(case).collect();
    place.file("cases.json", Value::from(cases).to_string());
    place
        .alone(&["score", "cases.json", "-o", "scored.json"])
        .exits(0);
    place
}

/// Runs `label` with this text on stdin.
fn answering(place: &Place, arguments: &[&str], answers: &str) -> Ran {
    let mut child = start(place.command(arguments).stdin(Stdio::piped()));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(answers.as_bytes())
        .unwrap();
    finish(child)
}

pub fn lines(place: &Place, file: &str) -> Vec<Value> {
    let text = place.read(file);
    // A line without its end was not written completely.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn answers_are_kept_and_the_same_command_continues() {
    let place = scored(4);
    let label = ["label", "scored.json", "--rater", "ada"];
    let ran = answering(&place, &label, "31\n41\nx\ns\nb\n7\nq\n").exits(0);
    assert_eq!(
        ran.stdout
            .matches("expected a whole number from 0 to 40")
            .count(),
        2
    );
    assert!(
        ran.stdout.contains("- 40: Meaning is identical"),
        "{}",
        ran.stdout
    );
    let found = lines(&place, "labels.jsonl");
    let answers: Vec<_> = found
        .iter()
        .map(|line| (&line["score"], &line["ordinal"]))
        .collect();
    assert_eq!(
        answers,
        [
            (&json!(31), &json!(1)),
            (&Value::Null, &json!(2)),
            (&json!(7), &json!(2))
        ]
    );
    assert_eq!(found[1]["skipped"], true);
    let ran = answering(&place, &label, "1\n2\n").exits(0);
    assert!(
        ran.stdout.contains("pair 1 of 2") && ran.stderr.contains("4 of 4 pairs labelled by ada"),
        "{}",
        ran.all()
    );
    // Another person gets all pairs, in the same order.
    let ran = answering(
        &place,
        &["label", "scored.json", "--rater", "bo", "--n", "1"],
        "9\n",
    )
    .exits(0);
    assert!(ran.stdout.contains("pair 1 of 1"), "{}", ran.stdout);
    let found = lines(&place, "labels.jsonl");
    assert_eq!((found.len(), &found[5]["pairId"]), (6, &found[0]["pairId"]));
}

#[test]
fn n8_nothing_shown_or_exported_tells_system_model_or_score() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("zebra.txt", "DROP VOWELS");
    let matrix = [
        "matrix",
        "--encoding",
        "zebra.txt",
        "--all",
        "--run-dir",
        "dir",
        "--model",
        "mole-9",
    ];
    place.asking(&stub, &matrix).exits(0);
    let shown = answering(&place, &["label", "dir"], "5\n5\n5\n5\n5\n5\n")
        .exits(0)
        .stdout;
    let export = place
        .alone(&["label", "dir", "--export", "-", "--n", "9"])
        .exits(0)
        .stdout;
    assert!(
        export.starts_with("pairId,original,decoded,score\r\n"),
        "{export}"
    );
    // The id of a pair is a hash of its texts.
    let is_id = |cell: &&str| cell.len() == 16 && cell.chars().all(|one| one.is_ascii_hexdigit());
    let cells = export.split([',', '\n']).filter(|cell| !is_id(cell));
    let export = cells.collect::<Vec<_>>().join(",");
    for text in [shown, export] {
        assert!(text.contains("Hello world!"), "{text}");
        for secret in [
            "zebra",
            "VOWELS",
            "mole",
            "anthropic",
            "127.0.0.1",
            "38",
            "/100",
            "flag",
            "chrf",
        ] {
            assert!(
                !text.to_lowercase().contains(&secret.to_lowercase()),
                "{secret}: {text}"
            );
        }
    }
}

#[test]
fn a_sheet_becomes_labels_and_a_bad_one_nothing() {
    let place = scored(5);
    place
        .alone(&["label", "scored.json", "--export", "sheet.csv", "--n", "3"])
        .exits(0);
    let sheet = place.read("sheet.csv");
    assert_eq!(sheet.lines().count(), 4);
    let filled = |scores: [&str; 3]| {
        let mut rows = sheet.lines();
        let header = rows.next().unwrap().to_owned();
        let rows = rows.zip(scores).map(|(row, score)| format!("{row}{score}"));
        std::iter::once(header)
            .chain(rows)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let import = [
        "label",
        "scored.json",
        "--import",
        "filled.csv",
        "--rater",
        "ada",
    ];
    place.file("filled.csv", filled(["3", "41", "x"]));
    let words = [
        "filled.csv: line 3: ",
        "filled.csv: line 4: ",
        "nothing was imported",
    ];
    place.alone(&import).exits(2).tells(&words);
    assert!(!place.path("labels.jsonl").exists());
    place.file("filled.csv", filled(["", "4", ""]));
    place.alone(&import).exits(0).tells(&["2 new labels"]);
    let found = lines(&place, "labels.jsonl");
    assert_eq!(
        (found[0]["skipped"].as_bool(), &found[1]["score"]),
        (Some(true), &json!(4))
    );
    place.alone(&import).exits(0).tells(&["0 new labels"]);
    assert_eq!(lines(&place, "labels.jsonl").len(), 2);
    // Rows that a person has chosen correct no mean.
    let chosen = sheet.lines().enumerate().filter(|(line, _)| *line != 1);
    let chosen: Vec<_> = chosen
        .map(|(line, row)| {
            if line > 0 {
                format!("{row}8")
            } else {
                row.to_owned()
            }
        })
        .collect();
    place.file("filled.csv", chosen.join("\n"));
    let import = [
        "label",
        "scored.json",
        "--import",
        "filled.csv",
        "--rater",
        "bo",
        "--labels",
        "chosen.jsonl",
    ];
    let told =
        "2 labelled pairs are not the first ones of the order of a --seed: they correct no mean";
    place.alone(&import).exits(0).tells(&[told]);
}

/// Fills the rows of a sheet with scores.
fn filled(place: &Place, sheet: &str, scores: &[&str]) {
    let sheet = place.read(sheet);
    let scores = std::iter::once("").chain(scores.iter().copied());
    let rows: Vec<_> = sheet.lines().zip(scores).collect();
    let rows = rows.iter().map(|(row, score)| format!("{row}{score}"));
    place.file("filled.csv", rows.collect::<Vec<_>>().join("\n"));
}

#[test]
fn an_empty_cell_replaces_no_answer() {
    let place = scored(5);
    let label = ["label", "scored.json", "--rater", "ada"];
    answering(&place, &label, "31\ns\nq\n").exits(0);
    let export = ["label", "scored.json", "--export", "sheet.csv", "--n", "4"];
    place
        .alone(&export)
        .exits(0)
        .tells(&["4 pairs in sheet.csv"]);
    filled(&place, "sheet.csv", &["", "5", "", "6"]);
    let import = [&label[..], &["--import", "filled.csv"]].concat();
    place.alone(&import).exits(0).tells(&["3 new labels"]);
    let found = lines(&place, "labels.jsonl");
    let scores: Vec<_> = found.iter().map(|line| &line["score"]).collect();
    assert_eq!(
        scores,
        [&json!(31), &Value::Null, &json!(5), &Value::Null, &json!(6)]
    );
    assert_ne!(found[3]["pairId"], found[0]["pairId"]);
    // Only the fifth pair has no answer of this person.
    let export = [&label[..], &["--export", "rest.csv"]].concat();
    place
        .alone(&export)
        .exits(0)
        .tells(&["1 pairs in rest.csv"]);
    let other = [
        "label",
        "scored.json",
        "--rater",
        "bo",
        "--export",
        "all.csv",
    ];
    place.alone(&other).exits(0).tells(&["5 pairs in all.csv"]);
}

#[test]
fn a_sheet_that_was_imported_with_another_seed_is_imported_again() {
    let place = scored(24);
    let export = [
        "label",
        "scored.json",
        "--seed",
        "3",
        "--export",
        "sheet.csv",
        "--n",
        "20",
    ];
    place.alone(&export).exits(0);
    filled(&place, "sheet.csv", &["9"; 20]);
    let import = [
        "label",
        "scored.json",
        "--import",
        "filled.csv",
        "--rater",
        "ada",
    ];
    place
        .alone(&import)
        .exits(0)
        .tells(&["20 new labels", "correct no mean"]);
    let labelled = || {
        place
            .alone(&["calibrate", "scored.json", "--json"])
            .exits(0)
            .json()
    };
    assert!(labelled()["labelled"].as_object().unwrap().len() < 20);
    let again = [&import[..], &["--seed", "3"]].concat();
    let ran = place.alone(&again).exits(0).tells(&["20 new labels"]);
    assert!(!ran.stderr.contains("correct no mean"), "{}", ran.stderr);
    assert_eq!(labelled()["labelled"].as_object().unwrap().len(), 20);
    place.alone(&again).exits(0).tells(&["0 new labels"]);
}

#[test]
fn bad_input_is_refused_before_anything_is_written() {
    let place = scored(2);
    let report = place.read("scored.json");
    place
        .alone(&["label", "scored.json", "--labels", "scored.json"])
        .exits(2);
    place
        .alone(&["label", "scored.json", "--export", "scored.json"])
        .exits(2);
    assert_eq!(place.read("scored.json"), report);
    place
        .alone(&["label", "scored.json", "--rater", ""])
        .exits(2);
    place
        .alone(&["label", "scored.json", "--import", "x.csv"])
        .exits(2)
        .tells(&["--rater"]);
    let cases = place.read("cases.json");
    place
        .alone(&["label", "scored.json", "--labels", "cases.json"])
        .exits(2)
        .tells(&["cases.json: ", "line 1: expected the start of a label"]);
    assert_eq!(place.read("cases.json"), cases);
    place.file("labels.jsonl", "{\"schema_version\":1}\n");
    place
        .alone(&["label", "scored.json"])
        .exits(2)
        .tells(&["labels.jsonl: ", "line 1: missing field"]);
    place.file("empty.json", "[]");
    place
        .alone(&["label", "empty.json"])
        .exits(2)
        .tells(&["no pair to label"]);
}

/// Reads until the prompt has come `count` times, or to the end.
fn prompts(stdout: &mut ChildStdout, count: usize) {
    let (mut seen, mut byte) = (Vec::new(), [0]);
    let mut found = 0;
    while found < count && stdout.read(&mut byte).unwrap() == 1 {
        seen.push(byte[0]);
        found += usize::from(seen.ends_with(PROMPT.as_bytes()));
    }
}

/// Kills `label` this number of times, each after some answers, and compares the file with the answers.
fn killed(rounds: usize, texts: usize) {
    let place = scored(texts);
    let mut random = RandomNumbers(11);
    let mut sent = HashMap::new();
    for _ in 0..rounds {
        let before = place
            .path("labels.jsonl")
            .exists()
            .then(|| lines(&place, "labels.jsonl").len());
        let before = before.unwrap_or_default();
        let command = ["label", "scored.json", "--rater", "ada"];
        let mut child = start(place.command(&command).stdin(Stdio::piped()));
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let answers = random.below(4);
        for answer in 1..=answers {
            let score = random.below(41);
            sent.insert(before + answer, score);
            prompts(&mut stdout, 1);
            stdin.write_all(format!("{score}\n").as_bytes()).unwrap();
        }
        // The last answer may be on its way, written in part, or acknowledged.
        if random.below(3) == 0 {
            prompts(&mut stdout, 1);
            assert!(
                lines(&place, "labels.jsonl").len() >= before + answers,
                "an answer is lost"
            );
        }
        for _ in 0..random.below(2_000) {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = place
            .path("labels.jsonl")
            .exists()
            .then(|| lines(&place, "labels.jsonl").len());
        let acknowledged = answers.saturating_sub(1);
        assert!(
            now.unwrap_or_default() >= before + acknowledged,
            "an answer is lost"
        );
    }
    answering(&place, &["label", "scored.json", "--rater", "ada"], "q\n").exits(0);
    let found = lines(&place, "labels.jsonl");
    assert!(
        found.len() > rounds / 2 && found.len() < texts,
        "{}",
        found.len()
    );
    for (place, line) in found.iter().enumerate() {
        assert_eq!(line["ordinal"], place + 1, "an answer is doubled");
        assert_eq!(line["score"], sent[&(place + 1)]);
    }
}

#[test]
fn n8_kills_lose_and_double_no_answer() {
    killed(12, 40);
}

#[test]
#[ignore = "a hundred kills"]
fn n8_a_hundred_kills_lose_and_double_no_answer() {
    killed(100, 320);
}
