//! Samples are those of the vectors, and all equally likely.

use logosphere_core::pool::{Origin, Pool, Retention, SampleRng};

use crate::desk::sample_rng;

use super::parse_vectors::{check, hold, vectors};

#[test]
fn every_vector_holds() {
    let sizes = hold(&vectors("sampler_vectors.json"));
    assert_eq!(sizes, [("u64".to_owned(), 4), ("draws".to_owned(), 12)]);
}

#[test]
fn a_changed_vector_is_noticed() {
    for (group, pointer) in [(0, "/u64/values/3"), (1, "/draws/3/offsets/0")] {
        let mut file = vectors("sampler_vectors.json");
        *file.pointer_mut(pointer).unwrap() = 17.into();
        assert_eq!(check::groups(&file).unwrap()[group].failures.len(), 1);
    }
}

/// Chi-square of counts that should all be equal.
fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let terms = counts
        .iter()
        .map(|count| (*count as f64 - expected).powi(2) / expected);
    terms.sum()
}

/// Asserts that a chi-square is neither too large nor, as of numbers that are not random, too small.
#[track_caller]
fn is_plausible(chi_square: f64, categories: usize) {
    let freedom = (categories - 1) as f64;
    // It has this mean and this standard deviation.
    let deviations = (chi_square - freedom) / (2.0 * freedom).sqrt();
    assert!(
        deviations.abs() < 4.0,
        "{chi_square} at {freedom}: {deviations} deviations"
    );
}

#[test]
fn ordered_pairs_are_equally_likely() {
    // Over many streams, and along each.
    const ACTIVE: u64 = 15;
    let pool = pool(ACTIVE as usize);
    let mut counts = vec![0_u64; (ACTIVE * ACTIVE) as usize];
    for call in 0..100_000_u64 {
        let (seed, round, mind) = (call / 10_000, call % 10_000 / 10, call % 10);
        let mut rng = sample_rng(seed, round as u32 + 1, mind as u32);
        for _ in 0..10 {
            let drawn = pool.sample(2, &mut rng);
            counts[(drawn[0].0 * ACTIVE + drawn[1].0) as usize] += 1;
        }
    }
    let (same, different): (Vec<_>, Vec<_>) =
        (0..counts.len()).partition(|place| place / ACTIVE as usize == place % ACTIVE as usize);
    assert!(same.iter().all(|place| counts[*place] == 0));
    let counts: Vec<_> = different.iter().map(|place| counts[*place]).collect();
    assert_eq!(counts.iter().sum::<u64>(), 1_000_000);
    is_plausible(chi_square(&counts), counts.len());
}

#[test]
fn whole_orders_are_equally_likely() {
    let pool = pool(4);
    let mut counts = std::collections::BTreeMap::new();
    for mind in 0..60_000 {
        let drawn = pool.sample(4, &mut sample_rng(11, 1, mind));
        *counts.entry(drawn).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 24);
    let counts: Vec<_> = counts.into_values().collect();
    is_plausible(chi_square(&counts), 24);
}

#[test]
fn every_place_of_a_long_sample_is_equally_likely() {
    // Most moved slots are met again, so the map of them matters.
    let pool = pool(20);
    let mut counts = vec![0_u64; 20 * 18];
    for mind in 0..50_000 {
        let drawn = pool.sample(18, &mut sample_rng(12, 1, mind));
        for (place, id) in drawn.iter().enumerate() {
            counts[place * 20 + id.index()] += 1;
        }
    }
    for counts in counts.chunks(20) {
        is_plausible(chi_square(counts), 20);
    }
}

#[test]
fn a_number_below_n_is_below_n_and_any() {
    let mut rng = SampleRng::keyed([3; 32]);
    assert!((0..100).all(|_| rng.below(1) == 0));
    let mut counts = [0; 7];
    for _ in 0..70_000 {
        counts[rng.below(7) as usize] += 1;
    }
    is_plausible(chi_square(&counts), 7);
    // Two thirds of all numbers: a remainder alone would meet the lower half twice as often.
    let n = u64::MAX / 3 * 2;
    let low = (0..10_000).filter(|_| rng.below(n) < n / 2).count();
    assert!((4_800..5_200).contains(&low), "{low}");
}

#[test]
fn calls_do_not_share_their_numbers() {
    let streams = [
        (1, 1, 0),
        (1, 1, 1),
        (1, 2, 0),
        (2, 1, 0),
        (1, 0, 1),
        (1, u32::MAX, 0),
        (1, 0, u32::MAX),
    ];
    let starts: std::collections::BTreeSet<_> = (streams.iter())
        .map(|(seed, round, mind)| sample_rng(*seed, *round, *mind).next_u64())
        .collect();
    assert_eq!(starts.len(), streams.len());
}

fn pool(messages: usize) -> Pool {
    let mut pool = Pool::new(messages, Retention::All);
    for _ in 0..messages {
        pool.add("m", Origin::Seed).unwrap();
    }
    pool
}
