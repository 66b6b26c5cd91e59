//! `compare` and `estimate`.

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, words};

#[test]
fn a_drop_beyond_what_is_allowed_is_4() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--all", "--output", "old.json"])
        .exits(0);
    // As if the judge had seen less: every total is 10 points lower.
    let mut worse = place.read("old.json");
    for (total, lower) in [(73, 63), (72, 62), (75, 65), (67, 57)] {
        worse = worse.replace(
            &format!("\"total\": {total}"),
            &format!("\"total\": {lower}"),
        );
    }
    place.file("new.json", worse);
    for (old, new, drop, code) in [
        ("old.json", "new.json", "5", 4),
        ("old.json", "new.json", "9.9", 4),
        ("old.json", "new.json", "10", 0),
        ("old.json", "old.json", "0", 0),
        ("new.json", "old.json", "0", 0),
    ] {
        place
            .alone(&["compare", old, new, "--max-drop", drop])
            .exits(code);
    }
    let ran = place.alone(&["compare", "old.json", "new.json"]).exits(0);
    let expected = "\
default: 71.8 → 61.8 (-10.0, p = 0.000): significant drop

encoding  texts  old   new   difference
default   4      71.8  61.8  -10.0 [-10.0, -10.0]
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
    let worse = place
        .read("old.json")
        .replace("\"total\": 73", "\"total\": 60");
    place.file("new.json", worse);
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
