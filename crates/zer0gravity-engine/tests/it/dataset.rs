//! Datasets and samples, good and bad.

use proptest::prelude::*;
use zer0gravity_engine::dataset::CaseFormat::{Csv, Json, JsonLines};
use zer0gravity_engine::dataset::{
    Case, CaseError, CaseFormat, ParsedCases, parse_cases, parse_samples,
};
use zer0gravity_engine::judge::score::TokenPair;

fn case(id: &str, text: &str) -> Case {
    Case::new(id, text)
}

fn lines(errors: &[CaseError]) -> Vec<String> {
    errors
        .iter()
        .map(|error| format!("{}: {}", error.line, error.problem))
        .collect()
}

/// The ids that are read, and what is wrong by line.
fn cases(file: &str, format: CaseFormat) -> (Vec<String>, Vec<String>) {
    let ParsedCases { cases, errors, .. } = parse_cases(file.as_bytes(), format, "file");
    let ids = cases.into_iter().map(|case| case.id).collect();
    (ids, lines(&errors))
}

#[test]
fn the_three_forms_hold_the_same() {
    let full = case("1", "two\nlines, and \"quotes\"")
        .expected_output(Some("U:a".into()))
        .explanation(Some("because".into()))
        .genre(Some("task".into()))
        .tags(vec!["x".into(), "y z".into()]);
    let expected = vec![full, case("b", " ")];
    let array = r#"[{"id":"1","text":"two\nlines, and \"quotes\"","expectedOutput":"U:a","explanation":"because",
        "genre":"task","tags":["x","y z"],"other":[{}]},{"id":"b","text":" ","tags":null,"genre":null}]"#;
    let level = format!(r#"{{"level":1,"name":"n","description":7,"cases":{array}}}"#);
    let json_lines = "{\"id\":\"1\",\"text\":\"two\\nlines, and \\\"quotes\\\"\",\"expectedOutput\":\"U:a\",\"explanation\":\"because\",\"genre\":\"task\",\"tags\":[\"x\",\"y z\"]}\r\n\n  \n{\"id\":\"b\",\"text\":\" \"}\n";
    let csv = "tags,text, id ,expectedOutput,explanation,genre,other\r\nx; y z;,\"two\nlines, and \"\"quotes\"\"\",1,U:a,because,task,7\r\n,\" \",b,,,,\r\n";
    for (file, format) in [
        (array, Json),
        (level.as_str(), Json),
        (json_lines, JsonLines),
        (csv, Csv),
    ] {
        for bom in ["", "\u{feff}"] {
            let file = format!("{bom}{file}");
            let ParsedCases { cases, errors, .. } = parse_cases(file.as_bytes(), format, "file");
            assert_eq!((lines(&errors), cases), (Vec::new(), expected.clone()));
        }
    }
}

