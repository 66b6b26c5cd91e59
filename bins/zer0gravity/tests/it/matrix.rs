//! `matrix`: plan order, calls that are shared, failures apart from means.

use test_support::{CompressionStub, StubMode, StubRole};

use crate::program::{Place, column, list, words};

pub fn place() -> Place {
    let place = Place::new();
    place.file("a.txt", "Rules of a.\n");
    place.file("b.txt", "Rules of b.\n");
    place
}

pub const MATRIX: [&str; 8] = [
    "matrix",
    "--encoding",
    "a.txt",
    "b.txt",
    "--run-dir",
    "dir",
    "--trials",
    "2",
];

#[test]
fn one_text_has_no_interval() {
    let place = Place::new();
    place.file("one.txt", "Hello world!");
    let matrix = words("matrix one.txt --provider offline --trials 3 --decodes 2");
    let ran = place.alone(&matrix).exits(0);
    assert!(ran.stdout.contains("default   58.0   "), "{}", ran.stdout);
    for interval in ["interval", "["] {
        assert!(!ran.stdout.contains(interval), "{}", ran.stdout);
    }
}

#[test]
fn a_tie_has_no_winner() {
    let place = place();
    place.file("a.txt", "DROP VOWELS\n");
    let matrix = words("matrix --encoding a.txt a.txt --all --provider offline");
    let ran = place.alone(&matrix).exits(0);
    for told in [
        "a and a-2 have equal points (p = 1.000, ",
        "a and a-2 share the best score: 40.0 of",
    ] {
        assert!(ran.stdout.contains(told), "{}", ran.stdout);
    }
}

#[test]
fn results_stand_in_plan_order_and_shared_calls_are_made_once() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    let mut arguments = MATRIX.to_vec();
    arguments.extend(["--all", "--judge-model", "j1", "--judge-model", "j2"]);
    place.asking(&stub, &arguments).exits(0);
    let report = place.read_json("dir/report.json");
    let results = list(&report["results"]);
    let plan: Vec<_> = ["a", "b"]
        .iter()
        .flat_map(|encoding| ["1a", "1b", "2a", "3a"].map(|case| (encoding, case)))
        .flat_map(|(encoding, case)| [1, 2].map(|trial| format!("{encoding} {case} {trial}")))
        .collect();
    let found: Vec<_> = results
        .iter()
        .map(|result| {
            let text = |name: &str| result[name].as_str().unwrap().to_owned();
            format!(
                "{} {} {}",
                text("encodingId"),
                text("testCaseId"),
                result["trial"]
            )
        })
        .collect();
    assert_eq!(found, plan);
    assert_eq!(
        column(&results, "/details/semanticJudge/samples/1/model"),
        ["j2"; 16]
    );
    // Calls that others share count for each.
    assert_eq!(column(&results, "/metadata/totalApiCalls"), ["8"; 16]);

    let by_role: Vec<_> = stub.stats().by_role.into_iter().collect();
    let expected = [
        // Four texts, and their encodings, which are the same for both rules.
        (("count", 200), 8),
        (("decoder", 200), 16),
        (("encoder", 200), 16),
        // For each experiment and judge.
        (("implementability_judge", 200), 32),
        // Equal questions for both rules: four texts, two trials, two judges.
        (("semantic_judge", 200), 16),
    ];
    assert_eq!(by_role, expected);

    let encodings = list(&report["encodings"]);
    assert_eq!(column(&encodings, "/id"), ["a", "b"]);
    assert_eq!(column(&encodings, "/path"), ["a.txt", "b.txt"]);
}

#[test]
fn rules_are_judged_once_if_that_is_asked_for() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    let arguments =
        words("matrix --encoding a.txt b.txt --run-dir dir --all --implementability-once");
    place.asking(&stub, &arguments).exits(0);
    let judge = |call: &test_support::StubCall| call.role == StubRole::ImplementabilityJudge;
    let calls = stub.calls();
    assert_eq!(calls.iter().filter(|call| judge(call)).count(), 2);
    let results = list(&place.read_json("dir/report.json")["results"]);
    assert_eq!(column(&results, "/scores/implementability"), ["4"; 8]);
}

#[test]
fn z36_a_matrix_says_which_encoding_won_and_how_sure_that_is() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("drop.txt", "Drop vowels\n");
    place.file("same.txt", "Write the text as it is.\n");
    let matrix = ["matrix", "--all", "--trials", "2", "--run-dir", "dir"];
    let encodings = ["--encoding", "same.txt", "drop.txt"];
    let arguments = [&matrix[..], &encodings].concat();
    let ran = place.asking(&stub, &arguments).exits(0);
    let report = place.read_json("dir/report.json");
    let total = |index: usize| {
        let mean = &report["statistics"]["perEncoding"][index]["total"]["mean"];
        format!("{:.1} [", mean.as_f64().unwrap())
    };
    for told in [
        "encoding  total",
        &format!("drop      {}", total(1)),
        &format!("same      {}", total(0)),
        "same and drop have equal points (p = 1.000, ",
        "with 4 texts)",
        "report: zer0gravity report dir",
        "\nCost:          $",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    assert!(ran.stdout.starts_with("encoding  total"), "{}", ran.stdout);
    // Sixteen blocks are for those who ask.
    assert!(!ran.stdout.contains("Semantic:"), "{}", ran.stdout);
    let resume = ["resume", "dir", "--verbose"];
    let ran = place.asking(&stub, &resume).exits(0);
    assert_eq!(ran.stdout.matches("Semantic:").count(), 16);
}
