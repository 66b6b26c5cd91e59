//! The limits of an import, the order of its times, and flags that do not fit the files.

use std::fmt::Write as _;

use logosphere_core::import::{ColumnName, ImportError, ImportPlan, Imported, ImportedRun};
use logosphere_core::report::{ReportData, ReportSource, page};
use scraper::Html;
use serde_json::Value;
use test_support::page::texts;

use super::{csv, imported, jsonl, plan, problems, written};

fn texts_of(imported: &Imported) -> Vec<&str> {
    let texts = imported.messages.iter();
    texts.map(|message| message.text.as_str()).collect()
}

fn mapped(columns: &[&str]) -> ImportPlan {
    let mut plan = ImportPlan::default();
    plan.columns = (columns.iter())
        .map(|column| column.parse::<ColumnName>().unwrap())
        .collect();
    plan
}

#[test]
fn too_many_rounds_name_the_smallest_one_that_fits() {
    let two = |first: &str, last: &str| {
        format!("{{\"text\":\"a\",\"time\":{first}}}\n{{\"text\":\"b\",\"time\":{last}}}\n")
    };
    let years = two("0", "1767225600");
    for (text, round, expected) in [
        // 490,896 hours and a half; 20,454 days and a half.
        (
            years.as_str(),
            "1h",
            "gives 490897 rounds, and the most are 10000; use 50h",
        ),
        (&years, "7h", "use 50h"),
        (
            &years,
            "1d",
            "gives 20455 rounds, and the most are 10000; use 3d",
        ),
        (
            &"{\"text\":\"a\"}\n".repeat(20_001),
            "messages:1",
            "use messages:3",
        ),
    ] {
        let error = problems(imported(text.as_bytes(), false, plan("", round)));
        assert!(error.contains(expected), "{round}: {error}");
        let fits = error.rsplit(' ').next().unwrap();
        let found = imported(text.as_bytes(), false, plan("", fits)).unwrap();
        assert!(found.rounds() <= 10_000, "{fits}");
        // The rule before it does not fit.
        let shorter = match fits {
            "50h" => "49h",
            "3d" => "2d",
            _ => "messages:2",
        };
        let error = problems(imported(text.as_bytes(), false, plan("", shorter)));
        assert!(error.ends_with(&format!("use {fits}")), "{error}");
    }
}

