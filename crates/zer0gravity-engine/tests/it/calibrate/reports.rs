//! Calibrations of a run, and reports that they correct.

use std::sync::Arc;

use serde_json::{Value, json};
use zer0gravity_engine::ExperimentResult;
use zer0gravity_engine::calibration::{
    Calibration, CalibrationError, JudgeIdentity, Label, TextPair, draw, pairs,
};
use zer0gravity_engine::model::ModelLabel;
use zer0gravity_engine::plan::Config;
use zer0gravity_engine::prompts::PromptProfile;
use zer0gravity_engine::report::{RunReport, page};
use zer0gravity_engine::result::{Metrics, Models};

use super::label;
use crate::report::sample::{MODEL, item, judged, panel, read, report};

/// Results of `count` texts with two encoding systems. The judge gives the long texts 8 points more than people do.
fn results(count: usize) -> Vec<ExperimentResult> {
    let mut results = Vec::new();
    for encoding in ["a", "b"] {
        for text in 0..count {
            let id = format!("t{text}");
            let words = format!("text {text} {}", "word ".repeat(1 + text % 30));
            let mut item = item(encoding, &id, &words);
            item.decoded_text = Some(format!("{encoding} {words}"));
            results.push(judged(
                item,
                20 + (text % 7) as u8 + 8 * u8::from(text % 30 >= 20),
                4,
            ));
        }
    }
    results
}

/// Labels of the first `count` pairs of the random order, as many texts up to 60: the points of the judge without its bias.
fn labels(results: &[ExperimentResult], count: usize) -> Vec<Label> {
    let pairs = pairs(results);
    let first = draw(&pairs, 0).into_iter().take(count);
    let of_pair = |place: usize| {
        let text = place % (pairs.len() / 2);
        label(&pairs[place], "ada", Some(20 + (text % 7) as u8))
    };
    first.map(of_pair).collect()
}

fn calibration(
    results: &[ExperimentResult],
    labels: &[Label],
) -> Result<Calibration, CalibrationError> {
    Calibration::of(
        results,
        None,
        labels,
        b"file",
        "2026-02-03T04:05:06.000Z".into(),
    )
}

#[test]
fn a_judge_that_prefers_long_texts_is_seen() {
    let results = results(60);
    let calibration = calibration(&results, &labels(&results, 120)).unwrap();
    let length = &calibration.bias.by[0];
    assert_eq!(
        (length.property.as_str(), length.difference),
        ("length", 8.0)
    );
    assert_eq!(
        (
            calibration.n,
            calibration.pairs,
            calibration.raters_agreement.n
        ),
        (120, 120, 0)
    );
    assert!((calibration.bias.difference.mean.unwrap() - 8.0 / 3.0).abs() < 1e-5);
    assert!(
        calibration
            .warnings
            .iter()
            .any(|one| one.contains("one rater"))
    );
    assert_eq!(calibration.rectifier.unwrap().n, 60);
}

#[test]
fn few_labels_correct_no_mean() {
    let results = results(60);
    let calibration = calibration(&results, &labels(&results, 19)).unwrap();
    assert_eq!(calibration.rectifier.unwrap().n, 19);
    assert!(calibration.agreement.alpha.is_some());
    let mut report = report(results);
    report.calibrate(calibration);
    assert!(
        report
            .statistics
            .per_encoding
            .iter()
            .all(|one| one.semantic_corrected.is_none())
    );
}

#[test]
fn a_pair_that_two_systems_share_counts_no_more_than_others() {
    const TEXTS: usize = 100;
    let people = |text: usize| 10 + (text * 7 % 11) as u8;
    // The judge is right about texts that both systems restore in the same words, and 9 points too kind to the others.
    let of_system = |encoding: &str| {
        let result = |text: usize| {
            let id = format!("t{text}");
            let mut item = item(encoding, &id, &format!("text {text}"));
            let (system, bias) = if text < TEXTS / 2 {
                ("", 0)
            } else {
                (encoding, 9)
            };
            item.decoded_text = Some(format!("{system} {text}"));
            judged(item, people(text) + bias, 4)
        };
        (0..TEXTS).map(result).collect::<Vec<_>>()
    };
    let results = [of_system("a"), of_system("b")].concat();
    let all = pairs(&results);
    let report = report(results.clone());
    let truth = (0..TEXTS).map(|text| f64::from(people(text))).sum::<f64>() / TEXTS as f64;
    let (mut errors, mut covered) = (Vec::new(), 0);
    for seed in 0..100 {
        let of_pair = |place: usize| {
            let text: usize = all[place].original["text ".len()..].parse().unwrap();
            let mut label = label(&all[place], "ada", Some(people(text)));
            label.seed = seed;
            label
        };
        let labels: Vec<_> = draw(&all, seed).into_iter().take(60).map(of_pair).collect();
        let mut report = report.clone();
        report.calibrate(calibration(&results, &labels).unwrap());
        let corrected = report.statistics.per_encoding[0].semantic_corrected;
        let corrected = corrected.unwrap();
        errors.push(corrected.mean - truth);
        covered += usize::from((corrected.ci95.low..=corrected.ci95.high).contains(&truth));
    }
    let error = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(error.abs() < 0.3, "{error}");
    assert!(covered >= 88, "{covered}");
}

