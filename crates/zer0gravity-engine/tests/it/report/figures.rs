//! The numbers of a report.

use serde_json::{Value, json};
use zer0gravity_engine::judge::flags::FlagId;
use zer0gravity_engine::report::{ReportError, RunReport, Statistics, export_json};
use zer0gravity_engine::{StageName, StageStatus};

use super::sample::{failed, item, judged, numbered, panel, report, small, tokens, without_rules};

const T95_2: f64 = 4.302_652_729_911_275;

fn near(actual: Option<f64>, expected: f64) {
    assert!(
        (actual.unwrap() - expected).abs() < 1e-5,
        "{actual:?} is not {expected}"
    );
}

#[test]
fn the_keys_stand_in_the_order_of_the_specification() {
    let json = export_json(&small());
    assert!(json.ends_with("}\n"));
    let keys: Vec<&str> = (json.lines())
        .filter(|line| line.starts_with("  \""))
        .map(|line| line.trim().split('"').nth(1).unwrap())
        .collect();
    assert_eq!(
        keys,
        [
            "schema_version",
            "kind",
            "engineVersion",
            "createdAt",
            "offline",
            "config",
            "encodings",
            "cases",
            "results",
            "outcomes",
            "statistics",
            "cost",
            "randomness"
        ]
    );
}

#[test]
fn it_reads_back_as_it_was_written() {
    let report = small();
    let json = export_json(&report);
    assert_eq!(RunReport::read(&json).unwrap(), report);
    assert_eq!(export_json(&RunReport::read(&json).unwrap()), json);
    // What `run` writes says the same about what both know.
    let results = serde_json::to_string(&report.results).unwrap();
    let plain = RunReport::read(&format!("\u{feff} {results}")).unwrap();
    assert_eq!(plain.statistics, report.statistics);
    assert_eq!(plain.results, report.results);
    assert_eq!((plain.cases.len(), plain.encodings.len()), (3, 2));
    assert_eq!(plain.created_at, "2026-02-03T04:05:06.789Z");
    let mut replayed = report;
    replayed.replayed = true;
    assert_eq!(RunReport::read(&export_json(&replayed)).unwrap(), replayed);
}

#[test]
fn what_is_no_report_is_refused() {
    let mut value = serde_json::to_value(small()).unwrap();
    value["kind"] = "else".into();
    let error = RunReport::read(&value.to_string()).unwrap_err();
    assert!(matches!(error, ReportError::Kind { .. }), "{error}");
    value["kind"] = "zer0gravity.report".into();
    value["schema_version"] = 9.into();
    let error = RunReport::read(&value.to_string()).unwrap_err();
    assert!(
        matches!(error, ReportError::Version { found: 9 }),
        "{error}"
    );
    let mut results = serde_json::to_value(small().results).unwrap();
    results[1]["schema_version"] = 3.into();
    let error = RunReport::read(&results.to_string()).unwrap_err();
    assert!(
        matches!(error, ReportError::Version { found: 3 }),
        "{error}"
    );
    for text in ["", "half", "[", "[{}]", "{\"kind\": 3}", "null"] {
        let error = RunReport::read(text).unwrap_err();
        assert!(matches!(error, ReportError::Json { .. }), "{text}: {error}");
    }
}

#[test]
fn z2_what_version_1_wrote_is_still_read() {
    let mut value = serde_json::to_value(small()).unwrap();
    value["schema_version"] = 1.into();
    for result in value["results"].as_array_mut().unwrap() {
        result["schema_version"] = 1.into();
        result["metrics"] =
            json!({"chrfPp": 71.25, "rougeL": 0.9, "literalRecall": 0.67, "lengthRatio": 1.0});
        result["flags"] = json!([{"id": "literal_loss", "severity": "warning", "evidence": "literal recall 0.40"}]);
        for judge in ["semanticJudge", "implementabilityJudge"] {
            let samples = result.pointer_mut(&format!("/details/{judge}/samples"));
            for sample in samples.and_then(|s| s.as_array_mut()).into_iter().flatten() {
                let sample = sample.as_object_mut().unwrap();
                sample.retain(|key, _| {
                    ["model", "sample", "score", "status"].contains(&key.as_str())
                });
            }
        }
    }
    let report = RunReport::read(&value.to_string()).unwrap();
    assert_eq!(report.results.len(), small().results.len());
    assert!(RunReport::read(&value["results"].to_string()).is_ok());
    let first = &report.results[0];
    assert_eq!(first.flags[0].id, FlagId::AtomLoss);
    let again = serde_json::to_value(first).unwrap();
    assert_eq!(again["metrics"]["literalRecall"], 0.67);
}

