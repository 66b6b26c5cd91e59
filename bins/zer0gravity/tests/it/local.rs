//! A real small model on llama.cpp's server. Its replies vary, so the tests check the form only. `cargo xtask peers local`
//! runs them.

use std::env;

use crate::program::{Place, column, list, words};

#[test]
#[ignore = "needs LOCAL_URL"]
fn level_one_ends_with_whatever_honest_outcome_the_model_gives() {
    let url = env::var("LOCAL_URL").expect("LOCAL_URL, such as http://127.0.0.1:8080");
    let place = Place::new();
    let base = format!("{url}/v1");
    let run = [
        "run",
        "--level",
        "1",
        "--provider",
        "llamacpp",
        "--base-url",
        &base,
        "--model",
        "any",
        "--max-output-tokens",
        "128",
        "--concurrency",
        "1",
        "--verbose",
        "--run-dir",
        "run",
    ];
    let ran = place.alone(&run);
    assert!(
        matches!(ran.code, Some(0 | 1 | 3)),
        "{:?}: {}",
        ran.code,
        ran.stderr
    );
    let results = ran.results();
    assert_eq!(results.len(), 2);
    for result in &results {
        let status = result["outcome"]["status"].as_str().unwrap();
        let scored = result.get("total").is_some();
        assert_eq!(scored, status == "ok", "{result:#}");
        assert!(
            ["ok", "refused", "truncated", "empty", "unparseable"].contains(&status),
            "{result:#}"
        );
        assert_eq!(result["offline"], false);
    }
    eprintln!("{}", ran.stderr);
    eprintln!("{:?}", column(&results, "/encodedText"));
    eprintln!("{:?}", column(&results, "/decodedText"));

    // The same again from the directory, byte for byte, asking nobody.
    let report = place.read("run/report.json");
    let resume = words("resume run --base-url http://127.0.0.1:9/v1 --quiet");
    let refused = place.alone(&resume).exits(2);
    assert!(
        refused.stderr.contains("config.port.host"),
        "{}",
        refused.stderr
    );
    place.alone(&["resume", "run", "--quiet"]);
    assert!(
        place.read("run/report.json") == report,
        "a finished run says the same again"
    );
    assert_eq!(
        list(&place.read_json("run/report.json")["results"]).len(),
        2
    );
}
