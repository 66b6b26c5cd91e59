//! `run`, `resume`, `status` and `retest` on runs that nothing disturbs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Ran, fresh, words};
use crate::sql;

/// A folder with a configuration under which a run takes little time.
pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let quick = json!({
            "exhaustive_n": 5, "minimal_n": 5, "ladder": [8, 16], "generations": 0,
            "propose": 8, "test": 4,
        });
        Self::with(&quick)
    }

    pub fn with(config: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
        Self { folder }
    }

    pub fn db(&self) -> PathBuf {
        self.folder.path().join("popper.db")
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command on the database of this place.
    pub fn popper(&self, arguments: &[&str]) -> Ran {
        let mut all = arguments.to_vec();
        all.extend(["--db", "popper.db"]);
        fresh(self.path(), &all).output().unwrap().into()
    }

    /// `popper run` with the place's configuration.
    pub fn run(&self, flags: &[&str]) -> Ran {
        let mut all = words("run --config config.json --proposer enumerative");
        all.extend(flags);
        self.popper(&all)
    }

    /// Returns the output of `popper status --json`.
    pub fn status(&self, run_id: &str) -> Value {
        let ran = self.popper(&["status", "--json", "--run-id", run_id]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.json()
    }
}

#[test]
fn a_newcomer_gets_a_run_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let ran: Ran = fresh(folder.path(), &["run", "--iterations", "5"])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let db = folder.path().join("experiments/popper/popper.db");
    assert_eq!(sql::count(&db, "iterations"), 5);
    let notices = ran.stderr.lines().filter(|line| line.contains("offline"));
    assert_eq!(notices.count(), 1, "{}", ran.stderr);
    for index in 1..=5 {
        let line = format!("iteration {index} of 5: 20 proposed");
        assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    }
    assert!(ran.stdout.contains("law  "), "{}", ran.stdout);
    // The four conserved quantities that a physicist would name, and the mirror.
    let passed = "SELECT l.law_id FROM laws l JOIN law_evaluations e ON e.law_id = l.id \
                  WHERE e.status = 'PASS'";
    let passed = sql::column(&db, passed);
    for law in [
        "conserved_gt_plus_X",
        "conserved_lt_plus_X",
        "conserved_gt_minus_lt",
        "conserved_gt_plus_lt_plus_2_X",
        "symmetry_mirror_swap",
    ] {
        assert!(passed.iter().any(|name| name == law), "{law}: {passed:?}");
    }
    assert!(ran.stdout.contains("popper report 1"), "{}", ran.stdout);
}

#[test]
fn quiet_says_nothing_on_stderr() {
    let place = Place::new();
    let ran = place.run(&["--iterations", "1", "--quiet"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_is_known_is_not_tested_again() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "2"]).code, Some(0));
    let first = sql::rows(&place.db());

    // The same command again: the run is complete, and nothing changes.
    let again = place.run(&["--iterations", "2"]);
    assert_eq!(again.code, Some(0));
    assert_eq!(sql::rows(&place.db()), first);

    // A new run proposes the same laws, and tests none of them.
    let new = place.run(&["--iterations", "1", "--new-run"]);
    assert_eq!(new.code, Some(0), "{}", new.stderr);
    let tested_twice = "SELECT count(*) FROM (SELECT 1 FROM law_evaluations e \
        JOIN laws l ON l.id = e.law_id JOIN runs r ON r.id = e.run_id \
        GROUP BY l.law_fingerprint, e.harness_config_hash, r.sim_hash HAVING count(*) > 1)";
    assert_eq!(sql::number(&place.db(), tested_twice), 0);
    assert_eq!(sql::count(&place.db(), "runs"), 2);
    assert!(new.stderr.contains(" known"), "{}", new.stderr);
    // Known verdicts count as findings of the new run.
    let status = place.status("2");
    let found: u64 = status["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["laws"].as_u64().unwrap())
        .sum();
    assert!(found > status["evaluations"].as_u64().unwrap(), "{status}");
    sql::assert_sound(&place.db());
}

