//! The statistics against numbers that other programs have computed, and against simulated experiments.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde::Deserialize;
use zer0gravity_engine::metrics::stats::{
    EXACT_FLIPS_UP_TO, IntervalMethod, PairedResult, RANDOM_FLIPS, StatsError, UNBOUNDED, holm,
    krippendorff_alpha, mean_with_interval, paired_test, panel_score, pooled_variance_components,
    sample_median, variance_components,
};

/// `fixtures/zer0gravity/statistics.json`, which says how it was made.
#[derive(Deserialize)]
struct Fixture {
    intervals: Vec<Sample>,
    #[serde(rename = "signFlips")]
    sign_flips: Vec<Pairs>,
    holm: Vec<Family>,
    alpha: Vec<Panel>,
    components: Vec<Repeats>,
}

#[derive(Deserialize)]
struct Sample {
    values: Vec<f64>,
    mean: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pairs {
    a: Vec<f64>,
    b: Vec<f64>,
    mean_difference: f64,
    low: f64,
    high: f64,
    p: f64,
}

#[derive(Deserialize)]
struct Family {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

#[derive(Deserialize)]
struct Panel {
    name: String,
    units: Vec<Vec<Option<f64>>>,
    alpha: f64,
}

#[derive(Deserialize)]
struct Repeats {
    scores: Vec<Vec<Vec<f64>>>,
    encode: Option<f64>,
    decode: Option<f64>,
    judge: Option<f64>,
}

fn fixture() -> Fixture {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/zer0gravity/statistics.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

#[track_caller]
fn near(actual: f64, expected: f64) {
    let error = (actual - expected).abs();
    assert!(
        error <= 1e-9 * expected.abs().max(1.0),
        "{actual} is not {expected}"
    );
}

#[track_caller]
fn near_option(actual: Option<f64>, expected: Option<f64>) {
    match (actual, expected) {
        (Some(actual), Some(expected)) => near(actual, expected),
        other => assert_eq!(other.0, other.1),
    }
}

#[test]
fn components_of_small_tables() {
    for table in fixture().components {
        let found = variance_components(&table.scores).unwrap();
        near_option(found.encode, table.encode);
        near_option(found.decode, table.decode);
        near_option(found.judge, table.judge);
        assert_eq!(found.encodes, table.scores.len());
        // Twice the same text is the same spread.
        let twice = [table.scores.clone(), table.scores];
        let pooled = pooled_variance_components(&twice).unwrap();
        near_option(pooled.encode, table.encode);
        near_option(pooled.judge, table.judge);
    }
}

#[test]
fn unbalanced_tables_have_no_components() {
    let error = |scores: &[Vec<Vec<f64>>]| variance_components(scores).unwrap_err();
    assert_eq!(error(&[]), StatsError::Empty);
    assert_eq!(error(&[vec![]]), StatsError::Empty);
    assert_eq!(error(&[vec![vec![]]]), StatsError::Empty);
    let unbalanced = StatsError::Unbalanced {
        encode: 1,
        expected: 2,
        actual: 1,
    };
    let row = || vec![vec![1.0, 2.0], vec![3.0, 4.0]];
    assert_eq!(error(&[row(), vec![vec![1.0, 2.0]]]), unbalanced);
    assert_eq!(error(&[row(), vec![vec![1.0], vec![3.0, 4.0]]]), unbalanced);
    assert_eq!(
        error(&[row(), vec![vec![1.0, f64::NAN], vec![3.0, 4.0]]]),
        StatsError::NotFinite { encode: 1 }
    );
    assert_eq!(
        pooled_variance_components(&[vec![row()], vec![row(), row()]]).unwrap_err(),
        StatsError::OtherShape { text: 1 }
    );
    assert_eq!(
        pooled_variance_components(&[]).unwrap_err(),
        StatsError::Empty
    );
}

#[test]
fn a_level_without_repeats_is_null_in_json() {
    let components = variance_components(&[vec![vec![30.0, 30.0]]]).unwrap();
    let json = serde_json::to_value(components).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"encodes": 1, "decodes": 1, "samples": 2, "encode": null, "decode": null, "judge": 0})
    );
}

#[test]
fn t_intervals() {
    for case in fixture().intervals {
        let found = mean_with_interval(&case.values, UNBOUNDED);
        let interval = found.ci95.unwrap();
        assert_eq!(found.n, case.values.len());
        near_option(found.mean, Some(case.mean));
        near(interval.low, case.low);
        near(interval.high, case.high);
    }
    let none = mean_with_interval(&[], UNBOUNDED);
    assert_eq!((none.n, none.mean, none.ci95), (0, None, None));
    let one = mean_with_interval(&[f64::NAN, 5.0, f64::INFINITY], UNBOUNDED);
    assert_eq!((one.n, one.mean, one.ci95), (1, Some(5.0), None));
}