#[test]
fn every_bad_line_is_listed() {
    let long = "i".repeat(129);
    let file = format!(
        r#"{{"id":"a","text":"x"}}
{{"id":"a","text":"y"}}
{{"id":5,"text":"y"}}

{{"text":"y"}}
{{"id":"c"}}
{{"id":"d","text":["y"]}}
{{"id":"","text":"y"}}
{{"id":"{long}","text":"y"}}
{{"id":"a\tb","text":"y"}}
{{"id":"e","text":"y","tags":[1]}}
{{"id":"f","text":"y","expectedOutput":3}}
["g"]
not json
{{"id":"h","text":"y"
{{"id":"i","text":"\ud800"}}
{{"id":null,"text":"y"}}
{{"id":"j","text":"z"}}"#
    );
    let (ids, errors) = cases(&file, JsonLines);
    assert_eq!(ids, ["a", "line-5", "line-17", "j"]);
    assert_eq!(
        errors,
        [
            "2: id `a` again, first on line 1; rename one of them",
            "3: `id` is a number, not a text",
            "6: no `text`",
            "7: `text` is a list, not a text",
            "8: `id` has 0 characters, not 1 to 128",
            "9: `id` has 129 characters, not 1 to 128",
            "10: `id` holds a control character; remove it",
            "11: `tags` is a number, not a list of texts",
            "12: `expectedOutput` is a number, not a text",
            "13: not a JSON object; expected one such as {\"text\": \"...\"}",
            "14: not JSON: expected ident",
            "15: not JSON: EOF while parsing an object",
            "16: not JSON: unexpected end of hex escape",
        ]
    );
    assert_eq!(
        cases(
            &format!(r#"{{"id":"{}","text":""}}"#, "é".repeat(128)),
            JsonLines
        )
        .1
        .len(),
        0
    );
}

#[test]
fn cases_of_a_json_file_have_lines_too() {
    let file = "[\n {\"id\": \"a\", \"text\": \"x\"},\n {\"id\": \"a\",\n  \"text\": \"y\"}, 7,\n {\"id\": \"b\"}\n]";
    assert_eq!(
        cases(file, Json),
        (
            vec!["a".to_owned()],
            vec![
                "3: id `a` again, first on line 2; rename one of them".to_owned(),
                "4: not a JSON object; expected one such as {\"text\": \"...\"}".to_owned(),
                "5: no `text`".to_owned(),
            ]
        )
    );
    for (file, error) in [
        ("", "1: no case in it; add at least one text"),
        ("[]", "1: no case in it; add at least one text"),
        ("{\"cases\": []}", "1: no case in it; add at least one text"),
        ("{\"level\": 1}", "1: no `cases`"),
        (
            "{\"cases\": 5}",
            "1: not JSON: invalid type: integer `5`, expected a sequence",
        ),
        (
            "7",
            "1: not a JSON object; expected one such as {\"text\": \"...\"}",
        ),
        (
            "[\n{\"id\": \"a\", \"text\": \"x\"}\n",
            "3: not JSON: EOF while parsing a list",
        ),
    ] {
        assert_eq!(
            cases(file, Json),
            (Vec::new(), vec![error.to_owned()]),
            "{file}"
        );
    }
}

#[test]
fn rows_of_a_csv_file_have_lines() {
    let file =
        "id,text\r\na,\"x\r\ny\"\r\n\r\nb,y,z\r\na,z\nc,5\" pipe\n\nd\n,e\nf,ok\ng,\"open\nh,x\n";
    assert_eq!(
        cases(file, Csv),
        (
            vec!["a".to_owned(), "row-3".to_owned(), "f".to_owned()],
            vec![
                "5: 3 cells, the header row has 2; quote cells that contain a comma".to_owned(),
                "6: id `a` again, first on line 2; rename one of them".to_owned(),
                "7: a quotation mark without its partner; close the cell, and double the marks in it".to_owned(),
                "9: 1 cells, the header row has 2; quote cells that contain a comma".to_owned(),
                "12: a quotation mark without its partner; close the cell, and double the marks in it".to_owned(),
            ]
        )
    );
    for (file, error) in [
        ("", "1: no case in it; add at least one text"),
        ("id,text\n", "1: no case in it; add at least one text"),
        (
            "id,txt\na,b\n",
            "1: no column `text`; name it in the header row",
        ),
        (
            "\n\nid,text,id\na,b,c\n",
            "3: column `id` twice; remove or rename one",
        ),
    ] {
        assert_eq!(
            cases(file, Csv),
            (Vec::new(), vec![error.to_owned()]),
            "{file}"
        );
    }
}

#[test]
fn a_file_that_is_not_utf8_holds_no_case() {
    for format in [Json, JsonLines, Csv] {
        let ParsedCases { cases, errors, .. } =
            parse_cases(b"id,text\na,b\nb,\xff\n", format, "file");
        assert_eq!(
            (cases, lines(&errors)),
            (
                vec![],
                vec!["3: not UTF-8; save the file as UTF-8".to_owned()]
            )
        );
    }
}

#[test]
fn samples_carry_numbers_or_none() {
    let file = r#"{"id":"a","text":"t","encodedText":"e","decodedText":"d"}
{"id":"b","text":"t","encodedText":"","decodedText":"","encodingSystem":"r","originalTokens":0,"encodedTokens":7.0,"semanticScore":40,"implementabilityScore":0}
{"id":"c","text":"t","encodedText":"e"}
{"id":"d","text":"t","encodedText":"e","decodedText":"d","originalTokens":5}
{"id":"e","text":"t","encodedText":"e","decodedText":"d","originalTokens":null,"encodedTokens":5}
{"id":"f","text":"t","encodedText":"e","decodedText":"d","originalTokens":-1,"encodedTokens":5}
{"id":"g","text":"t","encodedText":"e","decodedText":"d","originalTokens":1.5,"encodedTokens":5}
{"id":"h","text":"t","encodedText":"e","decodedText":"d","originalTokens":"1","encodedTokens":5}
{"id":"i","text":"t","encodedText":"e","decodedText":"d","semanticScore":41}
{"id":"j","text":"t","encodedText":"e","decodedText":"d","implementabilityScore":4.5}
{"id":"k","text":"t","encodedText":"e","decodedText":"d","originalTokens":1e300,"encodedTokens":5}
{"id":"a","text":"t","encodedText":"e","decodedText":"d"}"#;
    let (samples, errors) = parse_samples(file.as_bytes(), JsonLines, "file");
    assert_eq!(samples.len(), 2);
    assert_eq!((samples[0].tokens, samples[0].semantic_score), (None, None));
    let given = &samples[1];
    assert_eq!(
        (
            given.tokens,
            given.semantic_score,
            given.implementability_score,
            given.encoding_system.as_deref()
        ),
        (
            Some(TokenPair {
                original: 0,
                encoded: 7
            }),
            Some(40),
            Some(0),
            Some("r")
        )
    );
    assert_eq!(
        lines(&errors),
        [
            "3: no `decodedText`",
            "4: `originalTokens` without `encodedTokens`; give both or neither",
            "5: `encodedTokens` without `originalTokens`; give both or neither",
            "6: `originalTokens` is -1, not a whole number from 0 to 9007199254740992",
            "7: `originalTokens` is 1.5, not a whole number from 0 to 9007199254740992",
            "8: `originalTokens` is a text, not a number",
            "9: `semanticScore` is 41, not a whole number from 0 to 40",
            "10: `implementabilityScore` is 4.5, not a whole number from 0 to 5",
            "11: `originalTokens` is 1e+300, not a whole number from 0 to 9007199254740992",
            "12: id `a` again, first on line 1; rename one of them",
        ]
    );
    let csv = "id,text,encodedText,decodedText,originalTokens,encodedTokens,semanticScore\na,t,e,d, 8 ,7,\nb,t,e,d,x,7,\nc,t,e,d,NaN,7,\n";
    let (samples, errors) = parse_samples(csv.as_bytes(), Csv, "file");
    assert_eq!(
        samples[0].tokens,
        Some(TokenPair {
            original: 8,
            encoded: 7
        })
    );
    assert_eq!(samples[0].semantic_score, None);
    assert_eq!(lines(&errors).len(), 2);
    let (_, errors) = parse_samples(b"id,text,encodedText\n", Csv, "file");
    assert_eq!(
        lines(&errors),
        ["1: no column `decodedText`; name it in the header row"]
    );
}

#[test]
fn deep_nesting_is_one_bad_line() {
    let file = format!(
        "{{\"id\":\"a\",\"text\":\"x\",\"other\":{}",
        "[".repeat(1 << 20)
    );
    for format in [Json, JsonLines] {
        let (ids, errors) = cases(&file, format);
        assert_eq!((ids.len(), errors.len()), (0, 1));
    }
    let array = format!("[{}]", "[".repeat(1 << 20));
    assert_eq!(cases(&array, Json).1.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_file_makes_a_reader_fail(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..64),
            "(id,text\r?\n)?[a-c,\"\r\n]{0,32}".prop_map(String::into_bytes),
            "[{}\\[\\]\"a:,\r\n 1]{0,32}".prop_map(String::into_bytes),
        ]
    ) {
        let last = bytes.split(|byte| *byte == b'\n').count();
        for format in [Json, JsonLines, Csv] {
            let ParsedCases { cases, errors, .. } = parse_cases(&bytes, format, "file");
            prop_assert!(!cases.is_empty() || !errors.is_empty());
            prop_assert!(errors.iter().all(|error| (1..=last).contains(&error.line)), "{:?}", errors);
            parse_samples(&bytes, format, "file");
        }
    }

    #[test]
    fn a_csv_file_by_another_writer_is_read_back(
        rows in prop::collection::btree_map("[a-z]{1,4}", any::<String>(), 1..6)
    ) {
        let lines: String = rows
            .iter()
            .flat_map(|(id, text)| [id, ",\"", &text.replace('"', "\"\""), "\"\r\n"].map(str::to_owned))
            .collect();
        let file = format!("id,text\r\n{lines}");
        let expected: Vec<_> = rows.iter().map(|(id, text)| case(id, text)).collect();
        let ParsedCases { cases, errors, .. } = parse_cases(file.as_bytes(), Csv, "file");
        prop_assert_eq!((cases, errors), (expected, vec![]));
    }
}

#[test]
fn z38_a_case_without_an_id_is_called_after_its_place() {
    let found = |file: &str, format| {
        let (ids, errors) = cases(file, format);
        assert_eq!(errors, Vec::<String>::new());
        ids
    };
    let lines = "{\"text\":\"x\"}\n\n{\"id\":\"own\",\"text\":\"y\"}\n{\"id\":null,\"text\":\"z\"}";
    assert_eq!(found(lines, JsonLines), ["line-1", "own", "line-4"]);
    assert_eq!(
        found(r#"[{"text":"x"}, {"text":"y"}]"#, Json),
        ["case-1", "case-2"]
    );
    assert_eq!(
        found("text\nx\n\"y\nz\"\nlast\n", Csv),
        ["row-1", "row-2", "row-3"]
    );
    assert_eq!(found("id,text\n,x\nown,y\n", Csv), ["row-1", "own"]);
    // A name that is taken is taken.
    let (_, errors) = cases(
        "{\"id\":\"line-2\",\"text\":\"x\"}\n{\"text\":\"y\"}",
        JsonLines,
    );
    assert_eq!(
        errors,
        ["2: id `line-2` again, first on line 1; rename one of them"]
    );
}

#[test]
fn z38_texts_may_have_another_name() {
    for field in ["input", "prompt", "content"] {
        let file = format!("{{\"id\":\"a\",\"{field}\":\"x\"}}");
        let parsed = parse_cases(file.as_bytes(), JsonLines, "file");
        assert_eq!(
            (parsed.cases, parsed.text_field),
            (vec![case("a", "x")], field)
        );
        let parsed = parse_cases(format!("id,{field}\na,x\n").as_bytes(), Csv, "file");
        assert_eq!(
            (parsed.cases, parsed.text_field),
            (vec![case("a", "x")], field)
        );
    }
    // The field `text` is the text, whatever else there is.
    let both = b"{\"id\":\"a\",\"input\":\"y\",\"text\":\"x\"}";
    let parsed = parse_cases(both, JsonLines, "file");
    assert_eq!(
        (parsed.cases, parsed.text_field),
        (vec![case("a", "x")], "text")
    );
}

#[test]
fn z38_a_text_file_is_one_case() {
    let parsed = parse_cases(
        "\u{feff}one\n\ntwo \r\n\n".as_bytes(),
        CaseFormat::Text,
        "a/b.c.md",
    );
    assert_eq!(parsed.cases, [case("b.c", "one\n\ntwo ")]);
    let (_, errors) = cases("x", CaseFormat::Text);
    assert_eq!(errors, Vec::<String>::new());
    let parsed = parse_cases(b"\xff", CaseFormat::Text, "a.txt");
    assert_eq!(
        lines(&parsed.errors),
        ["1: not UTF-8; save the file as UTF-8"]
    );
}