#[test]
fn a_run_in_two_halves_equals_one_in_one_go() {
    let (whole, halves) = (Place::new(), Place::new());
    assert_eq!(whole.run(&["--iterations", "4"]).code, Some(0));
    assert_eq!(halves.run(&["--iterations", "1"]).code, Some(0));
    let resumed = halves.popper(&["resume", "--run-id", "1", "--iterations", "4"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(sql::rows(&halves.db()), sql::rows(&whole.db()));
}

#[test]
fn a_retest_adds_exactly_one_row() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    let tested = "SELECT law_fingerprint FROM laws WHERE status = 'tested' ORDER BY id";
    let fingerprint = sql::column(&place.db(), tested).remove(0);
    let before = sql::count(&place.db(), "law_evaluations");
    let ran = place.popper(&["retest", "--law-fingerprint", &fingerprint[..12], "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let verdict = &ran.json()[0];
    assert_eq!(verdict["law_fingerprint"], fingerprint.as_str());
    assert_eq!(verdict["seed"], 1);
    assert_eq!(sql::count(&place.db(), "law_evaluations"), before + 1);
    let table = place.popper(&["retest", "--law-fingerprint", &fingerprint, "--run-id", "1"]);
    assert!(table.stdout.contains("1 law: "), "{}", table.stdout);
    assert_eq!(sql::count(&place.db(), "law_evaluations"), before + 2);
    sql::assert_sound(&place.db());
}

#[test]
fn a_fingerprint_names_one_law_or_none() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    for (fingerprint, said) in [
        ("abc", "takes 8 to 64 hexadecimal digits"),
        ("not_hexa_decimal", "takes 8 to 64 hexadecimal digits"),
        ("00000000", "has a law 00000000"),
    ] {
        let ran = place.popper(&["retest", "--law-fingerprint", fingerprint]);
        assert_eq!(ran.code, Some(2), "{fingerprint}");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    let one = sql::column(&place.db(), "SELECT law_fingerprint FROM laws").remove(0);
    let twin = format!("{}{}", &one[..10], "0".repeat(54));
    let twin = format!("UPDATE laws SET law_fingerprint = '{twin}' WHERE id = 2");
    sql::column(&place.db(), &twin);
    let ran = place.popper(&["retest", "--law-fingerprint", &one[..8]]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("2 laws have a fingerprint"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_row_of_a_run_says_how_it_goes_on() {
    let place = Place::new();
    assert_eq!(
        place.run(&["--iterations", "1", "--seed", "7"]).code,
        Some(0)
    );
    // Neither configuration nor seed are given again.
    let resumed = place.popper(&["run", "--run-id", "1", "--iterations", "2", "--json"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(resumed.json()["iterations"], 2);
    let seeds = sql::column(
        &place.db(),
        "SELECT DISTINCT CAST(seed AS TEXT) FROM law_evaluations",
    );
    assert_eq!(seeds, ["7"]);
}

#[test]
fn a_universe_from_a_file_is_kept_with_the_run() {
    let place = Place::new();
    let random = fresh(place.path(), &["universe", "random", "--seed", "3"])
        .output()
        .unwrap();
    std::fs::write(place.path().join("rule.json"), random.stdout).unwrap();
    let flags = ["--iterations", "1", "--universe", "rule.json"];
    assert_eq!(place.run(&flags).code, Some(0));
    std::fs::remove_file(place.path().join("rule.json")).unwrap();
    let resumed = place.popper(&["resume", "--run-id", "1", "--iterations", "2"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let document = place.popper(&["export"]).json();
    std::fs::write(place.path().join("run.json"), document.to_string()).unwrap();
    let replayed: Ran = fresh(place.path(), &["verify", "run.json"])
        .output()
        .unwrap()
        .into();
    assert_eq!(replayed.code, Some(0), "{}", replayed.text());
}

#[test]
fn another_universe_or_configuration_is_refused_with_both_hashes() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    let random = fresh(place.path(), &["universe", "random", "--seed", "3"])
        .output()
        .unwrap();
    std::fs::write(place.path().join("rule.json"), random.stdout).unwrap();
    let rows = sql::rows(&place.db());
    for (flags, what) in [
        (["--universe", "rule.json"], "universe"),
        (["--exhaustive-n", "6"], "configuration"),
        (["--test", "5"], "configuration"),
        (["--seed", "1"], "configuration"),
        (["--extension", "local_transition"], "configuration"),
    ] {
        let mut arguments = vec!["resume", "--run-id", "1", "--iterations", "2"];
        arguments.extend(flags);
        let ran = place.popper(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{flags:?}");
        let start = format!("popper: run 1 has another {what}: it has ");
        assert!(ran.stderr.starts_with(&start), "{}", ran.stderr);
        assert!(ran.stderr.contains("--new-run"), "{}", ran.stderr);
        let hashes = ran.stderr.split([' ', ',', ';']);
        let hashes = hashes.filter(|word| word.len() == 64).count();
        assert_eq!(hashes, 2, "{}", ran.stderr);
    }
    assert_eq!(sql::rows(&place.db()), rows);
}

#[test]
fn a_configuration_that_is_wrong_names_the_field_and_makes_no_database() {
    let place = Place::new();
    let mut errors = String::new();
    for config in [
        json!({"propos": 3}),
        json!({"propose": "three"}),
        json!({"propose": 0}),
        json!({"ladder": [3, "x"]}),
        json!({"seed": -1}),
        json!({"exhaustive_n": 21}),
        json!({"weights": {"risk": "high"}}),
        json!({"weights": {"risk": 2000}}),
        json!({"weights": {"luck": 1}}),
        json!({"wall_limit_ms": 0}),
        json!({"extensions": ["time_travel"]}),
        json!({"blind\u{1b}[2J": true}),
        json!([1]),
    ] {
        std::fs::write(place.path().join("config.json"), config.to_string()).unwrap();
        let ran = place.run(&[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{config}");
        errors.push_str(&ran.stderr);
    }
    assert!(!place.db().exists());
    insta::assert_snapshot!(errors);
}

#[test]
fn who_proposes_is_decided_or_refused() {
    let place = Place::new();
    let mut errors = String::new();
    for flags in [
        &["run", "--proposer", "llm"] as &[&str],
        &["run", "--proposer", "llm", "--provider", "offline"],
        &["run", "--proposer", "enumerative", "--model", "m"],
        &["run", "--proposer", "enumerative", "--record", "f"],
        &["run", "--provider", "ollama"],
        &["run", "--iterations", "0"],
        &["run", "--propose", "0"],
        &["run", "--universe", "nowhere.json"],
        &["run", "--run-id", "1", "--new-run"],
    ] {
        let ran = place.popper(flags);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{flags:?}");
        errors.push_str(&ran.stderr);
    }
    assert!(!place.db().exists());
    insta::assert_snapshot!(errors);
}

#[test]
fn status_says_how_a_run_stands() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "2"]).code, Some(0));
    let ran = place.popper(&["status"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (Some(0), "run: 1 (newest)\n")
    );
    for part in [
        "run        1: kinetic_grid_v1, enumerative",
        "iterations 2 completed",
        "laws       16 proposed: ",
        "attempts   8 made by this run",
        "cost       no model was asked",
        "law  ",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let status = place.status("1");
    assert_eq!(status["last_iteration"]["status"], "completed");
    assert_eq!(status["last_iteration"]["decided"], 4);
    assert_eq!(status["cost"]["calls"], 0);
    assert_eq!(status["cost"]["nano_usd"], Value::Null);
}

#[test]
fn names_from_the_database_cannot_steer_a_terminal() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    let name = "char(27) || '[2J<script>alert(1)</script>' || char(10, 8238)";
    for table in ["laws SET law_id", "runs SET discovery_model_id"] {
        sql::column(&place.db(), &format!("UPDATE {table} = {name}"));
    }
    let update = "UPDATE law_evaluations SET notes = char(27) || ']0;x' || char(7)";
    sql::column(&place.db(), update);
    for arguments in [
        &["status"] as &[&str],
        &["resume", "--run-id", "1"],
        &["run", "--run-id", "1", "--proposer", "enumerative"],
    ] {
        let ran = place.popper(arguments);
        let text = ran.stdout + &ran.stderr;
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
        assert!(
            arguments[0] != "status" || text.contains(r"\u{1b}[2J<scri"),
            "{text}"
        );
    }
}

#[test]
fn a_report_is_one_file_under_the_usual_name_or_another() {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    for (flags, name) in [
        (&["report"] as &[&str], "popper-run-1.html"),
        (&["report", "--run-id", "1", "-o", "page.html"], "page.html"),
    ] {
        let ran = place.popper(flags);
        let said = format!("{name}\n");
        assert_eq!((ran.code, ran.stdout), (Some(0), said), "{}", ran.stderr);
        let page = std::fs::read_to_string(place.path().join(name)).unwrap();
        assert!(
            page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"),
            "{name}"
        );
    }
}
