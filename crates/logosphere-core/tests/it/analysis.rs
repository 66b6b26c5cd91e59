//! One result with everything that is measured, and the bands of null models in it.

use logosphere_core::Transcript;
use logosphere_core::measures::metrics::{Metric, Window, measure};
use logosphere_core::measures::nulls::{Null, Simulation, simulate};
use logosphere_core::measures::{Analysis, AnalysisPlan};
use serde_json::Value;

use crate::desk;
use crate::scripted_run::{ScriptedRun, random_run};
use logosphere_core::config::Scheduling;

fn json(run: &Transcript, plan: &AnalysisPlan) -> String {
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
    assert_eq!(analysis["schema_version"], 1);
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
    assert_eq!(similarity["null"], Value::Null);
    assert_eq!(analysis["volume"]["by_reason"]["ok"], 20);
    assert_eq!(analysis["lineage"]["messages"], 20);
}

#[test]
fn a_run_of_nothing_has_an_analysis() {
    let mut plan = AnalysisPlan::default();
    plan.matched = true;
    plan.null = Some(Null::RandomCopy { mu: None });
    for run in [
        Transcript::default(),
        ScriptedRun::new(3, &[]).texts(&[]).texts(&[]).0,
        ScriptedRun::new(3, &["\u{200b}"]).texts(&["\u{200b}"]).0,
    ] {
        let analysis = Analysis::of(&run, &plan);
        assert_eq!(analysis.matched, None);
        let similarity = analysis.metric(Metric::TfidfSimilarity).unwrap();
        assert_eq!((similarity.mean, similarity.null), (None, None));
    }
}

#[test]
fn copiers_lie_in_the_band_of_copiers() {
    let seeds = (0..15)
        .map(|seed| format!("seed number {seed} of fifteen"))
        .collect();
    let run = simulate(&Simulation {
        minds: 3,
        samples: 3,
        active: 15,
        snapshot: false,
        rounds: 12,
        seeds,
        mu: 0.1,
        seed: 7,
    });
    let mut plan = AnalysisPlan::default();
    plan.null = Some(Null::RandomCopy { mu: Some(0.1) });
    plan.null_seed = 3;
    let analysis = Analysis::of(&run, &plan);
    let null = analysis.null.as_ref().unwrap();
    assert_eq!(
        (null.model, null.mu, null.runs, null.seed),
        ("random-copy", Some(0.1), 200, 3)
    );
    for metric in [
        Metric::TfidfSimilarity,
        Metric::PairIdentity,
        Metric::Turnover,
    ] {
        let measured = analysis.metric(metric).unwrap();
        let band = measured.null.unwrap();
        assert!(
            band.low <= band.observed && band.observed <= band.high,
            "{metric} {band:?}"
        );
        assert_eq!(Some(band.observed), measured.mean);
        assert_eq!(measured.points.len(), 12);
        for point in &measured.points {
            assert_eq!(point.null.map(|band| band.observed), point.value);
        }
    }
    assert_eq!(analysis.metric(Metric::Messages).unwrap().null, None);
    assert_eq!(json(&run, &plan), json(&run, &plan));
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
    let mut plan = AnalysisPlan::default();
    plan.null = Some(Null::Shuffle);
    let analysis = Analysis::of(&run.0, &plan);
    let inputs = analysis
        .metric(Metric::InputSimilarity)
        .unwrap()
        .null
        .unwrap();
    assert!(
        inputs.observed > inputs.high && inputs.p < 0.01,
        "{inputs:?}"
    );
    // What was written is the same, so nothing else can tell.
    let similarity = analysis
        .metric(Metric::TfidfSimilarity)
        .unwrap()
        .null
        .unwrap();
    assert!(
        (similarity.low - similarity.observed).abs() < 1e-12,
        "{similarity:?}"
    );
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

#[test]
fn l21_the_result_is_the_same_on_any_number_of_threads_and_tells_each_null_run() {
    let run = simulate(&Simulation {
        minds: 4,
        samples: 3,
        active: 12,
        snapshot: false,
        rounds: 6,
        seeds: ["one two", "three four", "five"]
            .map(str::to_owned)
            .to_vec(),
        mu: 0.2,
        seed: 7,
    });
    let null = Some(Null::Permutation);
    for (null, own_nulls, models) in [(None, true, 3), (null, true, 1), (None, false, 0)] {
        let analyzed = |threads| {
            let plan = AnalysisPlan::default();
            let plan = with(plan, |plan| {
                (plan.null, plan.own_nulls, plan.threads) = (null, own_nulls, threads);
            });
            let mut told = Vec::new();
            let analysis = Analysis::watched(&run, &plan, &mut |now| {
                assert_eq!(now.total, models * plan.null_runs);
                told.push(now.done);
            });
            assert_eq!(told, (1..=models * plan.null_runs).collect::<Vec<_>>());
            serde_json::to_string(&analysis).unwrap()
        };
        let alone = analyzed(1);
        assert_eq!(alone.contains("\"median\""), models > 0);
        assert_eq!(analyzed(2), alone);
        assert_eq!(analyzed(8), alone);
    }
}

fn with(mut plan: AnalysisPlan, set: impl FnOnce(&mut AnalysisPlan)) -> AnalysisPlan {
    set(&mut plan);
    plan
}
