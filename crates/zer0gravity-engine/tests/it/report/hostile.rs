//! Texts that want to be more than text.

use std::collections::BTreeSet;

use scraper::Html;
use serde_json::{Value, json};
use test_support::page::{
    check_nothing_comes_from_a_text, check_refers_to_no_network, found, texts,
};
use zer0gravity_engine::judge::JudgeStatus;
use zer0gravity_engine::report::RunReport;

use super::page::html;
use super::sample::small;

const HOSTILE: [&str; 4] = [
    "</script><script>alert(1)</script><img src=https://example.org/x.png onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" ' autofocus onfocus='alert(1) --><!-- ]]><![CDATA[<svg onload=alert(1)>",
    "\u{202e}live\u{2066}\u{200b}\u{feff} \u{1b}[31m\0\u{7f} line\u{2028}line\r\nline\tline {{constructor}} ${alert(1)}",
    "javascript:alert(1) https://example.org/?q=<base href=//example.org>",
];

/// Strings that control what is shown and are not a text of the data.
const OWN: [&str; 15] = [
    "schema_version",
    "kind",
    "status",
    "stage",
    "severity",
    "id",
    "tokenSource",
    "promptProfile",
    "algorithm",
    "stopReason",
    "createdAt",
    "timestamp",
    "usd",
    "cost",
    "method",
];

/// Writes `text` into every string of a report but those the engine chooses itself.
fn fill(value: &mut Value, text: &str) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                if !value.is_string() || !OWN.contains(&key.as_str()) {
                    fill(value, text);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, text)),
        Value::String(old) => {
            // Ids stay apart, so that the page keeps its shape.
            let end: String = old.chars().take(3).collect();
            *old = format!("{text}{end}");
        }
        _ => {}
    }
}

/// The small report, every text of it replaced.
fn filled(text: &str) -> RunReport {
    let mut report = small();
    for result in &mut report.results {
        result.details.semantic_reasoning = Some(json!({"because": "x"}));
        result.procedural.answer = Some("x".into());
        let judge = result.details.semantic_judge.iter_mut();
        judge.for_each(|judge| judge.status = JudgeStatus::Parsed);
    }
    let mut value = serde_json::to_value(report).unwrap();
    fill(&mut value, text);
    for (index, id) in ["vowels", "signs"].into_iter().enumerate() {
        value["encodings"][index]["id"] = format!("{text}{}", &id[..3]).into();
    }
    serde_json::from_value(value).unwrap()
}

#[test]
fn no_element_and_no_attribute_comes_from_a_text() {
    let tame = Html::parse_document(&html(&filled("plain")));
    for text in HOSTILE {
        let report = filled(text);
        let html = html(&report);
        let page = Html::parse_document(&html);
        check_nothing_comes_from_a_text(&page, &tame, text);
        // In the data they are inside of a string that nobody draws.
        let (drawn, _) = html.split_once("id=\"data-report\"").unwrap();
        assert!(!drawn.contains([
            '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\0', '\u{1b}'
        ]));
        // It is there, to be read, and whole in the data.
        let shown = report_kit::visible(text);
        let originals = texts(&page, "#at-experiments .text.code").concat();
        assert!(originals.contains(&*shown), "{text:?}");
        let data: Value = serde_json::from_str(&texts(&page, "#data-report").concat()).unwrap();
        assert_eq!(data, serde_json::to_value(&report).unwrap());
    }
}

#[test]
fn a_page_refers_to_no_network() {
    let html = html(&small());
    assert!(!html.contains("http://") && !html.contains("https://"));
    // Nor does one whose texts do: they are texts.
    let page = Html::parse_document(&super::page::html(&filled(HOSTILE[0])));
    check_refers_to_no_network(&page);
}

#[test]
fn absurd_numbers_are_shown_or_left_out() {
    let mut report = small();
    for (index, result) in report.results.iter_mut().enumerate() {
        result.original_tokens = Some(if index % 2 == 0 { i64::MAX } else { 0 });
        result.encoded_tokens = Some(i64::MIN + 1);
        result.details.compression_percent = Some(if index % 3 == 0 { 1e300 } else { f64::NAN });
        result.trial = u32::MAX - index as u32;
        result.decode = u32::MAX;
        result.metadata.total_tokens_used.input = u64::MAX;
        result.level = Some(u32::MAX);
    }
    let report = RunReport::of_results(report.results);
    let html = html(&report);
    assert!(!html.contains("NaN") && !html.contains(">inf<"));
    let json = zer0gravity_engine::report::export_json(&report);
    assert!(!json.contains("NaN"));
    assert!(RunReport::read(&json).is_ok());
    zer0gravity_engine::report::export_csv(&report);
}

#[test]
fn ids_may_be_anything_and_the_same() {
    let mut results = small().results;
    for result in &mut results {
        result.test_case_id = "score".into();
        result.encoding_id = "result-0".into();
    }
    let report = RunReport::of_results(results);
    let page = Html::parse_document(&html(&report));
    assert_eq!(report.statistics.per_encoding.len(), 1);
    // Every link leads somewhere, and no place has its name twice.
    let ids: Vec<&str> = found(&page, "[id]")
        .iter()
        .filter_map(|e| e.attr("id"))
        .collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    for link in found(&page, "[href]") {
        let to = link.attr("href").unwrap().trim_start_matches('#');
        assert!(ids.contains(&to), "{to}");
    }
}