#[test]
fn means_weigh_cases_equally_and_count_scored_items_only() {
    // Case a has two trials, b one, c none that is scored.
    let results = vec![
        judged(numbered(item("e", "a", "x"), 1, 1), 40, 5),
        judged(numbered(item("e", "a", "x"), 2, 1), 20, 5),
        judged(item("e", "b", "y"), 10, 5),
        failed(item("e", "c", "z"), StageStatus::Refused, StageName::Encode),
        failed(
            item("e", "d", "z"),
            StageStatus::ApiError,
            StageName::Decode,
        ),
    ];
    let report = report(results);
    let own = &report.statistics.per_encoding[0];
    // 20 + 40 + 15 + 5 and 20 + 20 + 8 + 5 make 66.5, 20 + 10 + 4 + 5 makes 39.
    near(own.total.mean, f64::midpoint(66.5, 39.0));
    assert_eq!(own.total.n, 2);
    near(own.semantic_preservation.mean, 20.0);
    near(Some(own.failure_rate), 0.4);
    near(Some(own.refusal_rate), 0.2);
    assert_eq!(
        (own.items, own.scored, own.failed, own.refused),
        (5, 3, 2, 1)
    );
    assert_eq!((own.cases, own.scored_cases), (4, 2));
    let case = &report.statistics.per_case;
    assert_eq!(case.len(), 4);
    near(case[0].total.mean, 66.5);
    assert_eq!(case[0].total.n, 2);
    assert_eq!((case[2].total.mean, case[2].total.n), (None, 0));
    assert_eq!(case[1].total.ci95, None);
    let counts = serde_json::to_value(&report.outcomes).unwrap();
    assert_eq!(
        counts,
        json!({"items": 5, "scored": 3, "failed": 2, "counts": [
            {"status": "ok", "stage": null, "count": 3},
            {"status": "refused", "stage": "encode", "count": 1},
            {"status": "api_error", "stage": "decode", "count": 1},
        ]})
    );
}

#[test]
fn an_interval_is_over_cases_or_over_the_trials_of_one() {
    let points = [40, 30, 20];
    let trials: Vec<_> = (points.into_iter().zip(1..))
        .map(|(points, trial)| judged(numbered(item("e", "a", "x"), trial, 1), points, 5))
        .collect();
    let cases: Vec<_> = (points.into_iter().zip(["a", "b", "c"]))
        .map(|(points, case)| judged(item("e", case, "x"), points, 5))
        .collect();
    // Learnability adds 15, 11, 8: totals are 80, 66, 53.
    let (mean, deviation) = (199.0 / 3.0, (547.0_f64 / 3.0).sqrt());
    let reach = T95_2 * deviation / 3.0_f64.sqrt();
    for results in [trials, cases] {
        let own = report(results).statistics.per_encoding[0].total;
        near(own.mean, mean);
        near(own.ci95.map(|ci| ci.low), mean - reach);
        near(own.ci95.map(|ci| ci.high), mean + reach);
    }
    // One scored case of two planned is one value: its trials say nothing about cases.
    let mut mixed: Vec<_> = (1..=3)
        .map(|trial| numbered(item("e", "a", "x"), trial, 1))
        .collect();
    mixed.push(failed(
        item("e", "b", "y"),
        StageStatus::Empty,
        StageName::Encode,
    ));
    assert_eq!(report(mixed).statistics.per_encoding[0].total.ci95, None);
}

