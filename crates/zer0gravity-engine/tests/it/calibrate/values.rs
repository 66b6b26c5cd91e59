//! Numbers that scikit-learn, krippendorff and scipy have computed.

use serde::Deserialize;
use zer0gravity_engine::calibration::{Calibration, PointsAgreement, corrected_mean, pairs};
use zer0gravity_engine::result::Metrics;

use super::label;
use crate::report::sample::{item, judged};

/// `fixtures/zer0gravity/agreement.json`, which `make_agreement.py` made.
#[derive(Deserialize)]
struct Computed {
    columns: Vec<Column>,
    corrected: Vec<Corrected>,
    welch: Vec<Welch>,
}

#[derive(Deserialize)]
struct Column {
    judge: Vec<f64>,
    people: Vec<f64>,
    kappa: Option<f64>,
    alpha: Option<f64>,
}

#[derive(Deserialize)]
struct Corrected {
    labelled: Vec<(f64, f64)>,
    others: Vec<f64>,
    mean: f64,
    low: f64,
    high: f64,
}

/// The differences judge - people of two groups of texts.
#[derive(Deserialize)]
struct Welch {
    high: Vec<i8>,
    low: Vec<i8>,
    p: f64,
    from: f64,
    to: f64,
}

fn computed() -> Computed {
    let path = test_support::fixture("zer0gravity/agreement.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn is_near(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
        (found, expected) => found == expected,
    }
}

#[test]
fn n9_kappa_and_alpha_are_those_of_other_programs() {
    let columns = computed().columns;
    assert!(columns.len() >= 9);
    for Column {
        judge,
        people,
        kappa,
        alpha,
    } in columns
    {
        let both = judge.iter().zip(people);
        let both: Vec<_> = both.map(|(judge, people)| vec![*judge, people]).collect();
        let found = PointsAgreement::of(&both);
        assert!(is_near(found.kappa, kappa), "{found:?} {kappa:?}");
        assert!(is_near(found.alpha, alpha), "{found:?} {alpha:?}");
        assert_eq!(found.n, judge.len());
    }
}

#[test]
fn n9_corrected_means_are_those_of_the_formula() {
    for Corrected {
        labelled,
        others,
        mean,
        low,
        high,
    } in computed().corrected
    {
        let found = corrected_mean(&labelled, &others).unwrap();
        for (found, expected) in [
            (found.mean, mean),
            (found.ci95.low, low),
            (found.ci95.high, high),
        ] {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
        assert_eq!(found.texts, labelled.len() + others.len());
    }
}

#[test]
fn n9_the_interval_and_the_p_value_of_a_bias_are_those_of_scipy() {
    for Welch {
        high,
        low,
        p,
        from,
        to,
    } in computed().welch
    {
        // Critical findings are the only property by which the texts differ.
        let differences = low.iter().map(|d| (false, *d));
        let differences = differences.chain(high.iter().map(|d| (true, *d)));
        let results = differences
            .enumerate()
            .map(|(text, (is_lost, difference))| {
                let words = format!("Do not open valve {} before noon.", text + 10);
                let decoded = words.replace(if is_lost { " not" } else { "." }, "");
                let mut item = item("a", &format!("t{text}"), &words);
                let mut metrics = Metrics::of(&words, &decoded);
                metrics.chrf_pp = 50.0;
                (item.metrics, item.decoded_text) = (Some(metrics), Some(decoded));
                judged(item, 20_u8.checked_add_signed(difference).unwrap(), 4)
            });
        let results: Vec<_> = results.collect();
        let labels = pairs(&results);
        let labels: Vec<_> = labels
            .iter()
            .map(|pair| label(pair, "ada", Some(20)))
            .collect();
        let calibration = Calibration::of(&results, None, &labels, b"", String::new()).unwrap();
        let [found] = &calibration.bias.by[..] else {
            panic!("{:?}", calibration.bias);
        };
        let ci95 = found.ci95.unwrap();
        assert!(is_near(Some(ci95.low), Some(from)), "{ci95:?} {from}");
        assert!(is_near(Some(ci95.high), Some(to)), "{ci95:?} {to}");
        assert!(is_near(found.p_holm, Some(p)), "{:?} {p}", found.p_holm);
    }
}

#[test]
fn too_few_values_give_no_number() {
    assert_eq!(PointsAgreement::of(&[]), PointsAgreement::default());
    assert_eq!(corrected_mean(&[], &[30.0]), None);
    assert_eq!(corrected_mean(&[(30.0, 20.0)], &[30.0, 31.0]), None);
    assert_eq!(corrected_mean(&[], &[]), None);
    // All texts are labelled: the mean is that of the people.
    let all = corrected_mean(&[(30.0, 20.0), (35.0, 24.0)], &[]).unwrap();
    assert_eq!((all.mean, all.labels, all.texts), (22.0, 2, 2));
    let one = PointsAgreement::of(&[vec![38.0, 38.0], vec![39.0, 37.0], vec![1.0]]);
    assert_eq!(
        (one.kappa, one.base_rate, one.expected),
        (None, Some(1.0), Some(1.0))
    );
}
