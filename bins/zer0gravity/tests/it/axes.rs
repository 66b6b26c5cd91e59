//! `matrix` with several encoder and decoder models.

use test_support::{CompressionStub, StubMode, StubRole};

use crate::program::{Place, column, list, words};

const MODELS: &str = "matrix --level 3 --run-dir dir --model j --encoder-model a \
    --encoder-model b --decoder-model x --decoder-model y";
const SYSTEMS: [&str; 4] = [
    "default (a -> x)",
    "default (a -> y)",
    "default (b -> x)",
    "default (b -> y)",
];

fn models(stub: &CompressionStub, role: StubRole) -> Vec<String> {
    let calls = stub.calls().into_iter().filter(|call| call.role == role);
    let models = calls.map(|call| call.body["model"].as_str().unwrap().to_owned());
    let mut models: Vec<_> = models.collect();
    models.sort_unstable();
    models
}

#[test]
fn every_encoder_is_read_by_every_decoder() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let ran = place.asking(&stub, &words(MODELS)).exits(0);
    assert_eq!(models(&stub, StubRole::Encoder), ["a", "b"]);
    let judges = models(&stub, StubRole::SemanticJudge);
    assert!(judges.iter().all(|judge| judge == "j"), "{judges:?}");
    let report = place.read_json("dir/report.json");
    let results = list(&report["results"]);
    let encoders = column(&results, "/metadata/models/encoder");
    assert_eq!(encoders, ["a", "a", "b", "b"]);
    let decoders = column(&results, "/metadata/models/decoder");
    assert_eq!(decoders, ["x", "y", "x", "y"]);
    for name in SYSTEMS {
        assert!(ran.stdout.contains(name), "{name}: {}", ran.stdout);
    }

    let calls = stub.stats().calls;
    for resume in ["resume dir", "resume dir --model b", "resume dir --model j"] {
        place.alone(&words(resume)).exits(0);
    }
    let other = place.alone(&words("resume dir --model other")).exits(2);
    assert!(other.stderr.contains("config.models"), "{}", other.stderr);
    assert_eq!(stub.stats().calls, calls);
    place.alone(&words("report dir --html page.html")).exits(0);
    assert!(place.read("page.html").contains("Who can read whom"));
    let status = place.alone(&words("status dir")).exits(0);
    let named = "anthropic a, x, y, b";
    assert!(status.stdout.contains(named), "{}", status.stdout);
    place.file("other.json", place.read("dir/report.json"));
    let compared = place.alone(&words("compare dir other.json")).exits(0);
    assert!(compared.stdout.contains(SYSTEMS[3]), "{}", compared.stdout);
    place.alone(&words("rescore dir --judge-model k")).exits(0);
    assert_eq!(models(&stub, StubRole::Encoder).len(), 2);
    let report = place.read_json("dir/report.json");
    let judged = column(&list(&report["results"]), "/metadata/models/judges/0");
    assert_eq!(judged, ["k", "k", "k", "k"]);
}

#[test]
fn only_equal_models_are_paired_if_that_is_asked_for() {
    for flag in ["--encoder-model", "--decoder-model"] {
        let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
        let matrix = format!("matrix --level 3 --run-dir dir --pair-models {flag} a {flag} b");
        place.asking(&stub, &words(&matrix)).exits(0);
        assert_eq!(models(&stub, StubRole::Encoder), ["a", "b"]);
        assert_eq!(models(&stub, StubRole::Decoder), ["a", "b"]);
        let results = list(&place.read_json("dir/report.json")["results"]);
        let systems = column(&results, "/encodingId");
        assert_eq!(systems, ["default (a -> a)", "default (b -> b)"]);
    }
}

#[test]
fn a_model_without_a_pair_is_named_and_any_model_of_a_run_continues_it() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let matrix = "matrix --level 3 --run-dir dir --pair-models --encoder-model a --encoder-model b \
        --decoder-model a --judge-model j";
    let ran = place.asking(&stub, &words(matrix)).exits(0);
    assert!(
        ran.stderr.contains("--pair-models: b is not both"),
        "{}",
        ran.stderr
    );
    for model in ["a", "j"] {
        let resume = format!("resume dir --model {model}");
        place.asking(&stub, &words(&resume)).exits(0);
    }
    place
        .asking(&stub, &words("resume dir --model other"))
        .exits(2);
}

#[test]
fn models_that_make_no_pairs_are_refused() {
    let place = Place::new();
    let told = |command: &str, flags: &str| {
        let command = format!("{command} --level 3 {flags}");
        place.alone(&words(&command)).exits(2).stderr
    };
    let server = "--provider anthropic --base-url http://127.0.0.1:9";
    for (flags, expected) in [
        (
            "--encoder-model a --encoder-model a",
            "--encoder-model a: the model is named twice",
        ),
        (
            "--decoder-model x --decoder-model x",
            "--decoder-model x: the model is named twice",
        ),
        (
            "--encoder-model a --decoder-model x --pair-models",
            "--pair-models: no model is given as",
        ),
    ] {
        let matrix = told("matrix", &format!("{server} {flags}"));
        assert!(matrix.contains(expected), "{matrix}");
        let estimate = told("estimate", flags);
        assert!(estimate.contains(expected), "{estimate}");
    }
    let several = told("run", "--decoder-model a --decoder-model b");
    assert!(several.contains("zer0gravity matrix"), "{several}");
    told("run", "--encoder-model a");
    let offline = told("estimate", "--provider offline --encoder-model a");
    assert!(
        offline.contains("--encoder-model names a model, and this run is offline"),
        "{offline}"
    );
    let offline = told("matrix", "--provider offline --encoder-model a");
    assert!(offline.contains("--encoder-model"), "{offline}");
}

#[test]
fn an_estimate_has_the_calls_of_all_models() {
    let place = Place::new();
    let estimate = "estimate --level 3 --encoder-model a --encoder-model b \
        --decoder-model x --decoder-model y";
    let json = place.alone(&words(&format!("{estimate} --json"))).exits(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["experiments"], 4);
    assert_eq!(json["calls"]["encode"], 2);
    assert_eq!(json["calls"]["decode"], 4);
    assert_eq!(json["model"], "a");
    assert_eq!(json["models"], serde_json::json!(["a", "x", "y", "b"]));
    let text = place.alone(&words(estimate)).exits(0).stdout;
    assert!(text.contains("model: a, x, y, b"), "{text}");
}

#[test]
fn two_systems_with_one_name_are_refused() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("r.txt", "DROP VOWELS");
    place.file("r (q.txt", "DROP VOWELS");
    let mut matrix = words("matrix --level 3 --run-dir dir --decoder-model x --encoder-model a");
    matrix.extend(["--encoder-model", "q (a", "--encoding", "r.txt", "r (q.txt"]);
    let ran = place.asking(&stub, &matrix).exits(2);
    let told = "r (q (a -> x): two encoding systems have this name";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(stub.stats().calls, 0);
}
