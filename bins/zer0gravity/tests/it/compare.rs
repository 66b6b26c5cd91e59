//! `compare` and `estimate`.

use std::fs;

use test_support::{CompressionStub, StubMode, fixture};

use crate::program::{Place, words};

/// Writes `new.json`: `old.json` as if the judge had given each text these points less.
fn lower(place: &Place, drops: [u64; 4]) {
    let mut results = place.read_json("old.json");
    for (result, drop) in results.as_array_mut().unwrap().iter_mut().zip(drops) {
        for points in ["/total", "/scores/semanticPreservation"] {
            let points = result.pointer_mut(points).unwrap();
            *points = (points.as_u64().unwrap() - drop).into();
        }
    }
    place.file("new.json", results.to_string());
}

#[test]
fn equal_drops_are_not_certain() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--all", "--output", "old.json"])
        .exits(0);
    lower(&place, [10; 4]);
    let compare = ["compare", "old.json", "new.json", "--max-drop", "2"];
    let ran = place.alone(&compare).exits(0);
    let told = "default: 71.8 → 61.8 (-10.0, one-sided p = 0.062): no significant change";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    let told = "not significant (n = 4; about 5 texts are needed)";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn a_run_is_not_compared_with_itself() {
    let place = Place::new();
    let matrix = words("matrix --level 1 --provider offline --run-dir");
    let run = |folder: &str| place.alone(&[&matrix[..], &[folder]].concat()).exits(0);
    run("experiments/2026-01-02-matrix");
    let gate = ["compare", "matrix", "--max-drop", "2"];
    let ran = place.alone(&gate).exits(2);
    let told = "OLD is experiments/2026-01-02-matrix and NEW is experiments/2026-01-02-matrix";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    run("experiments/2026-01-03-matrix");
    let ran = place.alone(&gate).exits(0);
    let told = "old: experiments/2026-01-02-matrix, new: experiments/2026-01-03-matrix";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let folder = "experiments/2026-01-03-matrix";
    for same in [
        ["compare", folder, folder],
        [
            "compare",
            folder,
            "experiments/2026-01-03-matrix/report.json",
        ],
        ["compare", "2026-01-03-matrix", "matrix"],
    ] {
        let ran = place.alone(&same).exits(2);
        assert!(ran.stderr.contains("the same run"), "{}", ran.stderr);
    }
}

#[test]
fn texts_are_not_compared() {
    let place = Place::new();
    place.file("a.txt", "DROP VOWELS\n");
    place.file("b.txt", "DROP VOWELS\n");
    let ran = place.alone(&["compare", "a.txt", "b.txt"]).exits(2);
    let told = "zer0gravity matrix --all --encoding a.txt b.txt";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn a_drop_beyond_what_is_allowed_is_4() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--all", "--output", "old.json"])
        .exits(0);
    lower(&place, [9, 10, 10, 11]);
    for (old, new, drop, code) in [
        ("old.json", "new.json", "5", 4),
        ("old.json", "new.json", "9.9", 4),
        ("old.json", "new.json", "10", 0),
        ("new.json", "old.json", "0", 0),
    ] {
        place
            .alone(&["compare", old, new, "--max-drop", drop])
            .exits(code);
    }
    let ran = place.alone(&["compare", "old.json", "new.json"]).exits(0);
    let expected = "\
default: 71.8 → 61.8 (-10.0, one-sided p < 0.001): significant drop

encoding  texts  old   new   difference
default   4      71.8  61.8  -10.0 [-11.3, -8.7]
";
    assert_eq!(ran.stdout, expected);
    place
        .alone(&["compare", "old.json", "missing.json"])
        .exits(2);
}

#[test]
fn z37_a_drop_that_chance_may_give_passes_unless_strict() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--all", "--output", "old.json"])
        .exits(0);
    lower(&place, [13, 0, 0, 0]);
    let compare = ["compare", "old.json", "new.json", "--max-drop", "2"];
    let ran = place.alone(&compare).exits(0);
    let told =
        "drop 3.2 points, not significant (n = 4; about 13 texts are needed); --strict fails on it";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("no significant change"),
        "{}",
        ran.stdout
    );
    place
        .alone(&[&compare[..], &["--strict"]].concat())
        .exits(4);
    let json = place
        .alone(&[&compare[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert!(json["notSignificant"][0].as_str().unwrap().contains(told));
}

#[test]
fn an_estimate_is_the_number_of_calls_and_makes_none() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    for (arguments, calls) in [(&["--all"][..], "24"), (&["--level", "1"], "12")] {
        let mut all = vec!["estimate"];
        all.extend(arguments);
        let ran = place.asking(&stub, &all).exits(0);
        assert!(
            ran.stdout.contains(&format!(" {calls} calls:")),
            "{}",
            ran.stdout
        );
        assert!(ran.stdout.contains("nothing was sent"));
    }
    assert_eq!(stub.stats().calls, 0);
}

#[test]
fn z26_an_estimate_says_what_is_expected_beside_the_most() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = ["estimate", "--all", "--trials", "3", "--json"];
    let estimate = place.asking(&stub, &arguments).exits(0).json();
    let dollars = |key: &str| -> f64 {
        let text = estimate[key].as_str().unwrap();
        text.trim_start_matches('$').parse().unwrap()
    };
    let (expected, most) = (dollars("usdExpected"), dollars("usdAtMost"));
    // Replies are a few tokens long where 4096 are allowed.
    assert!(expected > 0.0 && expected < most / 5.0, "{expected} {most}");
    let text = place.asking(&stub, &arguments[..4]).exits(0).stdout;
    for told in ["expected: $", "at most:  $", "64 calls:"] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert_eq!(stub.stats().calls, 0);
}

