//! The summary on stderr, byte for byte.

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, Ran, told, words};

/// The text of stderr from the summary's first line on.
#[track_caller]
fn summary(ran: &Ran) -> &str {
    let from = ran.stderr.find("Zer0 Gr@vity Experiment Results\n");
    assert!(from.is_some(), "{}", ran.stderr);
    &ran.stderr[from.unwrap()..]
}

fn asked(mode: StubMode, arguments: &[&str]) -> Ran {
    Place::new().asking(&CompressionStub::start(mode), arguments)
}

#[test]
fn of_a_level() {
    let ran = asked(StubMode::Ok, &["run", "--level", "1"]).exits(0);
    let expected = "\
Zer0 Gr@vity Experiment Results
================================
Rules:         built in
Level 1a: \"Hello world!\"
  Compression: 17% (12 → 10 tokens)
  Semantic:    38/40
  Total:       73/100

Level 1b: \"The quick brown fox...\"
  Compression: 16% (19 → 16 tokens)
  Semantic:    38/40
  Total:       72/100

Average:       72.5/100 (2 of 2 scored)
";
    assert_eq!(told(&ran), expected);
}

#[test]
fn of_failures_alone_has_no_average() {
    let ran = asked(StubMode::RefusalEncode, &["run", "--level", "3"]).exits(1);
    let detail = ran.results()[0]["outcome"]["detail"].clone();
    let expected = format!(
        "\
Zer0 Gr@vity Experiment Results
================================
Rules:         built in
Level 3a: \"Take the sentence: '...\"
  Failed:      refused at encode: {}
",
        detail.as_str().unwrap()
    );
    assert_eq!(summary(&ran), expected);
}

#[test]
fn of_a_dataset_where_one_failed() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    // Cut after 20 characters, and the white space before the cut goes; what is not longer stays whole.
    let lines = [
        r#"{"id": "lines", "text": "One\r\ntwo\rthree\nfour."}"#,
        r#"{"id": "no", "text": "[refuse] to encode this text"}"#,
        r#"{"id": "cut", "text": "exactly nineteen ch  and more"}"#,
        r#"{"id": "twenty", "text": "exactly twenty chars"}"#,
    ];
    place.file("set.jsonl", lines.join("\n"));
    let ran = place
        .asking(&stub, &["run", "--dataset", "set.jsonl"])
        .exits(3);
    let detail = ran.results()[1]["outcome"]["detail"].clone();
    let expected = format!(
        "\
Zer0 Gr@vity Experiment Results
================================
Rules:         built in
Case lines: \"One two three four.\"
  Compression: 8% (13 → 12 tokens)
  Semantic:    38/40
  Total:       64/100

Case no: \"[refuse] to encode t...\"
  Failed:      refused at encode: {}

Case cut: \"exactly nineteen ch...\"
  Compression: 7% (14 → 13 tokens)
  Semantic:    38/40
  Total:       63/100

Case twenty: \"exactly twenty chars\"
  Compression: 8% (13 → 12 tokens)
  Semantic:    38/40
  Total:       64/100

Average:       63.7/100 (3 of 4 scored)
",
        detail.as_str().unwrap()
    );
    assert_eq!(summary(&ran), expected);
}

#[test]
fn quiet_says_nothing() {
    for mode in [StubMode::Ok, StubMode::RefusalEncode] {
        let ran = asked(mode, &["run", "--level", "1", "--quiet"]);
        assert_eq!(told(&ran), "", "{mode:?}");
        assert_eq!(ran.results().len(), 2);
    }
}

#[test]
fn verbose_adds_lines_to_each_case() {
    let ran = asked(StubMode::Ok, &["run", "--level", "1", "--verbose"]).exits(0);
    let lines = |start: &str| {
        let lines = ran.stderr.lines();
        lines
            .filter(|line| line.trim_start().starts_with(start))
            .count()
    };
    for start in [
        "Efficiency:",
        "Learnability:",
        "Implementable:",
        "Tokens source:",
        "Flags:",
        "Total:",
    ] {
        assert_eq!(lines(start), 2, "{start}\n{}", ran.stderr);
    }
}

#[test]
fn z2_a_recovered_score_is_marked() {
    let ran = asked(StubMode::Prose, &["run", "--level", "3", "--verbose"]).exits(0);
    assert!(
        ran.stderr.contains("  Semantic:    38/40 (recovered)\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("  Implementable: 4/5 (recovered)\n"),
        "{}",
        ran.stderr
    );
    let reply = ran.results()[0]["details"]["semanticJudge"]["samples"][0]["reply"].clone();
    assert!(reply.as_str().unwrap().contains("0-40 scale"), "{reply}");
}

#[test]
fn z3_an_estimate_names_its_error() {
    let arguments = words("run --level 3 --model gpt-x --no-measure-tokens");
    let ran = asked(StubMode::Count404, &arguments).exits(0);
    let line = "  Tokens source: local (estimate, error unknown for this model)\n";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
    let counter = &ran.results()[0]["metadata"]["tokenCounter"];
    assert_eq!(counter["tokenizer"], "cl100k");
}
