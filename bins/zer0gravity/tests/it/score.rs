//! `score`: triples from anywhere.

use serde_json::{Value, json};
use test_support::fixture;

use crate::program::{Place, column};

/// The rows that were published, as triples with their given numbers.
fn published() -> Vec<Value> {
    let file = std::fs::read_to_string(fixture("zer0gravity/vectors/published_rows.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    file["rows"].as_array().unwrap().clone()
}

/// `number` tells rows of one text and one system apart.
fn triple(number: usize, row: &Value) -> Value {
    let name = |field: &str| row[field].as_str().unwrap();
    let id = format!("{number} {} {}", name("case"), name("system"));
    json!({
        "id": id, "text": "a text", "encodedText": "txt", "decodedText": "a text",
        "originalTokens": row["originalTokens"], "encodedTokens": row["encodedTokens"],
        "semanticScore": row["scores"]["semanticPreservation"],
        "implementabilityScore": row["scores"]["implementability"],
    })
}

#[test]
fn given_scores_give_the_published_totals() {
    let place = Place::new();
    let rows = published();
    let triples: Vec<_> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| triple(number, row))
        .collect();
    let lines: Vec<_> = triples.iter().map(Value::to_string).collect();
    place.file("rows.jsonl", lines.join("\n"));
    place.file("rows.json", Value::from(triples).to_string());
    for name in ["rows.jsonl", "rows.json"] {
        let results = place.alone(&["score", name]).exits(0).results();
        assert_eq!(results.len(), 17);
        for (result, row) in results.iter().zip(&rows) {
            assert_eq!(result["scores"], row["scores"], "{row}");
            for name in [
                "total",
                "compressionRatio",
                "originalTokens",
                "encodedTokens",
            ] {
                let [found, expected] = [result, row].map(|of| of[name].as_f64());
                assert_eq!(found, expected, "{name}: {row}");
            }
            let percent = result["details"]["compressionPercent"].as_f64();
            assert_eq!(percent, row["compressionPercent"].as_f64());
            assert_eq!(result["metadata"]["provider"], "given");
        }
    }
}

#[test]
fn without_scores_and_tokens_both_are_made_here_and_marked() {
    let place = Place::new();
    let text = "The quick brown fox jumps over the lazy dog";
    let rules = "SUBS: 'the'→'θ'";
    let csv = format!(
        "id,text,encodedText,decodedText,encodingSystem\nx,{text},θ qck brwn fox jmps vr θ lzy dog,{text},{rules}\n"
    );
    place.file("one.csv", csv);
    let results = place.alone(&["score", "one.csv"]).exits(0).results();
    let result = &results[0];
    assert_eq!(result["testCaseId"], "x");
    assert_eq!(result["metadata"]["tokenSource"], "local");
    assert_eq!(result["offline"], true);
    assert_eq!(result["scores"]["semanticPreservation"], 40);
    assert!(result["total"].as_f64().is_some());
    assert_eq!(column(&results, "/outcome/status"), ["ok"]);
}

#[test]
fn output_goes_to_a_file() {
    let place = Place::new();
    place.file("row.jsonl", triple(0, &published()[0]).to_string());
    let ran = place
        .alone(&["score", "row.jsonl", "--output", "new/scored.json"])
        .exits(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(place.read_json("new/scored.json")[0]["total"], 59);
}

#[test]
fn bad_lines_are_all_listed() {
    let place = Place::new();
    let triple = |id: &str, rest: &str| {
        format!(
            "{{\"id\": \"{id}\", \"text\": \"Hello\", \"encodedText\": \"Hllo\", \"decodedText\": \"Hello\"{rest}}}\n"
        )
    };
    let lines = [
        triple("good", ""),
        triple("one", ", \"originalTokens\": 5"),
        triple("negative", ", \"originalTokens\": 5, \"encodedTokens\": -1"),
        triple(
            "fraction",
            ", \"originalTokens\": 5.5, \"encodedTokens\": 1",
        ),
        "{\"id\": \"undecoded\", \"text\": \"Hello\", \"encodedText\": \"Hllo\"}\n".to_owned(),
    ];
    place.file("triples.jsonl", lines.concat());
    let arguments = ["score", "triples.jsonl"];
    let ran = place.alone(&arguments).exits(2);
    assert!(ran.stderr.contains("triples.jsonl"), "{}", ran.stderr);
    for line in 2..=5 {
        let listed = ran.stderr.contains(&format!("line {line}"))
            || ran.stderr.contains(&format!(":{line}"));
        assert!(listed, "line {line}\n{}", ran.stderr);
    }
}

#[test]
fn z5_without_rules_a_result_is_scored_of_95() {
    let place = Place::new();
    place.file(
        "t.jsonl",
        r#"{"id":"a","text":"The farmer sells eggs","encodedText":"frmr slls ggs","decodedText":"The farmer sells eggs"}"#,
    );
    let ran = place.alone(&["score", "t.jsonl", "--verbose"]).exits(0);
    let result = &ran.results()[0];
    assert!(result.get("total").is_none() && result["scores"].get("implementability").is_none());
    assert_eq!(result["partialTotal"]["of"], 95);
    let points = &result["partialTotal"]["points"];
    let line = format!("  Total:       {points}/95 (no rules given)\n");
    assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    let line = "Average:       none (0 of 1 scored, 1 left out: no rules given)\n";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
    assert!(!ran.stderr.contains("Implementable"), "{}", ran.stderr);
}

#[test]
fn z44_triples_of_two_systems_are_compared() {
    let place = Place::new();
    let line = |system: &str, id: u8, points: u8| {
        json!({"id": id.to_string(), "text": "a text", "encodedText": "txt", "decodedText": "a text", "encodingId": system,
            "originalTokens": 10, "encodedTokens": 5, "semanticScore": points, "implementabilityScore": 5}).to_string()
    };
    let lines = [
        line("short", 1, 40),
        line("short", 2, 38),
        line("long", 1, 20),
        line("long", 2, 22),
    ];
    place.file("t.jsonl", lines.join("\n"));
    let ran = place.alone(&["score", "t.jsonl"]).exits(0);
    assert_eq!(
        column(&ran.results(), "/encodingId"),
        ["short", "short", "long", "long"]
    );
    assert!(ran.stderr.contains("Case 1, short:"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains(" points above long ("),
        "{}",
        ran.stderr
    );
}
