//! A run as one page.

use std::fs;

use crate::program::Place;

/// A folder with a run of three minds and six rounds.
fn run() -> Place {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "6", "--seed", "1"])
        .exits(0);
    place
}

#[test]
fn the_page_lies_in_the_directory_and_is_the_same_each_time() {
    let place = run();
    let ran = place.alone(&["report", "E"]).exits(0);
    assert_eq!(ran.stdout, "E/report.html\n");
    let first = place.bytes("E/report.html");
    let html = String::from_utf8(first.clone()).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>"));
    assert!(html.contains("Offline: no model was asked."));
    assert!(html.contains("Is it chance?"));

    // Nor does it matter where the journal lies.
    fs::create_dir(place.path("elsewhere")).unwrap();
    fs::copy(
        place.path("E/logs/experiment.jsonl"),
        place.path("elsewhere/j.jsonl"),
    )
    .unwrap();
    let ran = place.alone(&["report", "elsewhere/j.jsonl"]).exits(0);
    assert_eq!(ran.stdout, "elsewhere/j.html\n");
    assert!(place.bytes("elsewhere/j.html") == first);
    place
        .alone(&["report", "E", "-o", "pages/one.html"])
        .exits(0);
    assert!(place.bytes("pages/one.html") == first);
}

#[test]
fn the_page_says_what_null_says() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "20", "--seed", "1"])
        .exits(0);
    place.alone(&["report", "E"]).exits(0);
    let html = place.read("E/report.html");
    let told = place.alone(&["null-model", "E", "--json"]).exits(0);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert!(html.contains(told["verdict"]["sentence"].as_str().unwrap()));
    let band = (told["tests"].as_array().unwrap().iter())
        .find(|test| test["name"] == "seed_echo")
        .unwrap();
    let p = band["p_holm"].as_f64().unwrap();
    let section = html.split("id=\"at-chance\"").nth(1).unwrap();
    let row = section.split("seed_echo").nth(1).unwrap();
    let row = row.split("</tr>").next().unwrap();
    assert!(row.contains(&format!(">{p:.4}<")), "{p} {row}");
}

#[test]
fn what_is_no_journal_gives_no_page_and_leaves_what_is_there() {
    let place = run();
    place.file("E/report.html", "old");
    let mut journal = place.bytes("E/logs/experiment.jsonl");
    let middle = journal.len() / 2;
    journal[middle] ^= 1;
    place.file("E/logs/experiment.jsonl", journal);
    place
        .alone(&["report", "E"])
        .exits(2)
        .tells(&["E/logs/experiment.jsonl", "line"]);
    assert_eq!(place.read("E/report.html"), "old");
    assert_eq!(
        place
            .names("E")
            .iter()
            .filter(|name| name.contains("report"))
            .count(),
        1
    );
    place
        .alone(&["report", "nowhere"])
        .exits(2)
        .tells(&["nowhere", "no such path"]);
}

#[test]
fn a_page_does_not_take_the_place_of_the_journal() {
    let place = run();
    let journal = place.bytes("E/logs/experiment.jsonl");
    place
        .alone(&["report", "E", "-o", "E/logs/experiment.jsonl"])
        .exits(2);
    assert!(place.bytes("E/logs/experiment.jsonl") == journal);
}

#[test]
fn an_old_journal_is_told_what_reads_it() {
    let place = Place::new();
    let start = r#"{"type":"experiment_start","timestamp":"2026-01-02T00:00:00","config":{}}"#;
    place.file("old.jsonl", format!("{start}\n"));
    place
        .alone(&["report", "old.jsonl"])
        .exits(2)
        .tells(&["old.jsonl", "logosphere import"]);
}

#[test]
fn a_dash_is_stdout_and_no_file() {
    let place = run();
    for arguments in [
        &["report", "E"][..],
        &["export", "lineage", "E", "--format", "dot"],
        &["verify", "E/logs/experiment.jsonl"],
    ] {
        let to = |out: &str| place.alone(&[arguments, &["-o", out]].concat()).exits(0);
        to("file");
        assert!(to("-").stdout == place.read("file"), "{arguments:?}");
    }
    place
        .alone(&["verify", "E", "-o", "-"])
        .exits(0)
        .tells(&["holds: ", "head "]);
    assert!(!place.path("-").exists());
}