#[test]
fn sign_flips() {
    for case in fixture().sign_flips {
        let found = paired_test(&case.a, &case.b, RANDOM_FLIPS, &mut rng(7));
        let interval = found.ci95.unwrap();
        near_option(found.mean_difference, Some(case.mean_difference));
        near(interval.low, case.low);
        near(interval.high, case.high);
        let p = found.p.unwrap();
        if found.n <= EXACT_FLIPS_UP_TO {
            near(p, case.p);
        } else {
            // Random flips come as near as their number allows.
            let error = (case.p * (1.0 - case.p) / f64::from(RANDOM_FLIPS)).sqrt();
            assert!((p - case.p).abs() < 4.0 * error, "{p} is not {}", case.p);
        }
        let back = paired_test(&case.b, &case.a, RANDOM_FLIPS, &mut rng(7));
        near_option(back.p, Some(p));
        near_option(back.mean_difference, Some(-case.mean_difference));
    }
}

#[test]
fn sign_flips_of_little_and_of_much() {
    let test = |a: &[f64], b: &[f64]| paired_test(a, b, RANDOM_FLIPS, &mut rng(0));
    assert_eq!(test(&[], &[]), PairedResult::default());
    assert_eq!(test(&[1.0], &[]).n, 0);
    let one = test(&[3.0], &[1.0]);
    assert_eq!(
        (one.mean_difference, one.ci95, one.p),
        (Some(2.0), None, Some(1.0))
    );
    assert_eq!(test(&[3.0, f64::NAN], &[1.0, 1.0]), one);
    // Sixteen of the same sign: two of all flips are as far out.
    let sixteen: Vec<f64> = (1..=16).map(f64::from).collect();
    near_option(test(&sixteen, &[0.0; 16]).p, Some(2.0 / 65_536.0));
    // The same seed gives the same p, which is never 0.
    let many: Vec<f64> = (1..=70).map(f64::from).collect();
    let far = test(&many, &[0.0; 70]);
    assert_eq!(far, test(&many, &[0.0; 70]));
    near_option(far.p, Some(1.0 / 10_001.0));
    assert_eq!(test(&many, &many).p, Some(1.0));
}

#[test]
fn holm_adjusted() {
    for family in fixture().holm {
        let found = holm(&family.p);
        assert_eq!(found.len(), family.adjusted.len());
        for (found, expected) in found.into_iter().zip(family.adjusted) {
            near(found, expected);
        }
    }
    assert!(holm(&[]).is_empty());
}

#[test]
fn agreement_of_judges() {
    for panel in fixture().alpha {
        let units: Vec<Vec<f64>> = (panel.units.iter())
            .map(|unit| unit.iter().flatten().copied().collect())
            .collect();
        let alpha = krippendorff_alpha(&units).unwrap_or_else(|| panic!("{}", panel.name));
        near(alpha, panel.alpha);
    }
    assert_eq!(krippendorff_alpha(&[]), None);
    assert_eq!(krippendorff_alpha(&[vec![3.0, 3.0], vec![3.0, 3.0]]), None);
    assert_eq!(krippendorff_alpha(&[vec![3.0, f64::NAN], vec![]]), None);
}

#[test]
fn medians_over_samples_then_judges() {
    assert_eq!(sample_median(&[10.0, 40.0, 20.0, 21.0]), Some(21.0));
    assert_eq!(panel_score(&[vec![30.0, 31.0], vec![40.0]]), Some(36.0));
    // A judge with many samples weighs as much as one with few.
    assert_eq!(
        panel_score(&[vec![10.0; 9], vec![30.0], vec![32.0]]),
        Some(30.0)
    );
    assert_eq!(panel_score(&[vec![], vec![30.0]]), Some(30.0));
    assert_eq!(panel_score(&[vec![], vec![]]), None);
    assert!(panel_score(&[vec![30.0], vec![f64::NAN]]).unwrap().is_nan());
}

