//! Neutral runs are called significant about as often as the level says.
#![expect(
    clippy::disallowed_macros,
    reason = "the numbers that were measured are shown"
)]

use std::collections::BTreeMap;

use logosphere_core::Transcript;
use logosphere_core::config::Scheduling;
use logosphere_core::measures::nulls::{Family, NullComparison, NullPlan, NullTest, compare};

use crate::population;

/// A neutral population: mind, N, M, rounds, scheduling and whether the seeds are the built-in ones.
#[derive(Clone, Copy)]
pub struct Neutral {
    mind: &'static str,
    is_big: bool,
    scheduling: Scheduling,
}

const SMALL: fn(&'static str) -> Neutral = |mind| Neutral {
    mind,
    is_big: false,
    scheduling: Scheduling::Sequential,
};

const BIG: fn(Scheduling) -> Neutral = |scheduling| Neutral {
    mind: "mutator:p=0.1",
    is_big: true,
    scheduling,
};

fn settings() -> [Neutral; 7] {
    [
        SMALL("copier:mu=0"),
        SMALL("copier:mu=0.05"),
        SMALL("mutator:p=0.02"),
        SMALL("mutator:p=0.1"),
        SMALL("mutator:p=0.3"),
        BIG(Scheduling::Sequential),
        BIG(Scheduling::Snapshot),
    ]
}

impl Neutral {
    /// Three minds with a window of 15 in 30 rounds and the built-in seeds, or eight with a window of 30 in 60 rounds and
    /// 40 seeds.
    fn run(self, seed: u64) -> Transcript {
        let (minds, active, rounds) = if self.is_big {
            (8, 30, 60)
        } else {
            (3, 15, 30)
        };
        let settings = population::settings(self.mind, minds, active, rounds, seed);
        let settings = settings.with(|settings| settings.scheduling = self.scheduling);
        let seeds = if self.is_big {
            population::sentences(40, 0)
        } else {
            population::built_in()
        };
        population::run(&settings, &seeds)
    }

    fn name(self) -> String {
        let size = if self.is_big { "big" } else { "small" };
        format!("{size} {} {:?}", self.mind, self.scheduling)
    }
}

/// The comparison of a run with null runs on all processors.
pub fn compared(run: &Transcript, runs: u32) -> NullComparison {
    let plan = NullPlan {
        runs,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..NullPlan::default()
    };
    compare(run, &plan, &mut |_| std::ops::ControlFlow::Continue(())).unwrap()
}

/// The p of each test, by its name, in `number` runs of a population.
fn p_values(neutral: Neutral, number: u64, null_runs: u32) -> BTreeMap<&'static str, Vec<f64>> {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for seed in 0..number {
        let found = compared(&neutral.run(seed), null_runs);
        for test in &found.tests {
            if let Some(p) = test.p {
                all.entry(test.name).or_default().push(p);
            }
        }
    }
    all
}

/// The share of runs with p of at most 0.05.
fn level(p: &[f64]) -> f64 {
    p.iter().filter(|p| **p <= 0.05).count() as f64 / p.len() as f64
}

/// The p of the test of Kolmogorov and Smirnov against a uniform distribution on k / 200.
fn uniformity(p: &[f64]) -> f64 {
    let mut sorted = p.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    // A p of k / 200 means that k / 200 of all are at most as large.
    let distance = |(at, p): (usize, &f64)| {
        let (below, above) = (at as f64 / n, (at + 1) as f64 / n);
        (above - p).max(p - 1.0 / 200.0 - below)
    };
    let largest = sorted.iter().enumerate().map(distance).fold(0.0, f64::max);
    let lambda = (n.sqrt() + 0.12 + 0.11 / n.sqrt()) * largest;
    let terms = (1..100).map(|k| {
        let k = f64::from(k);
        let sign = if k as u32 % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * k * k * lambda * lambda).exp()
    });
    if lambda < 0.2 {
        1.0
    } else {
        terms.sum::<f64>().clamp(0.0, 1.0)
    }
}

/// The p of each test by setting.
type Measured = Vec<(String, BTreeMap<&'static str, Vec<f64>>)>;

/// Prints the level of each test, and returns the p values.
fn measured(neutral: &[Neutral], number: u64, null_runs: u32) -> Measured {
    let tests = || {
        std::iter::once(NullTest::CHOICE).chain(
            (Family::MEASURES.iter())
                .filter(|(_, family)| *family != Family::Band)
                .map(|(metric, _)| metric.name()),
        )
    };
    println!("share of {number} runs with p <= 0.05, {null_runs} null runs each");
    let mut all = Vec::new();
    for &neutral in neutral {
        let found = p_values(neutral, number, null_runs);
        let shares: Vec<String> = tests()
            .filter_map(|name| {
                Some(format!(
                    "{name} {:.1} ({})",
                    100.0 * level(found.get(name)?),
                    found[name].len()
                ))
            })
            .collect();
        println!(
            "{}: {}; KS of choice {:.3}",
            neutral.name(),
            shares.join(", "),
            uniformity(&found[NullTest::CHOICE])
        );
        all.push((neutral.name(), found));
    }
    all
}

fn of_all(found: &Measured) -> Vec<f64> {
    let choice = found.iter().flat_map(|(_, p)| &p[NullTest::CHOICE]);
    choice.copied().collect()
}

/// Run it by `cargo test --release -p orrery-logosphere-core --test it -- --ignored --nocapture null_level::n1`.
#[test]
#[ignore = "several minutes in release"]
fn n1_neutral_runs_are_significant_at_the_level() {
    let found = measured(&settings(), 200, 199);
    for (name, p) in &found {
        for (test, p) in p {
            // Some copiers come to one text too soon for a test.
            assert!(p.len() >= 160, "{name} {test} {}", p.len());
            let share = level(p);
            let range = if *test == NullTest::CHOICE {
                0.02..=0.08
            } else {
                0.0..=0.09
            };
            assert!(range.contains(&share), "{name} {test} {share}");
        }
        assert!(uniformity(&p[NullTest::CHOICE]) >= 0.01, "{name}");
    }
    let together = level(&of_all(&found));
    println!("choice over all settings: {:.2} %", 100.0 * together);
    assert!((0.035..=0.065).contains(&together), "{together}");
}

/// A twin of the test above with 40 runs a setting and a wide bound.
#[track_caller]
fn assert_seldom_significant(neutral: &[Neutral]) {
    let found = measured(neutral, 40, 199);
    for (name, p) in &found {
        for (test, p) in p {
            assert!(p.len() >= 30, "{name} {test} {}", p.len());
            assert!(level(p) <= 0.15, "{name} {test} {}", level(p));
        }
    }
}

#[test]
fn small_neutral_runs_are_seldom_significant() {
    assert_seldom_significant(&settings()[..5]);
}

#[test]
fn big_neutral_runs_are_seldom_significant() {
    assert_seldom_significant(&settings()[5..6]);
}

#[test]
fn big_neutral_snapshots_are_seldom_significant() {
    assert_seldom_significant(&settings()[6..]);
}
