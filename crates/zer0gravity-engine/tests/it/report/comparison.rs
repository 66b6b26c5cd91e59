//! Comparisons of two runs.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use statrs::distribution::{ContinuousCDF as _, Normal};
use zer0gravity_engine::prompts::PromptProfile;
use zer0gravity_engine::report::{Changes, Comparison, Limits, RunReport, compare};
use zer0gravity_engine::{ExperimentResult, StageName, StageStatus};

use super::sample::{failed, item, judged, numbered, report, small, tokens, without_rules};

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
    let new = || {
        let mut new = run([16, 28]);
        for (case, saved) in [(0, 15), (1, 17)] {
            let item = item("a", &format!("c{case}"), "x");
            new[case as usize] = tokens(item, 100, 100 - saved - case);
        }
        new
    };
    let found = compared(old(), new(), Some(3.0));
    assert_eq!(found.overall.mean_difference, Some(2.0));
    let own = &found.per_encoding[0];
    assert_eq!(
        (own.id.as_str(), own.pairs, own.mean_difference),
        ("a", 5, Some(-4.0))
    );
    let low = own.ci95.unwrap().low;
    assert_eq!((own.p, low.round()), (Some(0.0625), -5.0));
    assert_eq!(
        (own.old.unwrap() - own.new.unwrap(), own.old),
        (4.0, Some(74.4))
    );
    assert!(!found.holds);
    assert_eq!(
        found.reasons,
        ["a drops by 4.00 points over 5 common cases; the limit is 3"]
    );
    // A limit is a limit that may be reached, and without one nothing is decided.
    assert!(compared(old(), new(), Some(4.0)).holds);
    assert!(compared(old(), new(), None).holds);
    assert!(!compared(old(), new(), Some(f64::NAN)).holds);
    assert!(!compared(old(), new(), Some(-9.0)).holds);
}