/// A draw from the normal distribution with mean 0 and variance 1.
fn normal(rng: &mut ChaCha20Rng) -> f64 {
    let mut unit = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let (radius, angle) = (unit(), unit());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[test]
#[ignore = "1,000 simulated experiments: cargo test -p orrery-zer0gravity-engine --test it -- stats:: --ignored"]
fn simulated_experiments_are_measured_right() {
    const EXPERIMENTS: u32 = 1_000;
    const TEXTS: usize = 12;
    let (truth, text, encode, decode, judge) = (70.0, 8.0, 4.0, 3.0, 2.0);
    let (mut covered, mut rejected) = (0, 0);
    let mut sums = [0.0; 3];
    let mut random = rng(2024);
    for _ in 0..EXPERIMENTS {
        let mut texts = Vec::new();
        let mut means = Vec::new();
        for _ in 0..TEXTS {
            let of_text = truth + text * normal(&mut random);
            let mut scores = vec![vec![vec![0.0; 3]; 4]; 5];
            for decodes in &mut scores {
                let of_encode = of_text + encode * normal(&mut random);
                for samples in decodes {
                    let of_decode = of_encode + decode * normal(&mut random);
                    samples.fill_with(|| of_decode + judge * normal(&mut random));
                }
            }
            let all: Vec<f64> = scores.iter().flatten().flatten().copied().collect();
            means.push(all.iter().sum::<f64>() / all.len() as f64);
            texts.push(scores);
        }
        let interval = mean_with_interval(&means, UNBOUNDED).ci95.unwrap();
        covered += u32::from((interval.low..=interval.high).contains(&truth));
        // Against a rival that is as good: the test must be wrong in 5 % of cases only.
        let rival: Vec<f64> = (means.iter().copied())
            .map(|mean| mean + 3.0 * normal(&mut random))
            .collect();
        rejected += u32::from(
            paired_test(&means, &rival, RANDOM_FLIPS, &mut random)
                .p
                .unwrap()
                <= 0.05,
        );
        let found = pooled_variance_components(&texts).unwrap();
        let levels = [found.encode, found.decode, found.judge];
        for (sum, level) in sums.iter_mut().zip(levels) {
            *sum += level.unwrap();
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(EXPERIMENTS);
    assert!((0.93..=0.97).contains(&share(covered)), "{covered}");
    assert!((0.03..=0.07).contains(&share(rejected)), "{rejected}");
    for (sum, deviation) in sums.into_iter().zip([encode, decode, judge]) {
        let (found, true_value) = (sum / f64::from(EXPERIMENTS), deviation * deviation);
        assert!(
            (found / true_value - 1.0).abs() < 0.1,
            "{found}, not {true_value}"
        );
    }
}

/// A number from 0 to 1.
fn uniform(random: &mut ChaCha20Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn z8_intervals_end_at_the_scale_and_equal_values_have_a_width() {
    let two = mean_with_interval(&[60.0, 86.0], (0.0, 100.0))
        .ci95
        .unwrap();
    assert_eq!(
        (two.low, two.high, two.method),
        (0.0, 100.0, IntervalMethod::T)
    );
    for (mean, low, high) in [
        (40.0, Some(40.0 * 0.025_f64.powf(0.25)), None),
        (0.0, None, Some(40.0 * (1.0 - 0.025_f64.powf(0.25)))),
    ] {
        let equal = mean_with_interval(&[mean; 4], (0.0, 40.0)).ci95.unwrap();
        assert_eq!(equal.method, IntervalMethod::Beta);
        near(equal.low, low.unwrap_or(0.0));
        near(equal.high, high.unwrap_or(40.0));
    }
    // Clopper and Pearson for 2 of 4: 0.067586, 0.932414.
    let half = mean_with_interval(&[20.0; 4], (0.0, 40.0)).ci95.unwrap();
    assert!((half.low / 40.0 - 0.067_586).abs() < 1e-6, "{half:?}");
    assert!((half.high / 40.0 - 0.932_414).abs() < 1e-6, "{half:?}");
    // Means of equal numbers may differ in their last bits.
    let nearly = mean_with_interval(&[38.0, 38.0 + 1e-14], (0.0, 40.0))
        .ci95
        .unwrap();
    assert_eq!(nearly.method, IntervalMethod::Beta);
}

#[test]
fn z8_intervals_cover_at_the_ceiling_as_they_do_elsewhere() {
    const RUNS: u32 = 2000;
    // One text in seven has 20 points, the others 40.
    let truth = (6.0 * 40.0 + 20.0) / 7.0;
    for (n, before) in [(4, 0.5), (8, 0.72), (16, 0.93)] {
        let mut random = rng(n);
        let (mut covered, mut by_t, mut usual) = (0, 0, 0);
        for _ in 0..RUNS {
            let values: Vec<f64> = (0..n)
                .map(|_| {
                    if uniform(&mut random) * 7.0 < 1.0 {
                        20.0
                    } else {
                        40.0
                    }
                })
                .collect();
            let holds = |scale, truth: f64, values: &[f64]| {
                let interval = mean_with_interval(values, scale).ci95.unwrap();
                u32::from((interval.low..=interval.high).contains(&truth))
            };
            covered += holds((0.0, 40.0), truth, &values);
            by_t += holds(UNBOUNDED, truth, &values);
            let values: Vec<f64> = (0..n).map(|_| 50.0 + 8.0 * normal(&mut random)).collect();
            usual += holds((0.0, 100.0), 50.0, &values);
        }
        let share = |count: u32| f64::from(count) / f64::from(RUNS);
        assert!(share(covered) >= 0.99, "{n}: {}", share(covered));
        assert!(share(by_t) <= before, "{n}: {}", share(by_t));
        assert!(
            (0.935..=0.965).contains(&share(usual)),
            "{n}: {}",
            share(usual)
        );
    }
}
