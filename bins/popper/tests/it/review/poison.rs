//! A row that cannot be read is named once, and the run goes to its end.

use crate::process::{Ran, fresh, words};
use crate::runs::Place;
use crate::sql;

#[test]
fn a_damaged_law_costs_a_line_and_not_the_run() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "2"]).code, Some(0));
    let waiting = sql::column(
        &place.db(),
        "SELECT law_id FROM laws WHERE status = 'proposed' ORDER BY id DESC LIMIT 1",
    );
    let name = &waiting[0];
    let damage = format!("UPDATE laws SET normalized_json = '{{}}' WHERE law_id = '{name}'");
    sql::column(&place.db(), &damage);
    let ran = place.run(&["--iterations", "4"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let warnings: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.contains("is skipped"))
        .collect();
    assert_eq!(warnings.len(), 1, "{}", ran.stderr);
    assert!(warnings[0].contains(name.as_str()), "{}", warnings[0]);
    let status = format!("SELECT status FROM laws WHERE law_id = '{name}'");
    assert_eq!(sql::column(&place.db(), &status), ["rejected_schema"]);
    let csv = place.popper(&["export", "--format", "csv"]);
    assert!(csv.stdout.contains("normalized_json"), "{}", csv.stdout);
    assert_eq!(place.popper(&["report", "-o", "run.html"]).code, Some(0));
}

/// The recorded talk, with one claim replaced by 70 x `not `.
#[test]
fn a_claim_of_seventy_negations_does_not_end_the_run() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/popper/discovery/cassette.jsonl"
    );
    let cassette = std::fs::read_to_string(path).unwrap();
    let deep = format!("{}(over(t) > 9)", "not ".repeat(70));
    let poisoned = cassette.replacen("over(t) <= 0", &deep, 1);
    assert_ne!(poisoned, cassette);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cassette.jsonl"), poisoned).unwrap();
    for _ in 0..2 {
        let arguments = words("run --iterations 1 --replay cassette.jsonl --db popper.db");
        let ran: Ran = fresh(folder.path(), &arguments).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
}
