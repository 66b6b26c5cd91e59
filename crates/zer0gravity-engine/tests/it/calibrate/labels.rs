//! The file of labels and the sheet.

use std::collections::HashSet;
use std::fs;

use zer0gravity_engine::calibration::{
    Labels, TextPair, draw, pairs, read_labels, read_sheet, sheet,
};
use zer0gravity_engine::run::{DirectoryError, LabelFile};

use super::{label, sixty};
use crate::report::sample::item;

const GOOD: &str = r#"{"schema_version":1,"pairId":"2a94797484e16d88","rater":"ada","score":31,"seed":0,"ordinal":1,"at":"t"}"#;

#[test]
fn bad_lines_are_refused_with_their_line() {
    for (from, to, message) in [
        (
            r#""score":31"#,
            r#""score":41"#,
            "expected a score from 0 to 40, found 41",
        ),
        (
            r#""score":31"#,
            r#""score":-1"#,
            "invalid value: integer `-1`",
        ),
        (r#""score":31"#, r#""score":31.5"#, "floating point"),
        (r#""score":31,"#, "", "expected a score or a skip"),
        (
            r#""score":31"#,
            r#""score":31,"skipped":true"#,
            "expected a score or a skip",
        ),
        (
            r#""schema_version":1"#,
            r#""schema_version":2"#,
            "expected schema_version 1, found 2",
        ),
        (r#""seed":0"#, r#""sed":0"#, "unknown field `sed`"),
        (GOOD, "{}", "missing field `schema_version` at column 2"),
        (GOOD, "[]", "invalid"),
        (GOOD, "", "EOF"),
    ] {
        let bad = GOOD.replace(from, to);
        let error = read_labels(format!("{GOOD}\n{bad}\n").as_bytes()).unwrap_err();
        let told = error.to_string();
        assert!(
            told.starts_with("line 2: ") && told.contains(message),
            "{told}"
        );
        assert!(
            told.ends_with("; correct or delete the line, or name a file of labels"),
            "{told}"
        );
    }
    let bytes = [GOOD.as_bytes(), b"\n\xff\n"].concat();
    assert_eq!(read_labels(&bytes).unwrap_err().line, 2);
}

#[test]
fn a_torn_last_line_is_left_out() {
    let text = format!("{GOOD}\n{}", &GOOD[..40]);
    let (labels, torn) = read_labels(text.as_bytes()).unwrap();
    assert_eq!((labels.len(), torn), (1, 40));
    let text = format!("{GOOD}\n{{\"sch");
    assert_eq!(read_labels(text.as_bytes()).unwrap().1, 5);
}

#[test]
fn the_last_line_of_a_rater_counts() {
    let pair = &sixty()[0];
    let lines = [
        label(pair, "ada", Some(3)),
        label(pair, "bo", Some(9)),
        label(pair, "ada", Some(30)),
        label(pair, "cy", None),
    ];
    let labels = Labels::of(&lines);
    let scores: Vec<_> = labels.scored(&pair.id).map(|(_, score)| score).collect();
    assert_eq!(scores, [30.0, 9.0]);
    assert!(labels.answer(&pair.id, "cy").unwrap().skipped);
    assert!(labels.answer(&pair.id, "dee").is_none());
}

#[test]
fn one_process_writes_and_a_torn_line_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.jsonl");
    fs::write(&path, format!("{GOOD}\n{}", &GOOD[..40])).unwrap();
    let mut file = LabelFile::open(&path).unwrap();
    assert_eq!((file.labels().len(), file.torn_bytes()), (1, 40));
    let in_use = LabelFile::open(&path).unwrap_err();
    assert!(matches!(in_use, DirectoryError::InUse { .. }), "{in_use}");
    let pairs = sixty();
    file.append(vec![
        label(&pairs[0], "ada", Some(4)),
        label(&pairs[1], "ada", None),
    ])
    .unwrap();
    drop(file);
    let file = LabelFile::open(&path).unwrap();
    assert_eq!((file.labels().len(), file.torn_bytes()), (3, 0));
    assert_eq!(file.labels()[1].score, Some(4));
}

#[test]
fn a_file_without_labels_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cases.json");
    for (text, line) in [
        (r#"[{"id": "1", "text": "a"}]"#, 1),
        ("notes\nand more notes", 1),
        (&format!("{GOOD}\nnotes"), 2),
    ] {
        fs::write(&path, text).unwrap();
        let error = LabelFile::open(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("line {line}: ")), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn pairs_before_the_first_one_without_an_answer_are_random() {
    let pairs = sixty();
    let order = draw(&pairs, 0);
    let answer = |place: usize, rater| label(&pairs[order[place]], rater, Some(7));
    let mut lines: Vec<_> = (0..9).map(|place| answer(place, "ada")).collect();
    lines.push(answer(9, "bo"));
    lines[3] = label(&pairs[order[3]], "ada", None);
    // A pair that was chosen, and one that another person chose too, by another order.
    lines.push(answer(30, "ada"));
    let mut chosen = answer(2, "cy");
    chosen.seed = 8;
    lines.push(chosen);
    let labels = Labels::of(&lines);
    let random = labels.random(&pairs);
    let first: HashSet<_> = order[..10].iter().map(|place| &*pairs[*place].id).collect();
    assert_eq!(random, first);
    // The labels of one run say nothing about the order of a run that goes further.
    let half = pairs[..30].to_vec();
    let lines: Vec<_> = half
        .iter()
        .map(|pair| label(pair, "ada", Some(7)))
        .collect();
    let labels = Labels::of(&lines);
    assert_eq!(labels.random(&half).len(), 30);
    assert!(labels.random(&pairs).len() < 5);
}

#[test]
fn ids_that_a_spreadsheet_takes_for_numbers_come_back() {
    let is_number = |text: &String| TextPair::id_of(text, "x").parse::<f64>().is_ok();
    let text = (0..1_000_000)
        .map(|n| n.to_string())
        .find(is_number)
        .unwrap();
    let mut item = item("a", "1", &text);
    item.decoded_text = Some("x".into());
    let pairs = pairs(&[item]);
    let id = pairs[0].id.clone();
    let csv = sheet(&pairs);
    assert!(csv.contains(&format!("\n'{id},")), "{csv}");
    for cell in [format!("'{id}"), id.clone()] {
        let filled = format!("pairId,score\n{cell},12\n");
        let rows = read_sheet(filled.as_bytes(), &pairs).unwrap();
        assert_eq!(rows, [(id.clone(), Some(12))]);
    }
}

#[test]
fn rows_after_the_last_score_are_not_answered() {
    let pairs = sixty();
    let [a, b, c] = [2, 0, 1].map(|place| pairs[place].id.clone());
    let csv = format!("pairId,score\n{a},\n{b},9\n{c},\n");
    let rows = read_sheet(csv.as_bytes(), &pairs).unwrap();
    assert_eq!(rows, [(a, None), (b, Some(9))]);
}

/// A pair of hostile texts.
fn hostile() -> Vec<TextPair> {
    let mut item = item("a", "1", "=HYPERLINK(\"x\")\r\n, \"quoted\"");
    item.decoded_text = Some("@SUM(1)".into());
    pairs(&[item])
}

#[test]
fn a_sheet_is_blind_and_inert_and_comes_back() {
    let pairs = hostile();
    let csv = sheet(&pairs);
    assert!(
        csv.starts_with("pairId,original,decoded,score\r\n"),
        "{csv}"
    );
    assert!(
        csv.contains("'=HYPERLINK") && csv.contains(",'@SUM(1),"),
        "{csv}"
    );
    let filled = format!("\u{feff}{}", csv.trim_end()).replace("'@SUM(1),", "'@SUM(1), 31 ");
    let rows = read_sheet(filled.as_bytes(), &pairs).unwrap();
    assert_eq!(rows, [(pairs[0].id.clone(), Some(31))]);
    assert_eq!(read_sheet(csv.as_bytes(), &pairs).unwrap(), []);
}

#[test]
fn every_bad_row_of_a_sheet_is_named() {
    let pairs = sixty();
    let [a, b, c] = [0, 1, 2].map(|place| pairs[place].id.as_str());
    let csv = format!(
        "score,pairId\n31,{a}\n41,{b}\n-1,{c}\nx,{c}\n1,1.2E+15\n2,ffffffffffffffff\n3,{a}\n"
    );
    let errors = read_sheet(csv.as_bytes(), &pairs).unwrap_err();
    let lines: Vec<_> = errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [3, 4, 5, 6, 7, 8], "{errors:?}");
    for csv in ["", "pairId;score\n", "\"open", "a,b\n1,2\n"] {
        assert_eq!(
            read_sheet(csv.as_bytes(), &pairs).unwrap_err()[0].line,
            1,
            "{csv}"
        );
    }
}