#[test]
fn a_correction_changes_no_score_and_no_total() {
    let results = results(60);
    let plain = report(results.clone());
    let mut corrected = plain.clone();
    corrected.calibrate(calibration(&results, &labels(&results, 80)).unwrap());
    for encoding in &mut corrected.statistics.per_encoding {
        let mean = encoding.semantic_corrected.take().unwrap();
        assert!(
            (30..=50).contains(&mean.labels) && mean.texts == 60,
            "{mean:?}"
        );
        let truth = (0..60).map(|text| 20.0 + f64::from(text % 7)).sum::<f64>() / 60.0;
        assert!((mean.mean - truth).abs() < 1.0, "{mean:?} {truth}");
        assert!(encoding.semantic_preservation.mean.unwrap() > truth + 2.0);
    }
    assert!(corrected.calibration.take().is_some());
    assert_eq!(corrected, plain);
}

#[test]
fn another_run_of_the_same_texts_is_corrected_by_all_labels() {
    let old = results(60);
    let calibration = calibration(&old, &labels(&old, 40)).unwrap();
    let mut new = results(60);
    for result in &mut new {
        result.decoded_text = Some(format!("again {}", result.original_text));
    }
    let mut same = report(new.clone());
    same.calibrate(calibration.clone());
    let mean = same.statistics.per_encoding[0].semantic_corrected.unwrap();
    assert_eq!((mean.labels, mean.texts), (40, 60));
    new.retain(|result| result.test_case_id != "t59");
    let mut other = report(new);
    other.calibrate(calibration);
    assert_eq!(other.statistics.per_encoding[0].semantic_corrected, None);
}

#[test]
fn verbatim_decodes_that_two_runs_share_are_no_labels_of_the_second_one() {
    let old = results(60);
    let calibration = calibration(&old, &labels(&old, 60)).unwrap();
    for shared in [5, 50] {
        let mut new = results(60);
        for (place, result) in new.iter_mut().enumerate() {
            if place % 60 >= shared {
                result.decoded_text = Some(format!("again {}", result.original_text));
            }
        }
        let mut report = report(new);
        report.calibrate(calibration.clone());
        for encoding in &report.statistics.per_encoding {
            let mean = encoding.semantic_corrected.unwrap();
            assert_eq!((mean.labels, mean.texts), (60, 60), "{shared}");
        }
    }
}

#[test]
fn labels_of_a_run_in_progress_are_no_random_sample_of_the_finished_one() {
    let all = results(60);
    let half: Vec<_> = all[..40].to_vec();
    let mut labels = labels(&half, 40);
    labels.retain(|label| label.score.is_some());
    assert_eq!(calibration(&half, &labels).unwrap().labelled.len(), 40);
    let whole = calibration(&all, &labels).unwrap();
    assert!(whole.pairs == 40 && whole.labelled.len() < 10, "{whole:?}");
}

#[test]
fn a_chosen_label_removes_no_random_one() {
    let results = results(60);
    let mut labels = labels(&results, 30);
    let before = calibration(&results, &labels).unwrap();
    let mut chosen = labels[4].clone();
    (chosen.rater, chosen.seed) = ("bo".into(), 9);
    labels.push(chosen);
    let after = calibration(&results, &labels).unwrap();
    assert_eq!((after.n, after.pairs), (31, 30));
    assert_eq!(after.labelled, before.labelled);
}

#[test]
fn a_part_of_a_report_keeps_its_corrected_means() {
    let results = results(60);
    let mut report = report(results.clone());
    report.calibrate(calibration(&results, &labels(&results, 80)).unwrap());
    let before = report.statistics.per_encoding[1].semantic_corrected;
    report.retain_encodings(|id| id == "b");
    let [only] = &report.statistics.per_encoding[..] else {
        panic!("one encoding system");
    };
    assert!(before.is_some() && only.semantic_corrected == before);
}

