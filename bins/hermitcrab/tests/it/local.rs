//! A small real model, served by llama.cpp. Its words are not known, so the test checks their form only.
//! `cargo xtask peers local` runs it.

use std::env;

use crate::program::Place;

#[test]
#[ignore = "needs LOCAL_URL"]
fn a_real_model_wakes_and_is_talked_with() {
    let url = env::var("LOCAL_URL").expect("LOCAL_URL, such as http://127.0.0.1:8080");
    let base = format!("{url}/v1");
    let place = Place::new();
    // Short answers: it is slow, and does not know when to end.
    place.file(
        "data/hermitcrab.toml",
        "[[model]]\nid = \"any\"\nmax_tokens = 60\n\n[budgets]\nrounds = 3\nboot_rounds = 2\n",
    );
    let model = ["--provider", "llamacpp", "--base-url", &base];
    let chat = [&["chat", "--model", "any"], &model[..]].concat();
    let first = place.fed(b"Say hello.\n", &chat);
    eprintln!("{}\n{}", first.stderr, first.stdout);
    // A small model may call what is no tool until its rounds are up: that is an answer, too.
    assert!(matches!(first.code, Some(0 | 3)), "{:?}", first.code);
    assert!(!first.stdout.trim().is_empty());
    assert!(!first.stderr.contains("panicked"), "{}", first.stderr);
    let cost = place.json(&["cost"]);
    assert!(cost["total"]["calls"].as_u64().unwrap() >= 2, "{cost}");
    assert!(cost["total"]["input"].as_u64().unwrap() > 500, "{cost}");
    assert!(cost["total"]["output"].as_u64().unwrap() > 0, "{cost}");
    // The next start continues without calling the model.
    let asked = cost["total"]["calls"].clone();
    place.fed(b"/cost\n", &chat).exits(0);
    assert_eq!(place.json(&["cost"])["total"]["calls"], asked);
}
