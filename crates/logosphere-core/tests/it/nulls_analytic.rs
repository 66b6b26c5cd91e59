//! Copiers do what theory says: simulated numbers lie within four standard errors, with fixed seeds.

use std::collections::BTreeMap;

use logosphere_core::config::Scheduling;
use logosphere_core::measures::nulls::closed_form::{
    mean_takeover_rounds, sequential_duplicate_rate, snapshot_duplicate_rate, takeover_probability,
};
use logosphere_core::pool::SampleRng;
use logosphere_core::{Settings, Transcript};

use crate::desk;
use crate::drift::{Drift, DriftRules, duplicate_rate};

fn rules(active: usize, mu: f64) -> DriftRules {
    DriftRules {
        samples: 3,
        active,
        mu,
    }
}

/// Mean and standard error of independent numbers.
fn estimate(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

fn assert_within(values: &[f64], expected: f64, largest_error: f64) {
    let (mean, error) = estimate(values);
    assert!(
        error < largest_error,
        "the estimate is too rough to say anything: {error}"
    );
    assert!(
        (mean - expected).abs() < 4.0 * error,
        "{mean} +- {error}, expected {expected}"
    );
}

/// The duplicate rate of the window in the long run, as means of 60 stretches that are long compared with its memory.
fn stationary(minds: u32, snapshot: bool, rules: DriftRules, stretch: u32, seed: u8) -> Vec<f64> {
    let seeds: Vec<_> = (0..rules.active as u32).collect();
    let mut drift = Drift::new(rules, &seeds, SampleRng::keyed([seed; 32]));
    let mut mean = || {
        // Neighbours say nearly the same.
        let looks = stretch * minds / rules.active as u32;
        let sum: f64 = (0..looks)
            .map(|_| {
                for _ in 0..stretch / looks {
                    drift.round(minds, snapshot);
                }
                duplicate_rate(drift.window()).unwrap()
            })
            .sum();
        sum / f64::from(looks)
    };
    // The first stretch forgets the seeds.
    mean();
    (0..60).map(|_| mean()).collect()
}

/// The rounds until all that can be read is of one kind, and that kind.
fn takeover(seeds: &[u32], seed: u64) -> (f64, u32) {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut drift = Drift::new(rules(seeds.len(), 0.0), seeds, SampleRng::keyed(key));
    let mut rounds = 0.0;
    while drift.window().iter().any(|kind| *kind != drift.window()[0]) {
        drift.round(seeds.len() as u32, true);
        rounds += 1.0;
    }
    (rounds, drift.window()[0])
}

#[test]
fn the_closed_forms_give_the_numbers_of_the_specification() {
    let numbers = [
        (snapshot_duplicate_rate(15, 0.05), 0.3816, 4),
        (snapshot_duplicate_rate(50, 0.02), 0.3266, 4),
        (sequential_duplicate_rate(15, 0.05), 0.5588, 4),
        (sequential_duplicate_rate(50, 0.02), 0.4949, 4),
        (mean_takeover_rounds(5), 7.712, 3),
        (mean_takeover_rounds(15), 27.365, 3),
        // Two lines of descent meet with probability 1/2 in each round.
        (mean_takeover_rounds(2), 2.0, 12),
        (mean_takeover_rounds(1), 0.0, 12),
    ];
    for (found, expected, digits) in numbers {
        let half_a_digit = 0.5 * 10_f64.powi(-digits);
        assert!(
            (found - expected).abs() <= half_a_digit,
            "{found} {expected}"
        );
    }
}

#[test]
fn the_mean_takeover_follows_from_stirling_numbers() {
    // As the specification writes it, in whole numbers as far as they go.
    for m in 2..=12_u64 {
        let size = m as usize;
        let mut stirling = vec![vec![0_u64; size + 1]; size + 1];
        stirling[0][0] = 1;
        for i in 1..=size {
            for j in 1..=i {
                stirling[i][j] = j as u64 * stirling[i - 1][j] + stirling[i - 1][j - 1];
            }
        }
        let falling = |j: usize| (0..j as u64).map(|i| (m - i) as f64).product::<f64>();
        let mut mean = vec![0.0; size + 1];
        for i in 2..=size {
            let share = |j: usize| stirling[i][j] as f64 * falling(j) / (m as f64).powi(i as i32);
            let rest: f64 = (1..i).map(|j| share(j) * mean[j]).sum();
            mean[i] = (1.0 + rest) / (1.0 - share(i));
        }
        let known = mean_takeover_rounds(m as u32);
        assert!(
            (known - mean[size]).abs() < 1e-9,
            "{m}: {known} {}",
            mean[size]
        );
    }
}

#[test]
fn pairs_of_a_snapshot_round() {
    let expected = snapshot_duplicate_rate(15, 0.05);
    assert_within(
        &stationary(15, true, rules(15, 0.05), 250, 1),
        expected,
        0.01,
    );
    let expected = snapshot_duplicate_rate(50, 0.02);
    assert_within(
        &stationary(50, true, rules(50, 0.02), 120, 2),
        expected,
        0.015,
    );
}

#[test]
fn pairs_of_a_sequential_round() {
    let expected = sequential_duplicate_rate(15, 0.05);
    for minds in [1, 15] {
        let found = stationary(minds, false, rules(15, 0.05), 2400 / minds, 3);
        assert_within(&found, expected, 0.015);
    }
    let expected = sequential_duplicate_rate(50, 0.02);
    let found = stationary(10, false, rules(50, 0.02), 450, 4);
    assert_within(&found, expected, 0.025);
}

#[test]
fn rounds_until_one_kind_is_left() {
    for (m, runs, error) in [(5, 2000, 0.12), (15, 500, 0.8)] {
        let seeds: Vec<u32> = (0..m).collect();
        let rounds: Vec<_> = (0..runs).map(|seed| takeover(&seeds, seed).0).collect();
        assert_within(&rounds, mean_takeover_rounds(m), error);
    }
}

#[test]
fn a_kind_takes_over_as_often_as_it_is_there() {
    for copies in [1, 3, 7] {
        let seeds: Vec<u32> = (0..10).map(|place| u32::from(place >= copies)).collect();
        let won: Vec<_> = (0..1500)
            .map(|seed| f64::from(u8::from(takeover(&seeds, seed).1 == 0)))
            .collect();
        assert_within(&won, takeover_probability(copies, 10), 0.014);
    }
}

/// The pair identity at the end of each round of a real run of copiers, texts as kinds.
fn run_of_copiers(settings: &Settings) -> Vec<f64> {
    let (_, journal) = desk::run(settings, desk::mind(settings));
    let run = Transcript::read(&journal[..]).unwrap();
    let mut known = BTreeMap::new();
    let kinds: Vec<_> = (run.messages.iter())
        .map(|message| {
            let next = known.len() as u32;
            *known.entry(message.text.as_str()).or_insert(next)
        })
        .collect();
    let window = |end: usize| duplicate_rate(&kinds[end.saturating_sub(15)..end]).unwrap();
    (run.rounds.iter())
        .map(|round| window(round.pool_size))
        .collect()
}

#[test]
fn copiers_in_a_real_run_do_the_same() {
    let cases = [
        (
            Scheduling::Sequential,
            3,
            sequential_duplicate_rate(15, 0.05),
        ),
        (Scheduling::Snapshot, 15, snapshot_duplicate_rate(15, 0.05)),
    ];
    for (scheduling, n_minds, expected) in cases {
        let settings = desk::settings(scheduling).with(|settings| {
            settings.mind = Some("copier:mu=0.05".to_owned());
            settings.n_minds = n_minds;
            settings.m_active_pool = 15;
            settings.max_rounds = 5250 / n_minds;
        });
        let rounds = run_of_copiers(&settings);
        // The first part forgets the seeds; each of the others is longer than the pool's memory.
        let stretch = rounds.len() / 21;
        let means: Vec<_> = (rounds.chunks_exact(stretch).skip(1))
            .map(|part| part.iter().sum::<f64>() / stretch as f64)
            .collect();
        assert_within(&means, expected, 0.035);
    }
}