#[test]
fn texts_with_equal_values_are_in_the_third_of_their_middle_rank() {
    let mut results = results(60);
    for (place, result) in results.iter_mut().enumerate() {
        let decoded = result.decoded_text.clone().unwrap();
        let mut metrics = Metrics::of(&result.original_text, &decoded);
        metrics.chrf_pp = (place % 60 + 1).min(37) as f64;
        result.metrics = Some(metrics);
    }
    let bias = calibration(&results, &labels(&results, 120)).unwrap().bias;
    let chrf = bias.by.iter().find(|by| by.property == "chrF++").unwrap();
    let counts: Vec<_> = chrf.groups.iter().map(|group| group.n).collect();
    assert_eq!(counts, [20, 16, 24]);
}

#[test]
fn the_version_of_the_offline_judge_is_a_part_of_it() {
    let of_version = |version| {
        let mut results = results(2);
        for result in &mut results {
            result.details.lexical_judge_version = version;
        }
        JudgeIdentity::of_results(&results, None).unwrap().unwrap()
    };
    let (old, new) = (of_version(Some(1)), of_version(Some(2)));
    assert_eq!(old.differences(&new), ["parserVersion"]);
    let config = Config::new(ModelLabel::new("offline", "offline").offline(true), "m");
    let config = JudgeIdentity::of_config(&config);
    assert_eq!(config.parser_version, new.parser_version);
    assert_eq!(of_version(None).parser_version, 1);
}

#[test]
fn the_prompts_of_a_judge_are_those_of_its_hash() {
    let mut config = Config::new(ModelLabel::new("anthropic", "h"), MODEL);
    config.judge_profile = Some(PromptProfile::Bands);
    let rescored = JudgeIdentity::of_config(&config);
    let mut list = results(2);
    for result in &mut list {
        let hashes = Arc::make_mut(&mut result.metadata.prompt_sha256);
        hashes.semantic_judge = rescored.prompt_sha256.clone();
    }
    let judge = JudgeIdentity::of_results(&list, None).unwrap().unwrap();
    assert_eq!(judge.prompt_profile, PromptProfile::Bands);
    assert_eq!(judge.differences(&rescored), [""; 0]);
}

#[test]
fn given_scores_have_no_judge_and_are_never_corrected() {
    let judged = results(60);
    let labels = labels(&judged, 120);
    let mut given = judged.clone();
    for result in &mut given {
        result.details.semantic_judge = None;
    }
    assert_eq!(calibration(&given, &labels), Err(CalibrationError::NoJudge));
    assert_eq!(JudgeIdentity::of_results(&given, None), Ok(None));
    let mut report = report(given);
    report.calibrate(calibration(&judged, &labels).unwrap());
    assert!(
        report
            .statistics
            .per_encoding
            .iter()
            .all(|one| one.semantic_corrected.is_none())
    );
    assert_eq!(calibration(&judged, &[]), Err(CalibrationError::NoLabels));
}

#[test]
fn labels_that_were_chosen_correct_no_mean() {
    let results = results(60);
    let labels = labels(&results, 120).split_off(1);
    let calibration = calibration(&results, &labels).unwrap();
    assert_eq!((calibration.n, calibration.rectifier), (119, None));
    assert!(calibration.labelled.is_empty());
    let told = "119 of 119 labelled pairs are not the first ones of a random order";
    let warnings = calibration.warnings.join("\n");
    assert!(warnings.contains(told), "{warnings}");
}

#[test]
fn the_spread_of_a_judge_is_that_of_its_samples() {
    let results = [panel(item("a", "1", "x"), &[("m", &[30, 34])], 32, 4)];
    let labels = [label(&pairs(&results)[0], "ada", Some(30))];
    let calibration = calibration(&results, &labels).unwrap();
    assert!((calibration.judge_spread.unwrap() - 8.0_f64.sqrt()).abs() < 1e-5);
    assert_eq!(calibration.judge.samples, 2);
}

