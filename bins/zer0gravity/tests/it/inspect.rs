//! `export --inspect`. `cargo xtask peers inspect` also reads the logs with Inspect itself.

use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use test_support::{CompressionStub, StubMode, StubRole};

use crate::program::{Place, Ran, column, finish, list, signal, words};

const RUBRIC: &str = r#"
schema_version = 1
name = "notices"
[[scorer]]
id = "letters"
kind = "metric"
name = "chrf_pp"
[[scorer]]
id = "greets"
kind = "contains"
of = "decoded"
pattern = "Hello"
scale = [-5, 10]
"#;

/// A place with the run `dir`: three texts, one of them refused, with two trials and decodes.
fn run(stub: &CompressionStub, flags: &str) -> Place {
    let place = Place::new();
    let lines = [
        r#"{"id": "a", "text": "Hello </script><b>world</b>! 30 mg"}"#,
        r#"{"id": "b/c", "text": "\u0000\u202e attachment://0123456789abcdef0123456789abcdef"}"#,
        r#"{"id": "c", "text": "[refuse] it"}"#,
    ];
    place.file("set.jsonl", lines.join("\n"));
    place.file("rubric.toml", RUBRIC);
    let judge = "You judge semantic preservation of numbers. Reply {\"score\": 0 to 40}.";
    place.file("judge.txt", judge);
    let line = format!("run set.jsonl --run-dir dir --trials 2 --decodes 2 {flags}");
    place.asking(stub, &words(&line)).exits(3);
    place
}

#[test]
fn n12_a_log_goes_to_a_file_a_folder_or_stdout() {
    let place = run(&CompressionStub::start(StubMode::Ok), "");
    let shown = place.alone(&words("export dir --inspect -")).exits(0);
    place
        .alone(&words("export dir --inspect log.json"))
        .exits(0);
    assert!(place.read("log.json") == shown.stdout);
    // A folder that ends in a slash is made; the same run has the same name.
    for _ in 0..2 {
        let ran = place.alone(&words("export dir --inspect logs/")).exits(0);
        ran.tells(&["12 results in logs/", "_zer0gravity_"]);
    }
    place.alone(&words("export dir --inspect logs")).exits(0);
    let names = place.names("logs");
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(place.read(&format!("logs/{}", names[0])) == shown.stdout);
    let log = shown.json();
    let time = log["eval"]["created"].as_str().unwrap().replace(':', "-");
    let task = log["eval"]["task_id"].as_str().unwrap();
    assert_eq!(names[0], format!("{time}_zer0gravity_{task}.json"));
    let plan = place.read_json("dir/run.json")["planSha256"].clone();
    assert!(plan.is_string());
    assert_eq!(log["eval"]["metadata"]["planSha256"], plan);
    assert_eq!(log["status"], "success");
    let epochs = column(&list(&log["samples"]), "/epoch");
    assert_eq!(epochs, ["1", "2", "3", "4"].repeat(3));
    for other in ["--format json", "-o other", "--csv other", "--json other"] {
        let line = format!("export dir --inspect log.json {other}");
        place.alone(&words(&line)).exits(2);
    }
    // Inspect takes the form of a log from the ending: `.eval` is an archive.
    for other in ["log.eval", "log", "log.JSON"] {
        let line = format!("export dir --inspect {other}");
        let ran = place.alone(&words(&line)).exits(2);
        ran.tells(&[other, "end in .json"]);
        assert!(!place.root().join(other).exists());
    }
}

#[test]
fn n12_a_log_has_the_prompt_that_was_sent() {
    for profile in [
        "plain",
        "bands",
        "guarded",
        "guarded --judge-prompt judge.txt",
    ] {
        let stub = CompressionStub::start(StubMode::Ok);
        let place = run(&stub, &format!("--prompt-profile {profile}"));
        let log = place
            .alone(&words("export dir --inspect -"))
            .exits(0)
            .json();
        let calls = stub.calls().into_iter();
        let sent: Vec<_> = calls
            .filter(|call| call.role == StubRole::Encoder)
            .map(|call| {
                (
                    said(&call.body["system"]),
                    said(&call.body["messages"][0]["content"]),
                )
            })
            .collect();
        for sample in list(&log["samples"]) {
            let messages = list(&sample["messages"]);
            assert_eq!(messages[0]["role"], "system", "{profile}: {sample}");
            let prompt = (said(&messages[0]["content"]), said(&messages[1]["content"]));
            assert!(sent.contains(&prompt), "{profile}: {prompt:?}");
        }
    }
}

/// A text, or the texts of blocks.
fn said(content: &Value) -> String {
    match content {
        Value::Array(blocks) => column(blocks, "/text").concat(),
        other => other.as_str().unwrap().to_owned(),
    }
}

#[cfg(unix)]
#[test]
fn n12_an_interrupted_run_is_cancelled() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let texts = "{\"text\": \"Hello world!\"}\n{\"text\": \"[hold] it\"}\n";
    place.file("set.jsonl", texts);
    let run = words("run set.jsonl --run-dir dir --concurrency 1");
    let child = place.start_asking(&stub, &run);
    stub.wait_calls(7);
    signal(child.id(), "-INT");
    stub.release();
    finish(child).exits(130);
    let log = place
        .alone(&words("export dir --inspect -"))
        .exits(0)
        .json();
    assert_eq!(log["status"], "cancelled");
    assert_eq!(log["results"]["total_samples"], 2);
    assert_eq!(log["results"]["completed_samples"], 1);
    assert_eq!(list(&log["samples"]).len(), 1);
}

#[test]
#[ignore = "needs INSPECT_PYTHON"]
fn inspect_reads_a_log() {
    let python = env::var("INSPECT_PYTHON").unwrap_or_else(|_| {
        panic!("INSPECT_PYTHON is not set; `cargo xtask peers inspect` sets it")
    });
    let stub = CompressionStub::start(StubMode::Ok);
    let place = run(&stub, "--rubric rubric.toml");
    place.alone(&words("export dir --inspect logs/")).exits(0);
    let log = format!("logs/{}", place.names("logs")[0]);
    let inside = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(place.root());
        let output = command.env("HOME", place.root()).output().unwrap();
        Ran::from(output).exits(0)
    };
    let python = Path::new(&python);
    let script = include_str!("read_inspect_log.py");
    let read = inside(python, &["-c", script, &log, "logs"]).json();
    let written = place.read_json(&log);
    assert_eq!(read["status"], "success");
    assert_eq!(read["listed"], json!([written["eval"]["task_id"]]));
    assert_eq!(read["samples"], 12);
    assert_eq!(read["failed"], 4);
    assert_eq!(
        read["inputs"],
        json!(column(&list(&written["samples"]), "/input"))
    );
    // The means that Inspect computes of what it read, in our order.
    let scores = list(&written["results"]["scores"]);
    let theirs = list(&read["scores"]);
    assert_eq!(column(&theirs, "/name"), column(&scores, "/name"));
    assert_eq!(scores.len(), 6);
    for (ours, theirs) in scores.iter().zip(&theirs) {
        for metric in ["mean", "stderr"] {
            let ours = ours["metrics"][metric]["value"].as_f64().unwrap();
            let found = theirs[metric].as_f64().unwrap();
            assert!((ours - found).abs() < 1e-6, "{theirs} {metric}: {ours}");
        }
    }
    let dumped = inside(&python.with_file_name("inspect"), &["log", "dump", &log]).json();
    assert_eq!(dumped["version"], 2);
    for field in ["eval_id", "run_id", "task_id", "model", "metadata"] {
        assert_eq!(dumped["eval"][field], written["eval"][field], "{field}");
    }
}
