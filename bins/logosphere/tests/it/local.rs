//! A small model on llama.cpp's server. Its answers are its own, so the tests check the form only. `cargo xtask peers
//! local`

use std::env;

use crate::journal;
use crate::program::{Place, words};

#[test]
#[ignore = "needs LOCAL_URL"]
fn minds_that_are_a_real_model_leave_a_journal_that_holds() {
    let url = env::var("LOCAL_URL").expect("LOCAL_URL, such as http://127.0.0.1:8080");
    let base = format!("{url}/v1");
    let place = Place::new();
    let model = format!("--provider llamacpp --base-url {base} --model any");
    let model = words(&model);
    let run = [
        &[
            "run",
            "--output-dir",
            "E",
            "--rounds",
            "3",
            "--minds",
            "2",
            "--token-limit",
            "120",
            "--seed",
            "1",
        ][..],
        &model,
    ];
    let ran = place.alone(&run.concat()).exits(0);
    eprintln!("{}\n{}", ran.stderr, ran.stdout);
    let place_of = journal::path("E");
    place.alone(&["verify", &place_of]).exits(0);
    place.alone(&["check-leaks", "E"]).exits(0);
    let events = journal::events(&place, "E");
    for call in journal::calls(&events) {
        assert!(call["tokens"]["prompt"].as_u64().unwrap() > 0, "{call:#}");
        assert_ne!(call["parse"]["reason"], "call_failed", "{call:#}");
        eprintln!("{} {}", call["parse"]["reason"], call["raw_output"]);
    }
    // Two rounds more, on the same journal.
    place.alone(&["resume", "E", "--rounds", "5"]).exits(0);
    place.alone(&["verify", &place_of]).exits(0);
}
