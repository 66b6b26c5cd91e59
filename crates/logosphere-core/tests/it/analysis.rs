//! One result with everything that is measured, and the bands of null models in it.

use logosphere_core::Transcript;
use logosphere_core::measures::metrics::{Metric, Window, measure};
use logosphere_core::measures::nulls::{Null, NullPlan};
use logosphere_core::measures::{Analysis, AnalysisPlan};
use serde_json::Value;

use crate::desk;
use crate::population;
use crate::scripted_run::{ScriptedRun, random_run};
use logosphere_core::config::Scheduling;

fn json(run: &Transcript, plan: &AnalysisPlan<'_>) -> String {
    serde_json::to_string(&Analysis::of(run, plan)).unwrap()
}

#[test]
fn the_result_says_what_it_is_and_repeats() {
    let (_, journal) = desk::run(
        &desk::settings(Scheduling::Snapshot),
        desk::mind(&desk::settings(Scheduling::Snapshot)),
    );
    let run = Transcript::read(&journal[..]).unwrap();
    let text = json(&run, &AnalysisPlan::default());
    assert_eq!(text, json(&run, &AnalysisPlan::default()));
    let analysis: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(analysis["schema_version"], 2);
    assert_eq!(
        (&analysis["seed"], &analysis["scheduling"]),
        (&42.into(), &"snapshot".into())
    );
    assert_eq!(analysis["models"], serde_json::json!(["mutator:p=0.1"]));
    let metrics = analysis["metrics"].as_array().unwrap();
    let names: Vec<&str> = metrics
        .iter()
        .map(|metric| metric["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        Metric::ALL
            .iter()
            .map(|metric| metric.name())
            .collect::<Vec<_>>()
    );
    let similarity = &metrics[0];
    assert_eq!(similarity["encoder"], "tfidf");
    assert_eq!(similarity["window"], "active");
    assert_eq!(similarity["points"].as_array().unwrap().len(), 5);
    assert!(
        similarity["definition"]
            .as_str()
            .unwrap()
            .contains("cosine")
    );
    let number = |of: &Value| of.as_f64().unwrap();
    assert!(number(&similarity["mean"]) > 0.0);
    // Five rounds are too few.
    assert_eq!(similarity["interval"], Value::Null);
    assert_eq!(analysis.get("tests"), None);
    assert_eq!(analysis["volume"]["by_reason"]["ok"], 20);
    assert_eq!(analysis["lineage"]["messages"], 20);
}

#[test]
fn a_run_of_nothing_has_an_analysis() {
    let mut plan = AnalysisPlan::default();
    plan.matched = true;
    plan.null = Some(NullPlan::default());
    for run in [
        Transcript::default(),
        ScriptedRun::new(3, &[]).texts(&[]).texts(&[]).0,
        ScriptedRun::new(3, &["\u{200b}"]).texts(&["\u{200b}"]).0,
    ] {
        let analysis = Analysis::of(&run, &plan);
        assert_eq!(analysis.matched, None);
        let similarity = analysis.metric(Metric::TfidfSimilarity).unwrap();
        assert_eq!(similarity.mean, None);
        assert_eq!(analysis.test(Metric::TfidfSimilarity), None);
    }
}

#[test]
fn a_comparison_is_in_the_result() {
    let settings = population::settings("mutator:p=0.1", 4, 15, 12, 7);
    let run = population::run(&settings, &population::built_in());
    let analysis = Analysis::of(&run, &with_null(Null::Descent));
    let found = analysis.comparison.as_ref().unwrap();
    assert_eq!(
        (found.null.kind, found.null.runs, found.null.seed),
        (Null::Descent, 199, 3)
    );
    let text = json(&run, &with_null(Null::Descent));
    assert_eq!(text, json(&run, &with_null(Null::Descent)));
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["parent_rule"], "lcs/1");
    assert_eq!(result["tests"][0]["name"], "choice");
    assert_eq!(result["verdict"]["sentence"], analysis.sentence().unwrap());
    for metric in Metric::ALL {
        let measured = analysis.metric(*metric).unwrap();
        let test = analysis.test(*metric);
        // Every round has a band, since there are few.
        let banded = measured
            .points
            .iter()
            .filter(|point| point.null.is_some())
            .count();
        let valued = measured
            .points
            .iter()
            .filter(|point| point.value.is_some())
            .count();
        assert_eq!(banded, if test.is_some() { valued } else { 0 }, "{metric}");
        // A test is computed from tokens, but a cosine is so, too.
        if *metric == Metric::TfidfSimilarity {
            let mean = measured.mean.unwrap();
            assert!((test.unwrap().observed - mean).abs() < 1e-8);
        }
    }
    let without = Analysis::of(&run, &AnalysisPlan::default());
    assert_eq!(without.comparison, None);
    assert!(
        without
            .sentence()
            .unwrap()
            .starts_with("The similarity of the texts")
    );
}

#[test]
fn what_is_read_shows_against_a_shuffle() {
    // Each mind answers in the words of what it reads; the rounds have nothing else in common.
    let mut run = ScriptedRun::new(9, &["aa ab ac", "ba bb bc", "ca cb cc", "da db dc"]);
    for round in 0..20_u64 {
        let read = [round, round + 1, round + 2, round + 3];
        let text = |id: u64| run.0.messages[id as usize].text.clone();
        let sent = read.map(|id| [format!("{} r{round}", text(id))]);
        let ids = read.map(|id| [id]);
        let calls = std::iter::zip(&ids, &sent).map(|(id, sent)| (&id[..], &sent[..]));
        let calls: Vec<(&[u64], &[String])> = calls.collect();
        run = run.round(&calls);
    }
    let analysis = Analysis::of(&run.0, &with_null(Null::Shuffle));
    let inputs = analysis.test(Metric::InputSimilarity).unwrap();
    assert!(
        inputs.observed > inputs.high && inputs.p.unwrap() <= 0.01,
        "{inputs:?}"
    );
    let mean = analysis
        .metric(Metric::InputSimilarity)
        .unwrap()
        .mean
        .unwrap();
    assert!((inputs.observed - mean).abs() < 1e-8);
    // What was written is the same, so nothing else can tell.
    assert_eq!(analysis.comparison.unwrap().tests.len(), 1);
}

/// A plan with 199 null runs.
fn with_null(kind: Null) -> AnalysisPlan<'static> {
    let mut plan = AnalysisPlan::default();
    plan.null = Some(NullPlan {
        kind,
        runs: 199,
        seed: 3,
        threads: 2,
    });
    plan
}

#[test]
fn windows_and_matching_reach_the_metrics() {
    let run = random_run(5, 40);
    let mut plan = AnalysisPlan::default();
    plan.window = "rounds:2".parse::<Window>().unwrap();
    plan.matched = true;
    let analysis = Analysis::of(&run, &plan);
    assert!(analysis.matched.is_some());
    let expected = measure(&run, plan.window, Metric::ALL, analysis.matched);
    for (measured, series) in analysis.metrics.iter().zip(expected) {
        assert_eq!(
            (measured.name, &measured.window),
            (series.metric, &series.window)
        );
        assert_eq!(
            (measured.matched, measured.mean),
            (series.matched, series.mean())
        );
        assert_eq!(measured.matched, measured.name.can_match());
    }
}
