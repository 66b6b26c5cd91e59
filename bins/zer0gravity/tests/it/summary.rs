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
Cost:          $0.008358, 12 calls, 0 retries, 2,141 tokens in, 129 out
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

Cost:          $0.001119, 2 calls, 0 retries, 373 tokens in, 0 out
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
Cost:          $0.013176, 20 calls, 0 retries, 3,467 tokens in, 185 out
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

/// The line of what a run spent.
fn cost_line(text: &str) -> &str {
    let mut lines = text
        .lines()
        .filter(|line| line.to_lowercase().starts_with("cost:"));
    let line = lines.next().unwrap();
    assert_eq!(lines.next(), None, "{text}");
    line
}

/// The same line by the calls that are kept and by the server's count of requests.
fn kept_cost(place: &Place, stub: &CompressionStub) -> String {
    let calls = place.read("dir/calls.jsonl");
    let (mut nanos, mut sums) = (0, [0; 4]);
    for line in calls.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let answer = ["reply", "count"]
            .iter()
            .find_map(|kind| line.get(kind))
            .unwrap();
        let attempts = answer["call"]["attempts"].as_u64().unwrap();
        let usage = |name: &str| answer["usage"][name].as_u64().unwrap_or(0);
        let parts = [1, attempts - 1, usage("input"), usage("output")];
        sums.iter_mut()
            .zip(parts)
            .for_each(|(sum, part)| *sum += part);
        nanos += answer["costNanos"].as_i64().unwrap_or(0);
    }
    let [calls, retries, input, output] = sums;
    assert_eq!(calls + retries, stub.stats().calls as u64);
    let usd = llm_client::Usd(nanos);
    let retries = format!(
        "{retries} {}",
        if retries == 1 { "retry" } else { "retries" }
    );
    let (input, output) = (thousands(input), thousands(output));
    format!("Cost:          {usd}, {calls} calls, {retries}, {input} tokens in, {output} out")
}

fn thousands(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    }
}

#[test]
fn n16_the_cost_is_the_sum_of_all_calls_and_of_the_requests_at_the_server() {
    for mode in [StubMode::Ok, StubMode::E500Once, StubMode::NoJson] {
        let (place, stub) = (Place::new(), CompressionStub::start(mode));
        let code = i32::from(mode == StubMode::NoJson);
        let run = place
            .asking(&stub, &words("run --all --trials 2 --run-dir dir"))
            .exits(code);
        let cost = kept_cost(&place, &stub);
        assert_eq!(cost_line(&run.stderr), cost);
        assert!(run.stderr.ends_with(&format!("{cost}\n")), "{}", run.stderr);
        // Nothing is asked again, and nothing is paid twice.
        let resume = place.asking(&stub, &words("resume dir")).exits(code);
        assert_eq!(cost_line(&resume.stdout), cost);
        let verbose = place.asking(&stub, &words("resume dir -v")).exits(code);
        assert_eq!(cost_line(&verbose.stdout), cost);
        let report = format!("{cost}\nreport: zer0gravity report dir\n");
        assert!(verbose.stdout.ends_with(&report), "{}", verbose.stdout);
        stub.reset(mode);
        let alone = place
            .asking(&stub, &words("run --all --trials 2"))
            .exits(code);
        assert_eq!(cost_line(&alone.stderr), cost);
    }
}

#[test]
fn n16_a_run_that_was_stopped_and_resumed_sums_both_parts() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let matrix = words("matrix --all --concurrency 1 --run-dir dir --max-usd 0.07");
    place.asking(&stub, &matrix).exits(130);
    let calls = stub.stats().calls;
    let resume = place
        .asking(&stub, &words("resume dir --max-usd 1"))
        .exits(0);
    assert!(stub.stats().calls > calls);
    let errors = |line: &&str| line.contains("\"error\":");
    let kept: String = place
        .read("dir/calls.jsonl")
        .split_inclusive('\n')
        .filter(|line| !errors(line))
        .collect();
    place.file("dir/calls.jsonl", kept);
    assert_eq!(cost_line(&resume.stdout), kept_cost(&place, &stub));
}

#[test]
fn n16_the_line_names_an_unknown_price_and_offline_there_is_none() {
    let run = asked(StubMode::Ok, &["run", "--level", "1", "--model", "gpt-x"]).exits(0);
    let line = cost_line(&run.stderr);
    assert!(
        line.starts_with("Cost:          unknown price, 12 calls, 0 retries, "),
        "{line}"
    );
    let place = Place::new();
    for line in ["run --level 1", "matrix --level 1", "matrix --level 1 -v"] {
        let all = place.alone(&words(line)).exits(0).all();
        assert!(!all.to_lowercase().contains("cost:"), "{all}");
    }
    let line = "run --level 1 --concurrency 1";
    let failed = asked(StubMode::E401, &words(line)).exits(1).stderr;
    let nothing = "Cost:          $0.00, 1 call, 0 retries, 0 tokens in, 0 out";
    assert_eq!(cost_line(&failed), nothing);
}

#[test]
fn verbose_shows_how_each_judge_replied() {
    let ran = asked(StubMode::Prose, &["run", "--level", "3", "-v"]).exits(0);
    let shown = |start: &str| {
        ran.stderr
            .lines()
            .find(|line| line.trim_start().starts_with(start))
    };
    let judged = &ran.results()[0]["details"]["semanticJudge"]["samples"][0];
    let model = judged["model"].as_str().unwrap();
    let reply: String = judged["reply"]
        .as_str()
        .unwrap()
        .chars()
        .take(200)
        .collect();
    let line = shown("Meaning by:").unwrap();
    assert!(
        line.contains(&format!("{model}: {}", reply.split('\n').next().unwrap())),
        "{line}"
    );
    assert!(shown("Rules by:").is_some());
    // A reply without a score is the one to look at.
    let failed = asked(StubMode::NoJson, &["run", "--level", "3", "-v"]).exits(1);
    assert!(
        failed.stderr.contains("  Meaning by:  "),
        "{}",
        failed.stderr
    );
    assert!(
        !asked(StubMode::Prose, &["run", "--level", "3"])
            .stderr
            .contains("Meaning by:")
    );
}