#[test]
fn equal_drops_are_significant_from_five_texts() {
    let template = report(vec![item("a", "c", "x")]);
    for (texts, p, holds) in [(2, 0.25, true), (4, 0.0625, true), (5, 0.03125, false)] {
        let [old, new] = [60.0, 5.0].map(|total| totals(&template, &[vec![total; texts]]));
        let found = compare(&old, &new, Some(2.0));
        assert_eq!(
            (found.per_encoding[0].drop_p, found.holds),
            (Some(p), holds)
        );
    }
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
    let nothing = RunReport::read("[]").unwrap();
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

#[test]
fn z9_the_same_pairs_have_the_same_p() {
    // More pairs than all sign flips are tried for.
    let run = |better: fn(usize) -> u8| {
        let points = (0..24).map(|case| {
            let case_id = format!("c{case}");
            judged(item("a", &case_id, "x"), 20 + better(case), 4)
        });
        points.collect::<Vec<_>>()
    };
    let found = compared(run(|case| (case * 7 % 5) as u8), run(|_| 3), None);
    let (overall, own) = (&found.overall, &found.per_encoding[0]);
    assert_eq!((overall.pairs, own.pairs), (24, 24));
    assert!(overall.p.unwrap() < 1.0);
    assert_eq!(overall.p, own.p);
}

/// A run of results that an other judge scored.
fn judged_by(model: &str, profile: PromptProfile, hash: &str) -> Vec<ExperimentResult> {
    let mut results = run([20, 20]);
    for result in &mut results {
        Arc::make_mut(&mut result.metadata.models).judges = vec![model.to_owned()];
        result.metadata.prompt_profile = profile;
        hash.clone_into(&mut Arc::make_mut(&mut result.metadata.prompt_sha256).semantic_judge);
    }
    results
}

#[test]
fn z6_settings_of_files_come_from_their_results() {
    let old = || judged_by("sonnet", PromptProfile::Plain, "18");
    let new = || judged_by("haiku", PromptProfile::Guarded, "99");
    let found = compared(old(), new(), None);
    assert!(found.holds);
    assert_eq!(
        found.changes.settings,
        [
            "metadata.models.judges: sonnet -> haiku",
            "metadata.promptProfile: seed -> guarded",
            "metadata.promptSha256.semanticJudge: 18 -> 99",
        ]
    );
    let found = compared(old(), new(), Some(50.0));
    assert_eq!(
        found.reasons,
        ["not comparable: judge differs (sonnet/seed, haiku/guarded)"]
    );
    assert!(!found.holds);
    let allowed = Limits::from(Some(50.0)).allowing_changed_judge(true);
    assert!(compare(&report(old()), &report(new()), allowed).holds);
    // Another prompt alone is another judge, and so is none.
    let prompt = judged_by("sonnet", PromptProfile::Plain, "77");
    let found = compared(old(), prompt, Some(50.0));
    let reason = "not comparable: judge differs (sonnet with prompt 18, sonnet with prompt 77)";
    assert_eq!(found.reasons, [reason]);
    let mut offline = old();
    for result in &mut offline {
        result.offline = true;
        Arc::make_mut(&mut result.metadata.models).judges = vec!["offline".to_owned()];
    }
    let found = compared(offline, old(), Some(50.0));
    assert_eq!(
        found.reasons,
        ["not comparable: judge differs (offline/seed, sonnet/seed)"]
    );
    assert!(
        found
            .changes
            .settings
            .contains(&"offline: true -> false".to_owned())
    );
    // Mixed values are a set.
    let mut mixed = old();
    Arc::make_mut(&mut mixed[0].metadata.models).encoder = "opus".to_owned();
    let settings = compared(old(), mixed, None).changes.settings;
    assert_eq!(
        settings,
        ["metadata.models.encoder: scribe-1 -> {opus, scribe-1}"]
    );
    // Other rules have other prompts by themselves, and are told as rules.
    let mut rules = old();
    for result in &mut rules {
        result.metadata.rules_sha256 = "2".repeat(64).into();
        Arc::make_mut(&mut result.metadata.prompt_sha256).encoder = "other".to_owned();
    }
    let changes = compared(old(), rules, None).changes;
    assert_eq!(
        (changes.settings.len(), changes.rules),
        (0, vec!["a".to_owned(), "b".to_owned()])
    );
}

#[test]
fn z5_items_without_rules_are_not_compared() {
    let mut new = run([20, 20]);
    new[3] = without_rules(new[3].clone());
    let found = compared(run([20, 20]), new.clone(), None);
    assert_eq!((found.overall.pairs, found.newly_failed.len()), (9, 0));
    assert_eq!(found.changes.partial.len(), 1);
    assert_eq!(found.changes.partial[0].test_case_id, "c3");
    let found = compared(run([20, 20]), new, Some(50.0));
    assert_eq!(
        found.reasons,
        [
            "not comparable: 1 item is scored of 95 points because no rules were given, the first c3 of a"
        ]
    );
    assert_eq!(
        compared(run([20, 20]), run([20, 20]), None).changes,
        Changes::default()
    );
}

/// A run of these totals, one list for each encoding, one number for each case.
fn totals(template: &RunReport, totals: &[Vec<f64>]) -> RunReport {
    let sample = &template.results[0];
    let results = totals.iter().enumerate().flat_map(|(encoding, totals)| {
        totals.iter().enumerate().map(move |(case, total)| {
            let mut result = sample.clone();
            result.encoding_id = encoding.to_string();
            result.test_case_id = case.to_string();
            result.total = Some(total.round() as u8);
            result
        })
    });
    let mut report = template.clone();
    report.results = results.collect();
    report
}

/// The share of comparisons that fail at `--max-drop 2`, of `runs` in which judges give points with a deviation of 4, if
/// each of the encodings truly drops by so much: first by the strict rule, then by ours.
fn failing(runs: u32, encodings: usize, texts: usize, drop: f64) -> [f64; 2] {
    let mut rng = ChaCha20Rng::seed_from_u64(37);
    let normal = Normal::new(0.0, 4.0).unwrap();
    let template = report(vec![item("a", "c", "x")]);
    let mut failed = [0; 2];
    for _ in 0..runs {
        let mut noisy = |mean: f64| {
            let mut one =
                || normal.inverse_cdf((f64::from(rng.next_u32()) + 0.5) / 4_294_967_296.0);
            let lists = (0..encodings).map(|_| (0..texts).map(|_| mean + one()).collect());
            totals(&template, &lists.collect::<Vec<Vec<f64>>>())
        };
        let (old, new) = (noisy(60.0), noisy(60.0 - drop));
        for (failed, strict) in failed.iter_mut().zip([true, false]) {
            let limits = Limits::from(Some(2.0)).strict(strict);
            *failed += u32::from(!compare(&old, &new, limits).holds);
        }
    }
    failed.map(|failed| f64::from(failed) / f64::from(runs))
}

#[test]
fn z37_an_unchanged_encoding_seldom_fails_and_a_real_drop_mostly_does() {
    for (encodings, texts) in [(1, 4), (1, 8), (3, 4)] {
        let [strict, ours] = failing(2000, encodings, texts, 0.0);
        assert!(ours <= 0.06, "{encodings} x {texts}: {ours}");
        assert!(strict > 0.15, "{encodings} x {texts}: {strict}");
    }
    let [_, ours] = failing(1000, 1, 8, 8.0);
    assert!(ours >= 0.95, "{ours}");
}

#[test]
fn z37_a_drop_that_chance_may_give_passes_and_says_what_would_tell() {
    let template = report(vec![item("a", "c", "x")]);
    let old = totals(&template, &[vec![60.0; 4]]);
    let new = totals(&template, &[vec![51.0, 63.0, 54.0, 60.0]]);
    let found = compare(&old, &new, Some(2.0));
    assert!(found.holds, "{:?}", found.reasons);
    assert_eq!(
        found.not_significant,
        [
            "0: drop 3.0 points, not significant (n = 4; about 11 texts are needed); --strict fails on it"
        ]
    );
    let strict = compare(&old, &new, Limits::from(Some(2.0)).strict(true));
    assert_eq!(
        (strict.holds, strict.reasons, strict.not_significant.len()),
        (
            false,
            vec!["0 drops by 3.00 points over 4 common cases; the limit is 2".to_owned()],
            0
        )
    );
    // One text says nothing of its own spread.
    let (old, new) = (
        totals(&template, &[vec![60.0]]),
        totals(&template, &[vec![10.0]]),
    );
    let found = compare(&old, &new, Some(2.0));
    assert!(found.holds);
    assert!(found.not_significant[0].contains("(n = 1; at least 2 texts are needed)"));
    // Below the limit nothing is said.
    let new = totals(&template, &[vec![58.5]]);
    assert_eq!(compare(&old, &new, Some(2.0)).not_significant.len(), 0);
}
