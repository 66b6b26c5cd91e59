//! Simulated runs: the share of intervals that contain the truth, and of plans that reach their width.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use zer0gravity_engine::calibration::{corrected_mean, label_plan};
use zer0gravity_engine::metrics::stats::{Interval, mean_with_interval};

const TEXTS: usize = 400;
/// The numbers of labels and of texts.
const SAMPLES: [(usize, usize); 4] = [(25, TEXTS), (50, TEXTS), (100, TEXTS), (48, 50)];
/// The mean of the people over all texts that could be drawn.
const TRUTH: f64 = 20.0;

struct Draws(ChaCha20Rng);

impl Draws {
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        mean + deviation * radius * (std::f64::consts::TAU * self.share()).cos()
    }

    /// Texts with the points of a judge, who gives half of them 6 too many, and of people.
    fn texts(&mut self, count: usize) -> Vec<(f64, f64)> {
        let text = |_| {
            let people = self.normal(TRUTH, 7.0);
            let bias = if self.share() < 0.5 { 6.0 } else { 0.0 };
            (people + bias + self.normal(0.0, 3.0), people)
        };
        (0..count).map(text).collect()
    }
}

fn judge(texts: &[(f64, f64)]) -> Vec<f64> {
    texts.iter().map(|(judge, _)| *judge).collect()
}

fn contains(interval: Interval) -> bool {
    interval.low <= TRUTH && TRUTH <= interval.high
}

/// The shares of corrected and of plain intervals that contain the truth, and the mean width of the corrected ones.
fn covered(labels: usize, texts: usize, runs: usize) -> [f64; 3] {
    let mut draws = Draws(ChaCha20Rng::seed_from_u64(labels as u64));
    let (mut hits, mut width) = ([0, 0], 0.0);
    for _ in 0..runs {
        let texts = draws.texts(texts);
        let corrected = corrected_mean(&texts[..labels], &judge(&texts[labels..])).unwrap();
        let plain = mean_with_interval(&judge(&texts), (0.0, 40.0))
            .ci95
            .unwrap();
        hits[0] += usize::from(contains(corrected.ci95));
        hits[1] += usize::from(contains(plain));
        width += corrected.ci95.high - corrected.ci95.low;
    }
    [hits[0] as f64, hits[1] as f64, width].map(|sum| sum / runs as f64)
}

/// The share of plans from a pilot whose labels give the width.
fn reached(width: f64, runs: usize) -> f64 {
    let mut draws = Draws(ChaCha20Rng::seed_from_u64(7));
    let mut hits = 0;
    for _ in 0..runs {
        let pilot = &draws.texts(TEXTS)[..30];
        let texts = draws.texts(TEXTS);
        let plan = label_plan(&judge(&texts), pilot, width).unwrap();
        assert!(plan.is_reached, "{plan:?}");
        let labels = plan.labels;
        let corrected = corrected_mean(&texts[..labels], &judge(&texts[labels..])).unwrap();
        hits += usize::from(corrected.ci95.high - corrected.ci95.low <= 2.0 * width);
    }
    hits as f64 / runs as f64
}

#[test]
fn n9_corrected_intervals_contain_the_truth_and_plain_ones_do_not() {
    for (labels, texts) in SAMPLES {
        let [corrected, plain, _] = covered(labels, texts, 200);
        assert!((0.9..=0.99).contains(&corrected), "{labels}: {corrected}");
        assert!(texts < TEXTS || plain < 0.2, "{labels}: {plain}");
    }
}

#[test]
fn n10_a_plan_mostly_reaches_its_width() {
    let share = reached(2.0, 100);
    assert!(share >= 0.85, "{share}");
}

#[test]
#[ignore = "thousands of simulated runs"]
fn n9_a_thousand_corrected_intervals() {
    for (labels, texts) in SAMPLES {
        let [corrected, plain, width] = covered(labels, texts, 1_000);
        let told = format!("{labels} of {texts}: {corrected}, {width:.2} wide");
        assert!((0.93..=0.97).contains(&corrected), "{told}");
        assert!(texts < TEXTS || plain < 0.2, "{labels}: {plain}");
    }
}

#[test]
#[ignore = "a thousand simulated plans"]
fn n10_a_thousand_plans() {
    let share = reached(2.0, 1_000);
    assert!(share >= 0.9, "{share}");
}

#[test]
fn a_plan_says_which_width_no_number_of_labels_gives() {
    let points: Vec<f64> = (0..60).map(|text| f64::from(text % 30) + 10.0).collect();
    let plan = label_plan(&points, &[], 0.5).unwrap();
    assert!(!plan.is_reached);
    assert_eq!((plan.pilot_labels, plan.deviation), (0, 6.0));
    assert!(
        plan.reached > 0.5 && (20..=60).contains(&plan.labels),
        "{plan:?}"
    );
    let again = label_plan(&points, &[], plan.reached + 1e-6).unwrap();
    assert!(again.is_reached && again.labels <= plan.labels, "{again:?}");
    // Fewer texts than a correction needs.
    assert_eq!(label_plan(&points[..19], &[], 9.0), None);
    assert_eq!(label_plan(&[], &[], 5.0), None);
}
