//! Vectors that are computed on this machine, in each command that takes them.

use std::fs;

use serde_json::Value;

use crate::program::{Place, SEEDS, init, words};

const ENCODER: &str = "5fa46915bfa4e95b07003efd7d14da75aa0440317bfcf45d4c9a88e0ff6e350a";

fn run() -> Place {
    let place = Place::new();
    let seeds = [
        "The moon is stone.",
        "Ice melts in the sun.",
        "Who reads this?",
    ];
    place.seeded("E", &seeds);
    let line = "run E --rounds 40 --seed 1 --mind mutator:p=0.1";
    place.alone(&words(line)).exits(0);
    place
}

fn json(place: &Place, line: &str) -> Value {
    serde_json::from_str(&place.alone(&words(line)).exits(0).stdout).unwrap()
}

#[test]
fn an_analysis_names_the_encoder_and_has_bands_without_a_p() {
    let place = run();
    let line = "analyze E --json --embed chargram";
    let found = json(&place, line);
    assert_eq!(found["embedding"]["encoder"]["name"], "chargram/1");
    assert_eq!(found["embedding"]["encoder"]["sha256"], ENCODER);
    assert_eq!(found["embedding"]["measures"].as_array().unwrap().len(), 5);
    let tests = found["tests"].as_array().unwrap();
    let by_vectors = tests
        .iter()
        .filter(|test| test["name"].as_str().unwrap().starts_with("embed_"));
    let by_vectors: Vec<_> = by_vectors.collect();
    assert_eq!(by_vectors.len(), 5);
    assert!(
        by_vectors
            .iter()
            .all(|test| test["p"].is_null() && test["family"] == "band")
    );
    assert!(!place.path("E/analysis").exists(), "nothing is kept");
    assert_eq!(found, json(&place, line));

    // Without the flag nothing changes.
    let mut without = json(&place, "analyze E --json");
    assert!(without["embedding"].is_null());
    let rest = |found: &Value| {
        let mut rest = found.clone();
        rest.as_object_mut().unwrap().remove("embedding");
        let tests = rest["tests"].as_array_mut().unwrap();
        tests.retain(|test| !test["name"].as_str().unwrap().starts_with("embed_"));
        rest
    };
    assert_eq!(rest(&found), rest(&without.take()));

    let shown = place
        .alone(&words("analyze E --no-null --embed chargram"))
        .exits(0)
        .stdout;
    assert!(
        shown.contains("by the vectors of chargram/1 (sha256 5fa46915bfa4):\n"),
        "{shown}"
    );
}

#[test]
fn a_page_has_the_measures_by_vectors_and_their_encoder() {
    let place = run();
    place
        .alone(&words("report E --embed chargram -o page.html"))
        .exits(0);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("Measures by vectors") && page.contains(ENCODER));
    place.alone(&words("report E -o plain.html")).exits(0);
    let page = fs::read_to_string(place.path("plain.html")).unwrap();
    assert!(!page.contains("vectors"));
    let live = place
        .alone(&words("report E --embed chargram --watch"))
        .exits(2);
    assert!(
        live.stderr.contains("--embed cannot be used with --watch"),
        "{}",
        live.stderr
    );
}

#[test]
fn parents_by_vectors_are_marked_in_text_and_json() {
    let place = run();
    let by_words = json(&place, "lineage E --json");
    assert_eq!(by_words["parent_rule"], "lcs/1");
    assert!(by_words["encoder"].is_null());
    let found = json(
        &place,
        "lineage E --json --embed chargram --parent-rule embed:0.6",
    );
    assert_eq!(found["parent_rule"], "embed:0.6");
    assert_eq!(found["encoder"]["sha256"], ENCODER);
    assert!(found["embed"].as_u64().unwrap() > 0);
    assert_eq!(
        (&found["lcs"], &found["exact"]),
        (&Value::from(0), &by_words["exact"])
    );
    let shown = place
        .alone(&words("lineage E --embed chargram"))
        .exits(0)
        .stdout;
    assert!(
        shown.contains("parents by rule embed:0.85, vectors of chargram/1"),
        "{shown}"
    );
    for (line, words_of_error) in [
        ("lineage E --parent-rule embed:0.6", "give --embed NAME"),
        (
            "lineage E --parent-rule lcs --embed chargram",
            "leave --embed out",
        ),
        (
            "lineage E --embed chargram --parent-rule embed:1.5",
            "expected lcs, or embed:S",
        ),
        (
            "analyze E --embed chargram --embed-cached",
            "leave --embed-cached out",
        ),
    ] {
        let refused = place.alone(&words(line)).exits(2).stderr;
        assert!(refused.contains(words_of_error), "{line}: {refused}");
    }
}

#[test]
fn a_sweep_is_measured_by_vectors_when_it_is_summed_up() {
    let place = Place::new();
    let plan = "schema_version = 1\nname = \"v\"\nrepeats = 2\nseed = 7\ninit = \"init.md\"\n[base]\nn_minds = 3\nmax_rounds = 4\n\
                mind = \"mutator:p=0.1\"\n[axes]\nk_samples = [1, 3]\n[tests]\nnull_runs = 199\n";
    place.file("plan.toml", plan);
    place.file("init.md", init(&SEEDS));
    let early = place
        .alone(&words("sweep plan.toml --embed chargram"))
        .exits(2);
    assert!(
        early.stderr.contains("--embed needs --summary"),
        "{}",
        early.stderr
    );
    place.alone(&words("sweep plan.toml")).exits(0);
    let found = json(&place, "sweep plan.toml --summary --json --embed chargram");
    for cell in found["cells"].as_array().unwrap() {
        assert_eq!(cell["embedding"]["encoder"]["sha256"], ENCODER);
        let effects = cell["embedding"]["effects"].as_array().unwrap();
        assert_eq!(
            (effects.len(), &effects[0]["repeats"]),
            (5, &Value::from(2))
        );
    }
    let csv = fs::read_to_string(place.path("sweeps/v/summary.csv")).unwrap();
    assert_eq!(
        csv.lines().filter(|line| line.contains(",embed_")).count(),
        10
    );
    let page = fs::read_to_string(place.path("sweeps/v/report.html")).unwrap();
    assert!(page.contains(ENCODER));
    let plain = json(&place, "sweep plan.toml --summary --json");
    assert!(plain["cells"][0]["embedding"].is_null());
}