#[test]
fn an_offline_estimate_costs_nothing() {
    let place = Place::new();
    let estimate = words("estimate --level 1 --provider offline");
    let ran = place.alone(&estimate).exits(0);
    let told = "2 experiments: no model is asked, $0.00; nothing was sent\n";
    assert_eq!(ran.stdout, told);
    let json = place.alone(&[&estimate[..], &["--json"]].concat());
    assert_eq!(json.exits(0).json()["usdAtMost"], "$0.00");
}

#[test]
fn z26_an_estimate_can_expect_the_replies_of_another_run() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--all", "--run-dir", "dir"])
        .exits(0);
    let mut lengths = std::collections::BTreeMap::<String, Vec<u64>>::new();
    for line in place.read("dir/calls.jsonl").lines() {
        let call: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(tokens) = call["reply"]["usage"]["output"].as_u64() {
            let role = call["role"].as_str().unwrap().to_owned();
            lengths.entry(role).or_default().push(tokens);
        }
    }
    let estimate = ["estimate", "--all", "--like", "dir", "--json"];
    let found = place.asking(&stub, &estimate).exits(0).json();
    // Four of each: encodings, decodings, judgements of the meaning and of the rules.
    let means = lengths
        .values()
        .map(|tokens| tokens.iter().sum::<u64>().div_ceil(4));
    assert_eq!(found["replyTokensExpected"], 4 * means.sum::<u64>());
    assert_eq!(found["like"], "dir");
    let named = "experiments/2026-01-02-run/calls.jsonl";
    place.file(
        "experiments/2026-01-02-run/run.json",
        place.read("dir/run.json"),
    );
    place.file(named, place.read("dir/calls.jsonl"));
    let by_name = words("estimate --all --like run --json");
    let by_name = place.asking(&stub, &by_name).exits(0).json();
    assert_eq!(by_name["replyTokensExpected"], found["replyTokensExpected"]);
    let text = place.asking(&stub, &estimate[..4]).exits(0).stdout;
    assert!(text.contains("if replies are as long as in dir"), "{text}");
    place.file("none/calls.jsonl", "");
    let none = ["estimate", "--all", "--like", "none"];
    let ran = place.asking(&stub, &none).exits(2);
    assert!(
        ran.stderr.contains("none/calls.jsonl: no reply"),
        "{}",
        ran.stderr
    );
}

#[test]
fn z6_another_judge_is_not_compared_unless_allowed() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--all", "--output", "old.json"])
        .exits(0);
    let other = words("run --all --judge-model other --output new.json");
    place.asking(&stub, &other).exits(0);
    let ran = place
        .alone(&["compare", "old.json", "new.json", "--max-drop", "50"])
        .exits(4);
    assert!(
        ran.stderr.contains("not comparable: judge differs ("),
        "{}",
        ran.stderr
    );
    let allowed = words("compare old.json new.json --max-drop 50 --allow-changed-judge");
    place.alone(&allowed).exits(0);
    place.alone(&["compare", "old.json", "new.json"]).exits(0);
}

#[test]
fn n19_results_of_schema_version_1_are_read_and_those_of_version_3_refused() {
    let place = Place::new();
    let old = fs::read_to_string(fixture("zer0gravity/report-v1.json")).unwrap();
    place.file("old.json", &old);
    place.file("new.json", old.replacen("\"total\":", " \"total\":", 1));
    place.file(
        "later.json",
        old.replace("\"schema_version\":1", "\"schema_version\":3"),
    );
    place.file(
        "labels.jsonl",
        r#"{"schema_version":1,"pairId":"1d1ac9638ec0ad2c","rater":"ada","score":31,"seed":0,"ordinal":1,"at":"t"}
"#,
    );
    for (command, told) in [
        ("report FILE -o page.html", "page.html\n"),
        ("export FILE -o out.csv", "24 results in out.csv\n"),
        ("export FILE --inspect out.json", "24 results in out.json\n"),
        ("compare FILE new.json", "telegraphic: 68.0 → 68.0"),
        (
            "label FILE --export sheet.csv --n 6",
            "6 pairs in sheet.csv\n",
        ),
        (
            "calibrate FILE --labels labels.jsonl",
            "labels: 1, pairs: 1, raters: 1,",
        ),
        ("board FILE", "no ranks: 4 common texts, and ranks need 6\n"),
    ] {
        let ran = place
            .alone(&words(&command.replace("FILE", "old.json")))
            .exits(0);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(told), "{command}: {said}");
        let ran = place
            .alone(&words(&command.replace("FILE", "later.json")))
            .exits(2);
        let told =
            "later.json: expected a JSON file of results: schema_version 3 where 1 or 2 is needed";
        assert!(ran.stderr.contains(told), "{command}: {}", ran.stderr);
    }
    assert!(place.read("page.html").contains("telegraphic"));
}
