//! A sweep with a run whose journal cannot be read: the others are made and tested.

use std::fs;

use serde_json::Value;

use crate::program::{Place, Ran, SEEDS, init, words};

const PLAN: &str = r#"
schema_version = 1
name = "try"
repeats = 3
seed = 7
init = "init.md"
[base]
n_minds = 2
max_rounds = 4
mind = "mutator:p=0.05"
[axes]
k_samples = [1, 3]
[tests]
null_runs = 199
"#;

const CELL: &str = "sweeps/try/cells/k_samples=1";
const JOURNAL: &str = "logs/experiment.jsonl";
const RESULTS: [&str; 3] = ["summary.csv", "summary.json", "report.html"];

/// A sweep of six runs that has ended.
fn ended() -> Place {
    let place = Place::new();
    place.file("plan.toml", PLAN);
    place.file("init.md", init(&SEEDS));
    place.alone(&words("sweep plan.toml")).exits(0);
    place
}

/// Replaces a part of the journal of the first run.
fn alter(place: &Place, from: &str, to: &str) {
    let path = format!("{CELL}/r000/{JOURNAL}");
    let journal = place.read(&path);
    assert!(journal.contains(from), "{from}");
    place.file(&path, journal.replacen(from, to, 1));
}

fn results(place: &Place) -> [String; 3] {
    RESULTS.map(|name| place.read(&format!("sweeps/try/{name}")))
}

/// Checks the results of a sweep without its first run.
fn without_first(place: &Place, ran: Ran, reason: &str) {
    let ran = ran.tells(&[
        &format!("{CELL}/r000: "),
        reason,
        "once its folder is moved away",
    ]);
    assert_eq!(ran.stderr.matches(reason).count(), 1, "{}", ran.stderr);
    let told = format!("k_samples=1/r000 cannot be read: {reason}");
    assert!(ran.stdout.contains(&told), "{}", ran.stdout);
    let [csv, json, page] = results(place);
    let json: Value = serde_json::from_str(&json).unwrap();
    let counted = |cell: usize| json["cells"][cell]["repeats"].as_u64();
    assert_eq!((counted(0), counted(1)), (Some(2), Some(3)));
    assert_eq!(json["unreadable"].as_array().unwrap().len(), 1);
    assert_eq!(json["unreadable"][0]["run"], "k_samples=1/r000");
    let listed = json["unreadable"][0]["reason"].as_str().unwrap();
    assert!(listed.starts_with(reason), "{listed}");
    assert!(csv.contains("\nk_samples=1,1,2,"), "{csv}");
    assert!(page.contains("Unreadable runs") && page.contains("k_samples=1/r000"));
}

#[test]
fn a_damaged_run_is_named_and_the_others_are_made_and_tested() {
    let place = ended();
    let whole = place.read(&format!("{CELL}/r000/{JOURNAL}"));
    let before = results(&place);
    assert!(!before[1].contains("unreadable") && !before[2].contains("Unreadable runs"));
    fs::remove_dir_all(place.path("sweeps/try/cells/k_samples=3/r002")).unwrap();
    let line = whole.lines().nth(4).unwrap();
    let kind = line.split('"').nth(3).unwrap();
    let altered = line.replacen("\"timestamp\":\"2", "\"timestamp\":\"1", 1);
    assert_ne!(altered, line);
    alter(&place, line, &altered);
    let reason = format!("line 5 ({kind}): has chain ");
    let ran = place.alone(&words("sweep plan.toml")).exits(1);
    without_first(&place, ran, &reason);
    assert!(
        place
            .path("sweeps/try/cells/k_samples=3/r002")
            .join(JOURNAL)
            .exists()
    );
    // The journal is left as it is, and its reason is found again without a run.
    assert!(
        place
            .read(&format!("{CELL}/r000/{JOURNAL}"))
            .contains(&altered)
    );
    let damaged = results(&place);
    let ran = place.alone(&words("sweep plan.toml --summary")).exits(1);
    without_first(&place, ran, &reason);
    assert_eq!(results(&place), damaged);
    let estimate = place.alone(&words("sweep plan.toml --estimate")).exits(0);
    let estimate = estimate.tells(&[&format!("k_samples=1/r000 cannot be read: {reason}")]);
    assert!(
        estimate.stdout.contains("in 6 runs; 40 are done"),
        "{}",
        estimate.stdout
    );
    // Without its folder the run is made again.
    fs::rename(place.path(CELL).join("r000"), place.path("away")).unwrap();
    place.alone(&words("sweep plan.toml")).exits(0);
    assert_eq!(results(&place), before);
}

#[test]
fn a_run_of_a_newer_program_is_named_and_left_out() {
    let place = ended();
    alter(&place, "\"schema_version\":2", "\"schema_version\":3");
    let ran = place.alone(&words("sweep plan.toml")).exits(1);
    without_first(
        &place,
        ran,
        "line 1 (experiment_start): schema_version 3 is newer",
    );
}

#[test]
fn a_run_of_another_cell_is_refused_next_to_a_damaged_one() {
    let place = ended();
    let journal = |run: &str| place.path(&format!("sweeps/try/cells/{run}/{JOURNAL}"));
    alter(&place, "\"schema_version\":2", "\"schema_version\":3");
    fs::copy(journal("k_samples=3/r001"), journal("k_samples=1/r001")).unwrap();
    let before = results(&place);
    for command in ["sweep plan.toml", "sweep plan.toml --summary"] {
        let refused = place.alone(&words(command)).exits(4);
        refused.tells(&["is not a run of this cell"]);
        assert_eq!(results(&place), before);
    }
}
