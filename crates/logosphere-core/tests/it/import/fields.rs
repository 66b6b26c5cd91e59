//! Each field of a message, and each fault of a file.

use std::ops::ControlFlow;

use logosphere_core::import::{ColumnName, Import, ImportError, ImportPlan, MOST_TEXT};
use logosphere_core::verify::Exposure;
use serde_json::{Value, json};

use super::{csv, imported, jsonl, plan, problems, run, written};

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = str::from_utf8(bytes).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_file_has_the_form_of_the_specification() {
    let text = "{\"id\":\"b\",\"author\":\"Bo\",\"time\":\"2026-01-02T00:00:05+01:00\",\"text\":\"two\",\"parent\":\"a\",\"reads\":[\"a\"]}\n\
        {\"id\":\"a\",\"author\":\"Al\",\"time\":1767000000,\"text\":\"one\"}\n\
        {\"author\":\"Bo\",\"text\":\"three\",\"reads\":[\"b\",\"nowhere\",\"a\",\"b\"]}\n";
    let found = jsonl(text).unwrap();
    let bytes = written(&found);
    let lines = lines(&bytes);
    let source = "{\"type\":\"import\",\"schema_version\":1,\"software\":\"logosphere-core 0.1.0\",\"sources\":[{\"name\":\"m.jsonl\",\"sha256\":";
    assert!(bytes.starts_with(source.as_bytes()));
    assert_eq!(lines[0]["exposure"], "recorded");
    assert_eq!(lines[0]["round"], "messages:50");
    assert_eq!(lines[0]["messages"], 3);
    // Of the reads of the third message two are later, and one is unknown.
    assert_eq!(lines[0]["lost_links"], 3);
    // Sorted by time; a message without one is after the message before it.
    assert_eq!(
        lines[1..],
        [
            json!({"type": "message", "id": 0, "source_id": "a", "round": 1, "author": "a01", "time": "2025-12-29T09:20:00Z",
                "text": "one", "parents": [], "reads": []}),
            json!({"type": "message", "id": 1, "source_id": "3", "round": 1, "author": "a02", "time": null,
                "text": "three", "parents": [], "reads": [0]}),
            json!({"type": "message", "id": 2, "source_id": "b", "round": 1, "author": "a02", "time": "2026-01-01T23:00:05Z",
                "text": "two", "parents": [0], "reads": [0]}),
        ]
    );
    assert_eq!(bytes, written(&jsonl(text).unwrap()));
}

#[test]
fn csv_is_read_by_rfc_4180() {
    let text = "\u{feff}id,text,author,time,parent,reads\r\n\
        1,\"a \"\"word\"\", and\r\na line\",Al,2026-01-02T00:00:00Z,,\r\n\
        2,=1+1,,2026-01-02T00:00:01.5Z,1,1\r\n\
        3,c,Bo,1767312002000,2; 1,\" 1;2 ;\"\r\n";
    let found = csv(text).unwrap();
    let texts: Vec<&str> = found.messages.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(texts, ["a \"word\", and\r\na line", "=1+1", "c"]);
    assert_eq!(found.messages[1].author, "a00");
    assert_eq!(found.messages[2].author, "a02");
    assert_eq!(
        found.messages[2].time.unwrap().to_string(),
        "2026-01-02T00:00:02Z"
    );
    let parents: Vec<u64> = found.messages[2].parents.iter().map(|id| id.0).collect();
    let reads: Vec<u64> = found.messages[2].reads.iter().map(|id| id.0).collect();
    assert_eq!((parents, reads), (vec![1, 0], vec![0, 1]));
    assert_eq!(found.header.exposure, Exposure::Recorded);
    // Without an id it is the number of the record's first line.
    let found = csv("text\n\"a\nb\"\nc\n").unwrap();
    let ids: Vec<&str> = found
        .messages
        .iter()
        .map(|m| m.source_id.as_str())
        .collect();
    assert_eq!(ids, ["2", "4"]);
}

