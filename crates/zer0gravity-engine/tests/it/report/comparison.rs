//! Two runs beside each other.

use zer0gravity_engine::{Comparison, ExperimentResult, Report, StageName, StageStatus, compare};

use super::sample::{failed, item, judged, numbered, report, small, tokens};

/// Encodings "a" and "b" on five cases; `saved` percent of the tokens each.
fn run(saved: [i64; 2]) -> Vec<ExperimentResult> {
    let mut results = Vec::new();
    for (encoding, saved) in ["a", "b"].into_iter().zip(saved) {
        for case in 0..5_i64 {
            let item = item(encoding, &format!("c{case}"), "x");
            results.push(tokens(item, 100, 100 - saved - case % 2));
        }
    }
    results
}

fn compared(
    old: Vec<ExperimentResult>,
    new: Vec<ExperimentResult>,
    drop: Option<f64>,
) -> Comparison {
    compare(&report(old), &report(new), drop)
}

#[test]
fn a_run_equals_itself() {
    let report = small();
    let same = compare(&report, &report, Some(0.0));
    assert!(same.holds, "{:?}", same.reasons);
    assert_eq!(same.overall.pairs, 6);
    assert_eq!(
        (same.overall.mean_difference, same.overall.p),
        (Some(0.0), Some(1.0))
    );
    assert_eq!((same.per_encoding.len(), same.per_case.len()), (2, 3));
    assert!(same.newly_failed.is_empty() && same.missing.is_empty() && same.added.is_empty());
    assert_eq!(same.changes, zer0gravity_engine::report::Changes::default());
    let json = serde_json::to_string(&same).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&json).unwrap(), same);
}

#[test]
fn a_drop_of_one_encoding_is_not_hidden_by_a_gain_of_another() {
    let old = || run([20, 20]);
    let new = || run([16, 28]);
    let found = compared(old(), new(), Some(3.0));
    assert_eq!(found.overall.mean_difference, Some(2.0));
    let own = &found.per_encoding[0];
    assert_eq!(
        (own.id.as_str(), own.pairs, own.mean_difference),
        ("a", 5, Some(-4.0))
    );
    assert_eq!((own.p, own.ci95.unwrap().low), (Some(0.0625), -4.0));
    assert_eq!(
        (own.old.unwrap() - own.new.unwrap(), own.old),
        (4.0, Some(74.4))
    );
    assert!(!found.holds);
    assert_eq!(
        found.reasons,
        ["a drops by 4.00 points over 5 common cases; 3 may pass"]
    );
    // A limit is a limit that may be reached, and without one nothing is decided.
    assert!(compared(old(), new(), Some(4.0)).holds);
    assert!(compared(old(), new(), None).holds);
    assert!(!compared(old(), new(), Some(f64::NAN)).holds);
    assert!(!compared(old(), new(), Some(-9.0)).holds);
}

#[test]
fn a_new_failure_does_not_pass() {
    let mut new = run([20, 20]);
    new[3] = failed(new[3].clone(), StageStatus::Refused, StageName::Decode);
    let found = compared(run([20, 20]), new.clone(), Some(50.0));
    assert!(!found.holds);
    assert_eq!(found.newly_failed.len(), 1);
    assert_eq!(found.newly_failed[0].item.test_case_id, "c3");
    assert_eq!(
        found.reasons,
        ["1 item failed that did not before, the first c3 of a: refused at decode"]
    );
    // It fails as before, or goes through again.
    assert!(compared(new.clone(), new.clone(), Some(0.0)).holds);
    let back = compared(new.clone(), run([20, 20]), Some(0.0));
    assert!(back.holds);
    assert_eq!(back.recovered.len(), 1);
    // A second trial that fails is news; one of a text that always failed is not.
    let again = |trial| {
        numbered(
            failed(item("a", "c0", "x"), StageStatus::Empty, StageName::Encode),
            trial,
            1,
        )
    };
    let mut more = run([20, 20]);
    more.push(again(2));
    assert_eq!(
        compared(run([20, 20]), more, Some(0.0)).newly_failed.len(),
        1
    );
    let mut old = run([20, 20]);
    old[0] = again(1);
    let mut more = old.clone();
    more.push(again(2));
    assert!(compared(old, more, Some(0.0)).holds);
}

#[test]
fn what_is_not_measured_any_more_does_not_pass() {
    let mut fewer = run([20, 20]);
    fewer.truncate(9);
    let found = compared(run([20, 20]), fewer.clone(), Some(1.0));
    assert!(!found.holds);
    assert_eq!(found.missing.len(), 1);
    assert_eq!(
        found.reasons,
        ["1 pair of encoding and case had a score and is not in the new run, the first c4 of b"]
    );
    // More is fine.
    let more = compared(fewer, run([20, 20]), Some(1.0));
    assert!(more.holds);
    assert_eq!((more.added.len(), more.overall.pairs), (1, 9));
    // Fewer trials of the same texts are fine too.
    let mut twice = run([20, 20]);
    twice.extend(run([20, 20]).into_iter().map(|item| numbered(item, 2, 1)));
    assert!(compared(twice, run([20, 20]), Some(1.0)).holds);
    // A case with another text is another case.
    let mut rewritten = run([20, 20]);
    for item in rewritten
        .iter_mut()
        .filter(|item| item.test_case_id == "c0")
    {
        item.original_text = "y".into();
    }
    let found = compared(run([20, 20]), rewritten, Some(1.0));
    assert_eq!(
        (found.missing.len(), found.added.len(), found.overall.pairs),
        (2, 2, 8)
    );
    assert_eq!(found.changes.texts, ["c0"]);
    // Nothing in common is no evidence.
    let nothing = Report::read("[]").unwrap();
    let found = compare(&nothing, &report(run([20, 20])), Some(1.0));
    assert_eq!(
        found.reasons,
        ["the runs have no scored pair of encoding and case in common"]
    );
}

#[test]
fn what_else_has_changed_is_said() {
    let old = small();
    let mut new = small();
    let config = new.config.as_mut().unwrap();
    config.models.judges = vec!["other".into()];
    config.trials = 3;
    new.encodings[1].sha256 = "1".repeat(64);
    new.engine_version = "9.9.9".into();
    let changes = compare(&old, &new, None).changes;
    assert_eq!(
        changes.settings,
        ["config.models.judges.0", "config.trials"]
    );
    assert_eq!(changes.rules, ["signs"]);
    assert_eq!(
        changes.engine_versions,
        Some(["0.1.0".into(), "9.9.9".into()])
    );
}

#[test]
fn pairs_of_one_say_no_interval() {
    let old = vec![judged(item("a", "c", "x"), 30, 4)];
    let new = vec![judged(item("a", "c", "x"), 20, 4)];
    let found = compared(old, new, None).overall;
    assert_eq!((found.pairs, found.ci95, found.p), (1, None, Some(1.0)));
    // 10 points for the meaning, 3 for what follows from them.
    assert_eq!(found.mean_difference, Some(-13.0));
}