#[test]
fn n10_every_part_of_a_judge_changes_its_id() {
    let config = |host: &str| Config::new(ModelLabel::new("anthropic", host), "m");
    let judge = JudgeIdentity::of_config(&config("h"));
    let mut models = config("h");
    models.models = Models::new("m").judges(vec!["n".into()]);
    let mut profile = config("h");
    profile.prompt_profile = PromptProfile::Bands;
    let mut samples = config("h");
    samples.judge_samples = 2;
    for (config, keys) in [
        (models, &["models"][..]),
        (config("g"), &["host"]),
        (samples, &["samples"]),
        (profile, &["promptProfile", "promptSha256"]),
    ] {
        let other = JudgeIdentity::of_config(&config);
        let mut found = judge.differences(&other);
        found.sort();
        assert_eq!(found, keys);
        assert_ne!(judge.id(), other.id());
    }
    let with = |key: &str, value: Value| -> JudgeIdentity {
        let mut json = serde_json::to_value(&judge).unwrap();
        json[key] = value;
        read(json)
    };
    for (key, value) in [("temperature", json!(0.1)), ("parserVersion", json!(2))] {
        let other = with(key, value);
        assert_eq!(judge.differences(&other), [key]);
        assert_ne!(judge.id(), other.id());
    }
    // The order of a panel decides nothing.
    let panel = |models: [&str; 2]| {
        let mut config = config("h");
        config.models = Models::new("m").judges(models.map(str::to_owned).to_vec());
        JudgeIdentity::of_config(&config).id()
    };
    assert_eq!(panel(["a", "b"]), panel(["b", "a"]));
}

#[test]
fn results_of_two_judges_are_refused_by_the_names_of_the_keys() {
    let mut results = results(2);
    results[1].metadata.provider = "another".into();
    let error = JudgeIdentity::of_results(&results, None).unwrap_err();
    let keys = vec!["provider".to_owned()];
    assert_eq!(error, CalibrationError::SeveralJudges { keys });
}

#[test]
fn a_calibration_comes_back_and_an_edited_one_is_refused() {
    let results = results(60);
    let calibration = calibration(&results, &labels(&results, 30)).unwrap();
    let json = serde_json::to_string(&calibration).unwrap();
    assert_eq!(Calibration::read(&json).unwrap(), calibration);
    let edited = json.replacen("\"scribe-1\"", "\"scribe-2\"", 1);
    let kind = json.replacen("zer0gravity.calibration", "zer0gravity.report", 1);
    let version = json.replacen("\"schema_version\":1", "\"schema_version\":2", 1);
    for (text, told) in [
        (edited.as_str(), "the file was edited"),
        (&kind, "expected kind zer0gravity.calibration"),
        (&version, "schema_version 1"),
        ("[]", "expected kind"),
        ("{", "line 1 column 1"),
    ] {
        let error = Calibration::read(text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_judge_that_misses_critical_findings_is_seen() {
    let results: Vec<_> = (0..60)
        .map(|text| {
            let words = format!("Do not open valve {text} before noon.");
            let mut item = item("a", &format!("t{text}"), &words);
            let is_lost = text % 2 == 0;
            let decoded = if is_lost {
                words.replace(" not", "")
            } else {
                words.clone()
            };
            item.metrics = Some(Metrics::of(&words, &decoded));
            item.decoded_text = Some(decoded);
            judged(item, 36, 4)
        })
        .collect();
    let people = |pair: &TextPair| {
        if pair.has_critical == Some(true) {
            20
        } else {
            34
        }
    };
    let labels: Vec<Label> = (pairs(&results).iter())
        .map(|pair| label(pair, "ada", Some(people(pair))))
        .collect();
    let bias = calibration(&results, &labels).unwrap().bias;
    let findings = bias.by.iter().find(|by| by.property == "critical findings");
    let findings = findings.unwrap();
    let counts: Vec<_> = findings.groups.iter().map(|group| group.n).collect();
    assert_eq!((findings.difference, counts), (14.0, vec![30, 30]));
}

#[test]
fn the_page_and_the_file_have_the_corrected_means() {
    let results = results(60);
    let mut report = report(results.clone());
    let calibration = calibration(&results, &labels(&results, 80)).unwrap();
    report.calibrate(calibration.clone());
    let json = serde_json::to_string(&report).unwrap();
    let again = RunReport::read(&json).unwrap();
    assert_eq!(again.statistics, report.statistics);
    let html = page(&report).render().unwrap();
    assert!(html.contains("Judge and people"), "a section");
    assert!(html.contains("People checked its points for a random sample"));
    // Another run of this judge.
    let mut again = results;
    for result in &mut again {
        result.decoded_text = Some(format!("again {}", result.original_text));
    }
    report = self::report(again);
    report.calibrate(calibration);
    let html = page(&report).render().unwrap();
    assert!(html.contains("but for no random sample of these pairs"));
}
