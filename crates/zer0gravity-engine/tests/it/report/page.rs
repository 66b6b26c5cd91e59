//! The page.

use scraper::Html;
use serde_json::Value;
use test_support::page::{found, reading, texts};
use zer0gravity_engine::judge::flags::FlagId;
use zer0gravity_engine::report::{RunReport, page};
use zer0gravity_engine::result::Metrics;
use zer0gravity_engine::{ExperimentResult, StageName, StageStatus, TokenSource};

use super::sample::{failed, flag, item, judged, numbered, report, small, tokens};

pub(crate) fn html(report: &RunReport) -> String {
    page(report).render().unwrap()
}

fn parsed(report: &RunReport) -> Html {
    Html::parse_document(&html(report))
}

/// The elements that a reader sees as blocks of text.
const BLOCKS: &str = "h1, h2, h3, h4, header p, section > p, .folded > p, div > dt, dd, caption, thead tr, tbody tr, figcaption, .text.code, .diff .text, p.note";

#[test]
fn a_small_report_reads_like_this() {
    let html = html(&small());
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("zer0gravity.html");
    std::fs::write(file, &html).unwrap();
    insta::assert_snapshot!(reading(&Html::parse_document(&html), BLOCKS));
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(html(&small()), html(&small()));
}

#[test]
fn the_data_inside_is_the_report() {
    let report = small();
    let page = parsed(&report);
    let data: Value = serde_json::from_str(&texts(&page, "#data-report").concat()).unwrap();
    assert_eq!(data, serde_json::to_value(&report).unwrap());
    // Anybody can take it out and read it back.
    assert_eq!(RunReport::read(&data.to_string()).unwrap(), report);
}

#[test]
fn banners_say_what_was_not_asked() {
    let notices = |report: &RunReport| texts(&parsed(report), "header .notice bdi").join("\n");
    let mut report = small();
    assert_eq!(notices(&report), "Recorded from scribe-1 on 2026-02-03.");
    report.created_at = String::new();
    assert_eq!(notices(&report), "Recorded from scribe-1.");
    report.replayed = true;
    assert!(notices(&report).starts_with("Replayed: "));
    report.offline = true;
    assert!(notices(&report).starts_with("Offline: no model was asked."));
    let mut results = small().results;
    for result in &mut results {
        result.offline = true;
    }
    assert!(notices(&RunReport::of_results(results)).starts_with("Offline: "));
}

#[test]
fn limits_say_what_was_estimated() {
    let limits = |report: &RunReport| texts(&parsed(report), "#at-limits > p").concat();
    let mut report = small();
    let text = limits(&report);
    assert!(
        text.starts_with("One judge, scribe-1, read every pair"),
        "{text}"
    );
    assert!(
        text.contains(
            "The sample is 3 texts, each encoded twice and each encoded text decoded once."
        )
    );
    assert!(!text.contains("estimate"));
    for item in &mut report.results {
        item.metadata.token_source = Some(TokenSource::Local);
    }
    assert!(limits(&report).contains("All token numbers are estimates"));
    report.results[0].metadata.token_source = Some(TokenSource::Usage);
    assert!(limits(&report).contains("The token numbers of 11 results are estimates"));
}

#[test]
fn leads_say_the_result() {
    let lead =
        |results: Vec<ExperimentResult>| texts(&parsed(&report(results)), "header p").remove(0);
    assert_eq!(lead(Vec::new()), "There is no experiment in this report.");
    let broken = failed(
        item("e", "a", "x"),
        StageStatus::ApiError,
        StageName::Encode,
    );
    assert_eq!(
        lead(vec![broken.clone()]),
        "No scores from 1 experiment. Most often: api_error at encode (1)."
    );
    let one = tokens(item("e", "a", "x"), 100, 110);
    assert_eq!(
        lead(vec![one, broken.clone()]),
        "e scores 54.0 of 100 points on 1 text. Texts encoded by e have 10.0 % more tokens, and decoders that never saw the originals kept 36.0 of 40 points for meaning. 1 of 2 experiments failed and is not counted in any mean."
    );
    let mut many = Vec::new();
    for case in 0..8 {
        let case = case.to_string();
        many.push(judged(item("worse", &case, "x"), 20, 4));
        many.push(judged(item("better", &case, "x"), 30, 4));
    }
    let text = lead(many);
    assert!(
        text.starts_with("better scores best: 65.0 of 100 points on 8 texts"),
        "{text}"
    );
    assert!(
        text.ends_with(
            "On their 8 common texts the difference of 13.0 points is significant (p = 0.008)."
        ),
        "{text}"
    );
    let apart = lead(vec![item("one", "a", "x"), item("two", "b", "y")]);
    assert!(
        apart.ends_with("The two have no scored text in common."),
        "{apart}"
    );
}

/// A report of `count` results of ten encodings.
pub(super) fn many(count: usize) -> RunReport {
    let text =
        "The quick brown fox jumps over the lazy dog, and nobody asks why it would. ".repeat(6);
    let results = (0..count).map(|index| {
        let (encoding, case) = (
            format!("encoding-{}", index % 10),
            format!("text {}", index / 10),
        );
        let item = judged(
            item(&encoding, &case, &text),
            20 + (index * 7 % 20) as u8,
            4,
        );
        let original = 20 + index as i64;
        let item = tokens(
            item,
            original,
            original - original * (index as i64 % 37) / 100,
        );
        if index % 29 == 0 {
            failed(item, StageStatus::ApiError, StageName::Decode)
        } else {
            item
        }
    });
    report(results.collect())
}