#[test]
fn pairs_are_tested_on_common_cases() {
    let mut results = Vec::new();
    for (encoding, saved) in [("a", 10), ("b", 8), ("c", 8)] {
        for case in 0..5 {
            let item = item(encoding, &format!("case {case}"), "x");
            results.push(tokens(item, 100, 100 - saved - case));
        }
    }
    results[9] = failed(
        results[9].clone(),
        StageStatus::Truncated,
        StageName::Encode,
    );
    let statistics = report(results.clone()).statistics;
    let pairwise = serde_json::to_value(&statistics.pairwise).unwrap();
    assert_eq!(
        pairwise,
        json!([
            {"a": "a", "b": "b", "cases": 4, "meanDifference": 2, "ci95": {"low": 2, "high": 2, "method": "t"}, "p": 0.125, "pHolm": 0.25},
            {"a": "a", "b": "c", "cases": 5, "meanDifference": 2, "ci95": {"low": 2, "high": 2, "method": "t"}, "p": 0.0625, "pHolm": 0.1875},
            {"a": "b", "b": "c", "cases": 4, "meanDifference": 0, "ci95": {"low": 0, "high": 0, "method": "t"}, "p": 1, "pHolm": 1},
        ])
    );
    // Without common cases there is nothing to test, and nothing to adjust for.
    results.truncate(10);
    results[5..]
        .iter_mut()
        .for_each(|item| item.test_case_id.push('x'));
    let apart = report(results).statistics.pairwise;
    assert_eq!((apart.len(), apart[0].cases), (1, 0));
    assert_eq!(
        (apart[0].p, apart[0].p_holm, apart[0].mean_difference),
        (None, None, None)
    );
}

#[test]
fn random_tests_are_drawn_from_the_seed_and_the_names() {
    let run = |encodings: &[&str], seed| {
        let mut results = Vec::new();
        for (place, encoding) in encodings.iter().enumerate() {
            for case in 0..20_u8 {
                let points = 20 + (case * 7 + place as u8 * 5) % 13;
                let mut item = judged(item(encoding, &case.to_string(), "x"), points, 4);
                item.metadata.randomness.seed = seed;
                results.push(item);
            }
        }
        report(results).statistics
    };
    let alone = run(&["a", "b"], 0);
    assert_eq!(alone, run(&["a", "b"], 0));
    let p = alone.pairwise[0].p.unwrap();
    assert!(p > 0.0 && p < 1.0, "{p}");
    // A further encoding leaves the test of the others as it was.
    let third = run(&["a", "b", "c"], 0);
    assert_eq!(third.pairwise[0].p, Some(p));
    assert_ne!(run(&["a", "b"], 1).pairwise[0].p, Some(p));
    // Nor does it matter who stands first.
    let turned = run(&["b", "a"], 0);
    assert_eq!(
        (turned.pairwise[0].a.as_str(), turned.pairwise[0].p),
        ("b", Some(p))
    );
}

#[test]
fn judges_are_measured() {
    let mut results = Vec::new();
    let words: [[[u8; 2]; 2]; 4] = [
        [[30, 32], [26, 26]],
        [[34, 36], [30, 31]],
        [[38, 40], [35, 35]],
        [[38, 40], [36, 36]],
    ];
    for (index, [first, second]) in words.iter().enumerate() {
        let (trial, decode) = (index as u32 / 2 + 1, index as u32 % 2 + 1);
        let item = numbered(item("e", "a", "x"), trial, decode);
        results.push(panel(item, &[("one", first), ("two", second)], 33, 4));
    }
    // A text that lacks a decode is left out of the components.
    let lone = panel(item("e", "b", "y"), &[("one", &[20, 22])], 21, 4);
    results.push(lone);
    let Statistics { judges, .. } = report(results).statistics;
    let panel = judges.semantic;
    assert_eq!(panel.units, 4);
    assert_eq!(panel.per_judge.len(), 2);
    let one = &panel.per_judge[0];
    assert_eq!(
        (
            one.model.as_str(),
            one.samples,
            one.points.n,
            one.points.values
        ),
        ("one", 10, 2, 5)
    );
    // Medians 31, 35, 39, 39 of the one text, 21 of the other.
    near(one.points.mean, 28.5);
    let components = one.components.unwrap();
    near(components.judge, 2.0);
    near(components.decode, 3.0);
    near(components.encode, 16.0);
    assert_eq!((one.component_cases, one.incomplete_cases), (1, 1));
    assert_eq!(
        (
            panel.per_judge[1].component_cases,
            panel.per_judge[1].incomplete_cases
        ),
        (1, 1)
    );
    // By the definition over all pairs of values, in fractions: 107 / 184.
    near(panel.alpha, 107.0 / 184.0);
    assert_eq!(judges.implementability.alpha, None);
    assert_eq!(judges.implementability.per_judge[0].components, None);
}