#[test]
fn columns_have_other_names_and_faults_of_a_header_are_named() {
    let column = |text: &str| text.parse::<ColumnName>().unwrap();
    let mut named = ImportPlan::default();
    named.columns = vec![column("text=body"), column("author=from")];
    named.keep_authors = true;
    let found = imported(b"from,body\nAnn,hello\n", true, named.clone()).unwrap();
    assert_eq!(
        (&*found.messages[0].author, &*found.messages[0].text),
        ("Ann", "hello")
    );
    let found = imported(b"{\"body\":\"x\",\"from\":7}", false, named.clone()).unwrap();
    assert_eq!(found.messages[0].author, "7");
    let error = problems(imported(b"body\nhello\n", true, named));
    assert!(
        error.contains("found no column \"from\"; the columns are \"body\"; --map"),
        "{error}"
    );
    assert!(problems(csv("id,body\n")).contains("found no column \"text\""));
    assert!(problems(csv("text,text\na,b\n")).contains("two columns are named \"text\""));
    for wrong in ["text", "text=", "body=text", ""] {
        let error = wrong.parse::<ColumnName>().unwrap_err().to_string();
        assert!(error.contains("FIELD=COLUMN"), "{error}");
    }
}

#[test]
fn each_fault_is_named_with_its_line() {
    for (line, expected) in [
        ("nonsense", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ("{\"text\":\"a\"} {}", "not a JSON object"),
        ("{}", "text is missing"),
        ("{\"text\":null}", "text is missing"),
        ("{\"text\":\" \\n\\u3000\"}", "text is blank"),
        ("{\"text\":1}", "\"text\": expected a string"),
        (
            "{\"text\":\"b\",\"id\":\"1\"}",
            "the id \"1\" is not the first",
        ),
        (
            "{\"text\":\"b\",\"id\":1.5}",
            "\"id\": expected a string, or an integer from -2^63 to 2^64 - 1",
        ),
        (
            "{\"text\":\"b\",\"id\":18446744073709551616}",
            "an integer from -2^63 to 2^64 - 1",
        ),
        ("{\"text\":\"b\",\"id\":[]}", "\"id\": expected"),
        ("{\"text\":\"b\",\"author\":{}}", "\"author\": expected"),
        (
            "{\"text\":\"b\",\"parent\":{}}",
            "\"parent\": expected an id, or a list",
        ),
        (
            "{\"text\":\"b\",\"reads\":[[1]]}",
            "\"reads\": expected a list",
        ),
        (
            "{\"text\":\"b\",\"time\":\"yesterday\"}",
            "unreadable time \"yesterday\"",
        ),
        (
            "{\"text\":\"b\",\"time\":\"2026-01-02T00:00:00\"}",
            "unreadable time",
        ),
        ("{\"text\":\"b\",\"time\":1e300}", "unreadable time"),
        ("{\"text\":\"b\",\"time\":true}", "\"time\": expected"),
        ("{\"text\":\"a\\u0000b\"}", "NUL"),
        ("{\"text\":\"b\",\"author\":\"\\u0000\"}", "NUL"),
    ] {
        let text = format!("{{\"text\":\"a\",\"id\":1}}\n\n{line}\n");
        let error = problems(jsonl(&text));
        assert!(
            error.starts_with("1 bad message\nm.jsonl line 3: "),
            "{line}: {error}"
        );
        assert!(error.contains(expected), "{line}: {error}");
        assert!(error.ends_with("--skip-bad leaves them out"), "{error}");
        // Left out, it is counted.
        let mut skip = ImportPlan::default();
        skip.skip_bad = true;
        let found = imported(text.as_bytes(), false, skip).unwrap();
        assert_eq!(
            (found.header.skipped, found.messages.len()),
            (1, 1),
            "{line}"
        );
    }
    for (line, expected) in [
        ("1,b,c", "has 3 columns; the header has 2"),
        ("1", "has 1 columns"),
        ("1,", "text is missing"),
        ("1,\" \"", "text is blank"),
        ("0,b", "the id \"0\""),
        ("1,a\0b", "contains a NUL"),
    ] {
        let error = problems(csv(&format!("id,text\n0,a\n{line}\n")));
        assert!(
            error.contains(&format!("m.csv line 3: {expected}")),
            "{line}: {error}"
        );
    }
    let error = problems(csv("text,time\na,noon\n"));
    assert!(error.contains("unreadable time \"noon\""), "{error}");
}

#[test]
fn bytes_that_are_not_utf_8_are_named_by_their_place() {
    let mut skip = ImportPlan::default();
    skip.skip_bad = true;
    for (text, is_csv, at) in [
        (&b"{\"text\":\"a\"}\n{\"text\":\"\xff\"}\n"[..], false, 22),
        (
            b"\xef\xbb\xbf{\"text\":\"\xc3\"}\n{\"text\":\"a\"}",
            false,
            12,
        ),
        (b"text\n\"a \"\"b\"\" \xf0\x9f\"\nc\n", true, 14),
        (b"text\na\n\xc3", true, 7),
    ] {
        let error = problems(imported(text, is_csv, ImportPlan::default()));
        let expected = format!("invalid UTF-8 at byte {at} of the file");
        assert!(error.contains(&expected), "{error}");
        let found = imported(text, is_csv, skip.clone()).unwrap();
        assert_eq!(found.header.skipped, 1);
    }
    // A character in two parts of the buffer is one.
    let text = format!("text\n{}é\n", "x".repeat((1 << 16) - 7));
    let found = csv(&text).unwrap();
    assert!(found.messages[0].text.ends_with("xé"));
}

#[test]
fn twenty_faults_are_named_and_the_others_counted() {
    let error = problems(jsonl(&"{}\n".repeat(23)));
    assert!(error.starts_with("bad messages: 23\n"), "{error}");
    assert_eq!(error.matches(" line ").count(), 20);
    assert!(
        error.contains("line 20:") && error.contains("\nand 3 more\n"),
        "{error}"
    );
    assert!(matches!(jsonl(""), Err(ImportError::Empty { skipped: 0 })));
    assert!(matches!(
        csv("text\n"),
        Err(ImportError::Empty { skipped: 0 })
    ));
    assert!(matches!(csv(""), Err(ImportError::Empty { skipped: 0 })));
}

#[test]
fn sizes_are_limited() {
    let text = |size: usize| format!("{{\"text\":\"{}\"}}\n", "x".repeat(size));
    jsonl(&text(MOST_TEXT)).unwrap();
    let error = problems(jsonl(&text(MOST_TEXT + 1)));
    assert!(
        error.contains("text has 1048577 bytes; the most are 1048576"),
        "{error}"
    );
    let error = problems(jsonl(&text(17 << 20)));
    assert!(error.contains("line 1: longer than"), "{error}");
    // A quote without an end does not read the whole file into memory.
    let open = format!("text\n\"{}", "x".repeat(40 << 20));
    let error = csv(&open).unwrap_err();
    assert!(matches!(error, ImportError::Read { .. }), "{error}");
}

#[test]
fn rounds_are_counts_or_times() {
    let text = "{\"text\":\"a\",\"time\":\"2026-01-01T23:59:00Z\"}\n{\"text\":\"b\",\"time\":\"2026-01-02T00:00:00Z\"}\n\
        {\"text\":\"c\"}\n{\"text\":\"d\",\"time\":\"2026-01-02T03:30:00Z\"}\n";
    let rounds = |round: &str| -> Vec<u32> {
        let found = imported(text.as_bytes(), false, plan("", round)).unwrap();
        found
            .messages
            .iter()
            .map(|message| message.round.0)
            .collect()
    };
    assert_eq!(rounds("messages:3"), [1, 1, 1, 2]);
    assert_eq!(rounds("1h"), [1, 2, 2, 5]);
    assert_eq!(rounds("1d"), [1, 2, 2, 2]);
    assert_eq!(rounds("2d"), [1, 1, 1, 1]);
    let found = imported(text.as_bytes(), false, plan("", "1h")).unwrap();
    let sizes = run(&found).transcript.rounds;
    let sizes: Vec<usize> = sizes.iter().map(|round| round.pool_size).collect();
    assert_eq!(sizes, [1, 3, 3, 3, 4]);
    for wrong in ["0h", "1m", "messages:0", "messages:", "h", "", "-1d"] {
        assert!(
            wrong.parse::<logosphere_core::import::RoundRule>().is_err(),
            "{wrong}"
        );
    }
    let error = problems(imported(b"{\"text\":\"a\"}", false, plan("", "1h")));
    assert!(
        error.contains("--round 1h: 1 messages at the start have no time"),
        "{error}"
    );
}

#[test]
fn reads_are_recorded_assumed_or_unknown() {
    let text = "{\"id\":1,\"author\":\"A\",\"text\":\"a\"}\n{\"id\":2,\"author\":\"B\",\"text\":\"b\",\"parent\":1}\n\
        {\"id\":3,\"author\":\"A\",\"text\":\"c\",\"parent\":1}\n{\"id\":4,\"author\":\"B\",\"text\":\"d\",\"parent\":[3,9]}\n";
    let reads = |reads: &str| -> Vec<Vec<u64>> {
        let found = imported(text.as_bytes(), false, plan(reads, "")).unwrap();
        assert_eq!(found.header.lost_links, 1);
        let of = |ids: &[logosphere_core::pool::MessageId]| ids.iter().map(|id| id.0).collect();
        found
            .messages
            .iter()
            .map(|message| of(&message.reads))
            .collect()
    };
    assert_eq!(reads("thread"), [vec![], vec![0], vec![0, 1], vec![2, 0]]);
    // A parent was read, also outside of the window.
    assert_eq!(reads("window:1"), [vec![], vec![0], vec![1, 0], vec![2]]);
    assert_eq!(reads("none"), vec![Vec::<u64>::new(); 4]);
    assert_eq!(reads(""), vec![Vec::<u64>::new(); 4]);
    let exposure = |reads: &str| {
        imported(text.as_bytes(), false, plan(reads, ""))
            .unwrap()
            .header
            .exposure
    };
    assert_eq!(exposure(""), Exposure::Unknown);
    assert_eq!(exposure("window").to_string(), "window:15");
    let error = problems(imported(text.as_bytes(), false, plan("recorded", "")));
    assert!(error.contains("no message has the field reads"), "{error}");
    for wrong in ["window:0", "window:", "all", ""] {
        assert!(wrong.parse::<Exposure>().is_err(), "{wrong}");
    }
}

#[test]
fn files_are_read_one_after_another_and_can_be_stopped() {
    let mut on_line = || ControlFlow::Continue(());
    let mut import = Import::new(ImportPlan::default(), &mut on_line);
    import
        .add_jsonl("a.jsonl", &b"{\"text\":\"a\"}"[..])
        .unwrap();
    import.add_csv("b.csv", &b"text\nb\n"[..]).unwrap();
    let found = import.finish().unwrap();
    let ids: Vec<&str> = found
        .messages
        .iter()
        .map(|m| m.source_id.as_str())
        .collect();
    assert_eq!(ids, ["1", "2:2"]);
    let names: Vec<&str> = found
        .header
        .sources
        .iter()
        .map(|s| s.name.as_str())
        .collect();
    assert_eq!(names, ["a.jsonl", "b.csv"]);
    let mut on_line = || ControlFlow::Break(());
    let mut import = Import::new(ImportPlan::default(), &mut on_line);
    let stopped = import.add_jsonl("a.jsonl", &b"{\"text\":\"a\"}"[..]);
    assert!(matches!(stopped, Err(ImportError::Stopped)));
}