#[test]
fn a_thousand_results_stay_readable() {
    let report = many(1_000);
    let html = html(&report);
    let data = serde_json::to_string(&report).unwrap().len();
    assert!(
        html.len() < data + 2_000_000,
        "{} bytes, {data} of data",
        html.len()
    );
    let page = Html::parse_document(&html);
    assert_eq!(found(&page, "#at-experiments details .diff").len(), 165);
    assert!(
        texts(&page, "#at-experiments > p")
            .concat()
            .starts_with("200 of 1000 experiments")
    );
    assert!(
        texts(&page, "#at-texts .note")
            .concat()
            .contains("first 300 of 1000 rows")
    );
    // Every text is folded away until somebody wants it.
    assert!(found(&page, "#at-experiments details[open]").is_empty());
}

#[test]
fn of_two_the_better_one_stands_first() {
    let mut results = Vec::new();
    for case in 0..8 {
        let case = case.to_string();
        results.push(judged(item("worse", &case, "x"), 20, 4));
        results.push(judged(item("better", &case, "x"), 30, 4));
    }
    let cells = |results| texts(&parsed(&report(results)), "#at-pairs tbody tr > *");
    let row = [
        "better",
        "worse",
        "8",
        "13.0 [13.0, 13.0]",
        "0.008",
        "0.008",
        "✓significant",
    ];
    assert_eq!(cells(results.clone()), row);
    results.reverse();
    assert_eq!(cells(results), row);
}

#[test]
fn repeats_are_told_apart() {
    let results = vec![
        item("e", "a", "x"),
        numbered(item("e", "a", "x"), 2, 1),
        numbered(item("e", "a", "x"), 2, 3),
    ];
    let titles = texts(&parsed(&report(results)), "#at-experiments h4");
    assert_eq!(
        titles,
        [
            "e: 74 of 100",
            "e, trial 2: 74 of 100",
            "e, trial 2, decoding 3: 74 of 100"
        ]
    );
}

#[test]
fn z45_an_encoding_with_a_critical_flag_is_not_called_the_best() {
    let mut results = Vec::new();
    for case in 0..8 {
        for (encoding, points) in [("cheat", 40), ("good", 34), ("plain", 20)] {
            results.push(judged(item(encoding, &format!("c{case}"), "x"), points, 4));
        }
    }
    let open = report(results.clone()).lead();
    assert!(open.starts_with("cheat scores best"), "{open}");
    results[0]
        .flags
        .push(flag(FlagId::RulesContainText, "the text"));
    let lead = report(results).lead();
    assert!(lead.starts_with("good scores best"), "{lead}");
    assert!(lead.contains("plain follows"), "{lead}");
    assert!(
        lead.contains(" is not ranked: results carry critical flags."),
        "{lead}"
    );
    assert!(
        lead.contains("On their 8 common texts the difference of"),
        "{lead}"
    );
}

#[test]
fn z45_headings_are_nouns_and_axes_have_the_whole_scale() {
    let html = page(&small()).render().unwrap();
    for heading in [
        "Flags",
        "Token savings",
        "Rule lint",
        "Judge bias",
        "Limits",
    ] {
        assert!(html.contains(&format!(">{heading}<")), "{heading}");
    }
    for gone in [
        "What to look at",
        "What it saves",
        "How mild",
        "told apart",
        "chance may give",
    ] {
        assert!(!html.contains(gone), "{gone}");
    }
}

#[test]
fn n7_differences_are_underlined_and_counted_by_kind() {
    let hostile = "<script>alert(1)</script>";
    let mut results = Vec::new();
    for (case, original, decoded) in [
        (
            "a",
            "Do not open valve V-12 before 08:30.",
            "Do not open valve V-12 after 08:30.",
        ),
        ("b", "Ask Ann twice.", &format!("Ask Bob twice {hostile}.")),
        ("c", "Ask Ann again.", "Ask Ann again."),
    ] {
        for encoding in ["e", "f"] {
            let mut one = item(encoding, case, original);
            one.decoded_text = Some(decoded.into());
            one.metrics = Some(Metrics::of(original, decoded));
            results.push(one);
        }
    }
    let page = parsed(&report(results));
    let rows = texts(&page, "#at-commitments tbody tr");
    assert_eq!(rows.len(), 12, "{rows:?}");
    assert!(
        rows.iter()
            .any(|row| row.contains("order") && row.contains("0 of 1")),
        "{rows:?}"
    );
    let names = rows.iter().filter(|row| row.starts_with("name"));
    assert!(
        names
            .clone()
            .all(|row| row.contains("1 of 2") && row.ends_with('b')),
        "{rows:?}"
    );
    assert_eq!(names.count(), 2);
    assert_eq!(
        texts(&page, ".diff .text del u"),
        ["before", "before", "Ann", "Ann"]
    );
    assert!(texts(&page, ".diff .text ins u").contains(&"after".to_owned()));
    let facts = texts(&page, "dd").join("\n");
    assert!(facts.contains("order changed: before → after"), "{facts}");
    assert!(found(&page, "main script:not([type])").is_empty());
}