#[test]
fn the_cost_is_what_the_results_report() {
    let cost = serde_json::to_value(small().cost).unwrap();
    assert_eq!(
        cost,
        json!({"calls": 72, "retries": 0, "tokensSpent": {"input": 4800, "output": 960}, "usd": null, "perEncoding": [
            {"encodingId": "vowels", "calls": 36, "tokensSpent": {"input": 2400, "output": 480}, "usd": null},
            {"encodingId": "signs", "calls": 36, "tokensSpent": {"input": 2400, "output": 480}, "usd": null},
        ]})
    );
}

#[test]
fn a_missing_number_is_null_and_never_a_mean() {
    let mut results = vec![item("e", "a", "x"), item("e", "b", "y")];
    // As earlier versions wrote a judge's number that was missing.
    let mut old = serde_json::to_value(&results[0]).unwrap();
    old["total"] = Value::Null;
    old["scores"]["semanticPreservation"] = Value::Null;
    results[0] = serde_json::from_value(old).unwrap();
    assert!(results[0].scores.is_none() && results[1].scores.is_some());
    let report = report(results);
    assert_eq!((report.outcomes.scored, report.outcomes.failed), (1, 0));
    near(report.statistics.per_encoding[0].total.mean, 74.0);
    let json = export_json(&report);
    assert!(!json.contains("NaN"));
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["results"][0]["total"], Value::Null);
    assert_eq!(
        value["statistics"]["perEncoding"][0]["total"]["ci95"],
        Value::Null
    );
}

#[test]
fn z5_means_of_totals_leave_out_what_has_no_rules() {
    let results = vec![
        judged(item("e", "a", "x"), 40, 5),
        without_rules(judged(item("e", "b", "x"), 20, 5)),
    ];
    let report = report(results);
    let outcomes = &report.outcomes;
    assert_eq!(
        (
            outcomes.items,
            outcomes.scored,
            outcomes.partial,
            outcomes.failed
        ),
        (2, 1, 1, 0)
    );
    let encoding = &report.statistics.per_encoding[0];
    assert_eq!((encoding.total.n, encoding.total.mean), (1, Some(80.0)));
    assert_eq!(encoding.semantic_preservation.mean, Some(30.0));
    assert_eq!(encoding.implementability.mean, Some(5.0));
}

#[test]
fn z7_the_unit_of_a_judges_interval_is_the_text() {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
    const RUNS: u32 = 400;
    let mut covered = 0;
    for run in 0..RUNS {
        let mut random = ChaCha20Rng::seed_from_u64(u64::from(run));
        let mut even = |reach: f64| {
            let unit = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            reach * (2.0 * unit - 1.0)
        };
        let mut results = Vec::new();
        for text in 0..25 {
            let of_text = 22.0 + even(3.0);
            for trial in 1..=4 {
                let of_trial = of_text + even(3.0);
                for decode in 1..=3 {
                    let points = (of_trial + even(4.0)).round() as u8;
                    let item = item("e", &format!("c{text}"), "x");
                    results.push(numbered(judged(item, points, 4), trial, decode));
                }
            }
        }
        let report = report(results);
        let judge = &report.statistics.judges.semantic.per_judge[0];
        assert_eq!(
            (judge.points.n, judge.points.values, judge.samples),
            (25, 300, 300)
        );
        let encoding = &report.statistics.per_encoding[0].semantic_preservation;
        assert_eq!(&judge.points, encoding);
        let interval = judge.points.ci95.unwrap();
        covered += u32::from((interval.low..=interval.high).contains(&22.0));
    }
    let share = f64::from(covered) / f64::from(RUNS);
    assert!((0.92..=0.98).contains(&share), "{share}");
}
