//! `popper explain`: what refutes a law, or proves it, in lines of a given width.

use serde_json::{Value, json};

use crate::process::{Ran, false_law, file, law, popper, popper_reads, quick};

/// The verdicts of a file of fixture laws, as `check` prints them.
fn verdicts(name: &str) -> String {
    let laws = format!("fixtures/popper/laws/{name}.json");
    popper(&["check", "--json", &laws]).stdout
}

fn explained(name: &str, document: impl AsRef<[u8]>, width: usize, more: &[&str]) -> Ran {
    let width = width.to_string();
    let ran = popper_reads(
        name,
        document,
        &[&["explain", "-", "--width", &width], more].concat(),
    );
    let width = width.parse().unwrap();
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= width, "{width}: {line}");
    }
    ran
}

#[test]
fn every_fixture_that_is_refuted_fits_in_80_and_in_40_columns() {
    let verdicts = verdicts("false");
    for width in [80, 40] {
        let ran = explained("explain.false.json", &verdicts, width, &[]).exits(0);
        assert_eq!(ran.stderr, "");
        insta::assert_snapshot!(format!("refuted_{width}"), ran.stdout);
    }
    explained("explain.false.json", &verdicts, 20, &[]).exits(0);
}

#[test]
fn what_is_proved_has_its_steps_in_words_and_what_is_unknown_its_reason() {
    for name in ["true", "unknown"] {
        let ran = explained(&format!("explain.{name}.json"), verdicts(name), 80, &[]).exits(0);
        insta::assert_snapshot!(name, ran.stdout);
    }
}

#[test]
fn a_law_is_found_by_its_name_and_a_piece_of_evidence_stands_alone() {
    let verdicts = verdicts("false");
    let one = explained(
        "explain.one.json",
        &verdicts,
        80,
        &["--law", "at_most_one_collision"],
    );
    assert!(
        one.stdout.starts_with("at_most_one_collision: FAIL\n"),
        "{one:?}"
    );
    assert!(
        one.stdout
            .contains("\nt = 1: count('X') is 2, the claim needs <= 1\n"),
        "{one:?}"
    );
    assert!(one.stdout.contains("\n1  .XX.   2  <-\n"), "{one:?}");
    let all: Value = serde_json::from_str(&verdicts).unwrap();
    let found = all
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["law_id"] == "at_most_one_collision");
    let alone = found.unwrap()["counterexample"].to_string();
    assert_eq!(
        explained("explain.alone.json", alone, 80, &[]).stdout,
        one.stdout
    );

    let none = explained(
        "explain.none.json",
        &verdicts,
        80,
        &["--law", "at_most_two"],
    )
    .exits(2);
    assert_eq!(
        (none.stdout.as_str(), none.stderr.lines().count()),
        ("", 1),
        "{none:?}"
    );
    none.tells(&["stdin: there is no law at_most_two"]);
    explained("explain.law.json", law("a").to_string(), 80, &[])
        .exits(2)
        .tells(&["neither a verdict, nor a counterexample, nor a proof"]);
}

#[test]
fn a_claim_about_single_cells_names_the_cell() {
    let mut local = law("local");
    local["template"] = "local_transition".into();
    local["observables"] = json!([]);
    local["claim"] = "".into();
    for (key, value) in [
        ("trigger_symbol", ">"),
        ("result_op", "=="),
        ("result_symbol", "."),
    ] {
        local[key] = value.into();
    }
    let laws = file("explain.local.json", local.to_string());
    let verdicts = popper(&[
        "check",
        "--json",
        "--extension",
        "local_transition",
        "--config",
        &quick(),
        &laws,
    ]);
    let text = explained("explain.local.verdict.json", verdicts.stdout, 80, &[])
        .exits(0)
        .stdout;
    assert!(
        text.contains("\nt = 0: cell 0 is > one step later, the claim needs .\n"),
        "{text}"
    );
}

#[test]
fn a_counterexample_that_does_not_hold_is_not_explained() {
    let mut all: Value = serde_json::from_str(&verdicts("false")).unwrap();
    all[0]["counterexample"]["t_fail"] = 3.into();
    let ran = explained("explain.changed.json", all.to_string(), 80, &[]).exits(2);
    ran.tells(&[
        "collisions_conserved: the counterexample does not hold: t_fail is 3, the run gives 1",
    ]);
}

#[test]
fn names_of_others_cannot_steer_a_terminal() {
    let mut hostile = false_law("evil\u{1b}[2J\u{202e}\nlaw");
    hostile["forbidden"] = "\u{1b}]0;title\u{7}".into();
    let laws = file(
        "explain.hostile.json",
        json!([hostile, false_law(&"x".repeat(300))]).to_string(),
    );
    let verdicts = popper(&["check", "--json", "--config", &quick(), &laws]).stdout;
    for width in [20, 40, 80] {
        let ran = explained("explain.evil.json", &verdicts, width, &[]).exits(0);
        let steers = |char: char| (char.is_control() && char != '\n') || char == '\u{202e}';
        assert!(!ran.all().contains(steers), "{ran:?}");
        assert!(
            ran.stdout
                .replace('\n', "")
                .contains(r"evil\u{1b}[2J\u{202e}\nlaw: FAIL"),
            "{ran:?}"
        );
    }
}
