//! `export`: all that a run knows, for other programs.

use std::fs;

use serde_json::Value;

use crate::process::{fresh, words};
use crate::runs::Place;
use crate::sql;

fn exported(place: &Place) -> Value {
    let ran = place.popper(&["export"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.json()
}

#[test]
fn the_document_holds_every_row_and_replays() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "2"]).code, Some(0));
    let retested = sql::column(
        &place.db(),
        "SELECT l.law_fingerprint FROM laws l JOIN law_evaluations e ON e.law_id = l.id",
    );
    let retest = place.popper(&["retest", "--law-fingerprint", &retested[0]]);
    assert_eq!(retest.code, Some(0));
    let document = exported(&place);
    for (list, table) in [
        ("iterations", "iterations"),
        ("laws", "laws"),
        ("evaluations", "law_evaluations"),
        ("calls", "llm_calls"),
    ] {
        let exported = document[list].as_array().unwrap().len() as u64;
        assert_eq!(exported, sql::count(&place.db(), table), "{list}");
    }
    assert_eq!(document["config"]["loop"]["propose"], 8);
    assert_eq!(document["run"]["universe_id"], "kinetic_grid_v1");
    assert_eq!(document["iterations"][0]["summary"]["proposed"], 8);

    // What `check` says of the same laws is what the document says.
    let file = place.path().join("run.json");
    fs::write(&file, document.to_string()).unwrap();
    let fails = "SELECT count(*) FROM law_evaluations WHERE status = 'FAIL'";
    let fails = sql::number(&place.db(), fails);
    let ran = fresh(place.path(), &["verify", "run.json"])
        .output()
        .unwrap();
    let stdout = String::from_utf8(ran.stdout).unwrap();
    let held = stdout.lines().filter(|line| line.contains(": holds: "));
    assert!(held.count() as u64 >= fails, "{stdout}");
    assert!(!stdout.contains("does not hold"), "{stdout}");
}

#[test]
fn a_file_is_written_as_a_whole() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    fs::write(place.path().join("out.json"), "something older").unwrap();
    let ran = place.popper(&["export", "-o", "out.json"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), ""),
        "{}",
        ran.stderr
    );
    let text = fs::read_to_string(place.path().join("out.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        exported(&place)
    );
    let ran = place.popper(&["export", "-o", "out.json/inner.json"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr
            .contains("popper: cannot write out.json/inner.json: "),
        "{}",
        ran.stderr
    );
    let left = fs::read_dir(place.path()).unwrap();
    let parts = left.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().contains("part")
    });
    assert_eq!(parts.count(), 0);
}

#[test]
fn no_output_takes_the_place_of_the_database() {
    let place = Place::new();
    let record = words("--record popper.db --proposer llm --provider llamacpp");
    let flags = [&["run", "--model", "m"], record.as_slice()].concat();
    let ran = place.popper(&flags);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(!place.db().exists());
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    let before = exported(&place);
    let inside = place.path().join("inside");
    fs::create_dir(&inside).unwrap();
    for output in ["popper.db", "inside/../popper.db", "popper.db.lock"] {
        for command in ["export", "report"] {
            let ran = place.popper(&[command, "-o", output]);
            assert_eq!(ran.code, Some(2), "{}", ran.stderr);
            assert!(ran.stderr.contains("choose another file"), "{}", ran.stderr);
        }
    }
    assert_eq!(exported(&place), before);
}

#[test]
fn a_spreadsheet_has_one_row_a_law_and_computes_nothing() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    let claim =
        "UPDATE laws SET claim_text = '=HYPERLINK(\"a\", \"b\")', law_id = '@x' WHERE id = 1";
    sql::column(&place.db(), claim);
    let ran = place.popper(&["export", "--format", "csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("\"'=HYPERLINK(\"\"a\"\", \"\"b\"\")\""),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains(",'@x,"), "{}", ran.stdout);
    assert_eq!(
        ran.stdout.lines().count() as u64,
        1 + sql::count(&place.db(), "laws")
    );
}

#[test]
fn a_dash_is_stdout_and_no_file() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    let plain = place.popper(&["export"]).stdout;
    for flags in [&["-o", "-"][..], &["--output=-"]] {
        let ran = place.popper(&[&["export"][..], flags].concat());
        assert_eq!(
            (ran.code, ran.stdout == plain),
            (Some(0), true),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(
        place.popper(&["report", "-o", "page.html"]).stdout,
        "page.html\n"
    );
    let page = place.popper(&["report", "-o", "-"]).stdout;
    assert!(page == fs::read_to_string(place.path().join("page.html")).unwrap());
    assert!(!place.path().join("-").exists());
}