#[test]
fn a_file_of_imported_messages_has_the_same_limit() {
    let text = "{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
    let whole = String::from_utf8(written(&jsonl(text).unwrap())).unwrap();
    let second = |round: &str| {
        let at = whole.rfind("\"round\":1,").unwrap();
        whole[..at].to_owned() + &whole[at..].replacen("\"round\":1,", round, 1)
    };
    let last = second("\"round\":10000,");
    let read = ImportedRun::read(last.as_bytes()).unwrap();
    assert_eq!(read.transcript.rounds.len(), 10_000);
    for round in ["10001", "4294967295"] {
        let altered = second(&format!("\"round\":{round},"));
        let error = ImportedRun::read(altered.as_bytes()).unwrap_err();
        let expected = format!("line 3: round {round}: the most are 10000; import");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn the_page_of_many_rounds_is_bounded() {
    let lines = "{\"text\":\"the river keeps the bridge\"}\n{\"text\":\"count the doors\"}\n";
    let size = |messages: usize, points: usize, words: &str| {
        let text = lines.repeat(messages / 2);
        let found = imported(text.as_bytes(), false, plan("none", "messages:1")).unwrap();
        // The first message is a seed.
        let whole = String::from_utf8(written(&found)).unwrap();
        let whole = whole.replacen("\"round\":1,", "\"round\":0,", 1);
        let run = ImportedRun::read(whole.as_bytes()).unwrap();
        let source = ReportSource::Import {
            header: Box::new(run.header),
            authors: run.authors,
        };
        let plan = ReportData::plan(0, 1);
        let data = ReportData::measured(source, run.transcript, &plan, &mut |_| {
            std::ops::ControlFlow::Continue(())
        });
        let html = page(&data.unwrap()).render().unwrap();
        assert!(html.contains(words), "{words}");
        let html = Html::parse_document(&html);
        let data = |name: &str| -> Value {
            let text = texts(&html, &format!("#data-{name}")).concat();
            serde_json::from_str(&text).unwrap()
        };
        let measures = data("measures");
        let measured = measures[0]["points"].as_array().unwrap();
        assert_eq!(measured.len(), points);
        // The last round is always there, and the others are at equal distances before it.
        let last = measured.last().unwrap()["round"].as_u64().unwrap();
        assert_eq!(last, messages as u64);
        let distance = last - measured[points - 2]["round"].as_u64().unwrap();
        assert_eq!(distance, messages as u64 / points as u64);
        for shares in [&data("roots")[0][1], &data("seeds")[0]["shares"]] {
            let count = shares.as_array().unwrap().len();
            assert!((points..=points + 1).contains(&count), "{count}");
        }
    };
    size(
        1000,
        1000,
        "show one round in 10. The data of this page has all.",
    );
    size(
        4000,
        1000,
        "the data of this page has one in 4, back from the last.",
    );
}

#[test]
fn assumed_reads_are_limited_in_number() {
    let text = "{\"text\":\"a\"}\n".repeat(7000);
    let error = problems(imported(text.as_bytes(), false, plan("window:7000", "")));
    assert!(
        error.ends_with("--reads window:7000: gives more than 20000000 reads; use window:2857"),
        "{error}"
    );
    imported(text.as_bytes(), false, plan("window:2857", "")).unwrap();
}

#[test]
fn times_are_sorted_by_all_their_digits() {
    let time = |time: &str| {
        format!(
            "{{\"text\":\"{}\",\"time\":{time}}}\n",
            time.replace('"', "")
        )
    };
    for times in [
        ["1767000000.0001", "1767000000.0002", "1767000000.0003"],
        [
            "1767000000.0000005",
            "1767000000.0000007",
            "1767000000.000001",
        ],
        [
            "1767000000000.0001",
            "1767000000000.0002",
            "1767000000000.5",
        ],
        ["-1.0000002", "-1.0000001", "-1"],
        [
            "1767000000.000000001",
            "1767000000.000000002",
            "1.767000000000000003e9",
        ],
        [
            "1767000000000.000001",
            "1767000000000.000002",
            "1767000000000.0000030",
        ],
        [
            "\"1767000000.000000001\"",
            "\"1767000000.000000002\"",
            "\"1767000000000.000003\"",
        ],
        [
            "\"2026-01-02T00:00:00.000000001Z\"",
            "\"2026-01-02T00:00:00.000000002Z\"",
            "\"2026-01-02T01:00:00.000000003+01:00\"",
        ],
    ] {
        let sorted: Vec<String> = times.iter().map(|time| time.replace('"', "")).collect();
        let text: String = [2, 0, 1].map(|at| time(times[at])).concat();
        assert_eq!(texts_of(&jsonl(&text).unwrap()), sorted, "{text}");
    }
    // The key may have another name, and be there twice.
    let text = "{\"text\":\"a\",\"at\":1,\"time\":0.5,\"\\u0061t\":1767000000.123456789}";
    let found = imported(text.as_bytes(), false, mapped(&["time=at"])).unwrap();
    assert_eq!(
        found.messages[0].time.unwrap().to_string(),
        "2025-12-29T09:20:00.123456789Z"
    );
    let shown = |text: &str| {
        let found = csv(&format!("text,time\na,{text}\n")).unwrap();
        found.messages[0].time.unwrap().to_string()
    };
    for (text, expected) in [
        ("1767000000.1", "2025-12-29T09:20:00.1Z"),
        ("1.767e9", "2025-12-29T09:20:00Z"),
        ("17670000001e-1", "2025-12-29T09:20:00.1Z"),
        ("+.5", "1970-01-01T00:00:00.5Z"),
        ("-0.0000000001", "1969-12-31T23:59:59.999999999Z"),
        ("100000000000", "1973-03-03T09:46:40Z"),
        ("0e99999", "1970-01-01T00:00:00Z"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
    for wrong in ["1e18", "inf", "nan", "1e-99999999999"] {
        let error = problems(csv(&format!("text,time\na,{wrong}\n")));
        assert!(error.contains("unreadable time"), "{wrong}: {error}");
    }
}

#[test]
fn columns_that_are_not_used_are_refused() {
    let text = "{\"body\":\"a\",\"text\":\"b\"}\n{\"from\":null,\"text\":\"c\"}\n";
    imported(
        text.as_bytes(),
        false,
        mapped(&["text=text", "author=from"]),
    )
    .unwrap();
    for (columns, expected) in [
        (
            &["author=name"][..],
            "--map author=name: no line of JSON has this key",
        ),
        // The other problem follows from this one.
        (&["text=nowhere"], "--map text=nowhere: no line of JSON has"),
        (
            &["text=body", "text=text"],
            "--map names two columns for the field text",
        ),
    ] {
        let error = problems(imported(text.as_bytes(), false, mapped(columns)));
        assert!(error.starts_with(expected), "{error}");
    }
    let error = problems(imported(b"a,b\n1,2\n", true, mapped(&["text=a", "text=b"])));
    assert!(error.starts_with("--map names two"), "{error}");
    let error = problems(imported(b"nonsense", false, mapped(&["text=body"])));
    assert!(error.contains("not a JSON object"), "{error}");
}

#[test]
fn rounds_that_are_not_recorded_are_refused() {
    let error = problems(imported(b"{\"text\":\"a\"}", false, plan("", "recorded")));
    assert!(
        error.starts_with("--round recorded: not all messages"),
        "{error}"
    );
}

#[test]
fn a_header_is_checked_and_its_error_is_short() {
    for (text, at) in [
        (&b"text,\xff\na,b\n"[..], 5),
        (b"\xef\xbb\xbftext,a\xc3\n", 9),
    ] {
        let error = problems(imported(text, true, ImportPlan::default()));
        let expected = format!("m.csv: line 1: invalid UTF-8 at byte {at} of the file");
        assert_eq!(error, expected);
    }
    // An invalid byte of a message is not one of the header.
    let error = problems(imported(b"text\n\xff\n", true, ImportPlan::default()));
    assert!(error.contains("line 2: invalid UTF-8 at byte 5"), "{error}");
    let mut header = String::new();
    for column in 0..100_000 {
        let _ = write!(header, "column{column},");
    }
    let error = problems(csv(&format!("{header}\n")));
    assert!(error.len() < 1000, "{} bytes", error.len());
    assert!(
        error.contains("\"column19\" and 99981 more; --map"),
        "{error}"
    );
}

#[test]
fn messages_that_are_all_left_out_are_counted() {
    let mut skip = ImportPlan::default();
    skip.skip_bad = true;
    let error = problems(imported(b"{}\n{}\n", false, skip.clone()));
    assert_eq!(
        error,
        "the files contain no message; 2 bad ones were left out"
    );
    let error = imported(b"text\n\"\"\n", true, skip).unwrap_err();
    assert!(matches!(error, ImportError::Empty { skipped: 1 }));
}

#[test]
fn an_author_has_not_the_name_of_unknown_ones() {
    let text = b"{\"text\":\"a\",\"author\":\"a00\"}\n{\"text\":\"b\"}\n";
    let found = imported(text, false, ImportPlan::default()).unwrap();
    assert_eq!(found.messages[0].author, "a01");
    let mut keep = ImportPlan::default();
    keep.keep_authors = true;
    let error = problems(imported(text, false, keep));
    assert!(
        error.contains("m.jsonl line 1: the author a00 has the name of unknown ones"),
        "{error}"
    );
}
