//! The results of laws and the two recalls.

use popper_discovery::lab::{LabScore, LabTier, law_config};
use popper_harness::conserved::span;
use serde_json::{Value, json};

use super::brute::BruteUniverse;
use super::{Recorded, commutes, invariant};

/// The score of an episode that states laws.
fn stated(tier: LabTier, seed: u64, laws: &[Value]) -> LabScore {
    let mut recorded = Recorded::new(tier, seed);
    recorded.accepted(&json!({"laws": laws}));
    recorded.episode.score()
}

/// The first seed of a tier with at least `count` conserved sums, apart from the number of cells.
fn conserving(tier: LabTier, count: u64) -> u64 {
    let of = |seed: &u64| Recorded::new(tier, *seed).episode.score().laws.additive.of >= count;
    (0..60).find(of).unwrap()
}

#[test]
fn each_law_counts_once_under_one_result() {
    let seed = conserving(LabTier::A, 1);
    let universe = Recorded::new(LabTier::A, seed).sealed.universe().clone();
    let basis = span(&universe, 2).unwrap().basis;
    let conserved = basis.last().unwrap().expr.clone();
    let missing = json!({
        "law_id": "unknown", "template": "bound", "quantifiers": {"T": 9},
        "observables": [{"name": "f", "expr": "heat"}], "bound_op": "<=", "bound_value": 3,
        "claim": "f(t) <= 3", "forbidden": "too much heat",
    });
    let laws = [
        invariant("true", &conserved, 30),
        invariant("again", &conserved, 31),
        invariant("false", "leftmost('a')", 30),
        invariant("cells", "grid_length", 30),
        commutes("shift_k"),
        missing,
    ];
    let score = stated(LabTier::A, seed, &laws).laws;
    let results: Vec<(&str, &str)> = (score.results.iter())
        .map(|one| (one.law_id.as_str(), one.result.as_str()))
        .collect();
    let expected = [
        ("true", "proved"),
        ("again", "repeated"),
        ("false", "false"),
        ("cells", "tautology"),
        ("shift_k", "tautology"),
        ("unknown", "undecided"),
    ];
    assert_eq!(results, expected);
    assert_eq!(
        score.results[5].reason.as_deref(),
        Some("missing_observable")
    );
    assert_eq!(
        [
            score.stated,
            score.proved,
            score.exhaustive,
            score.sampled,
            score.false_laws
        ],
        [6, 1, 0, 0, 1]
    );
    assert_eq!(
        [score.tautologies, score.undecided, score.repeated],
        [2, 1, 1]
    );
    assert_eq!(score.additive.found, 1);
    assert_eq!(score.harness_config_hash, law_config().hash());
}

#[test]
fn recall_of_sums_is_the_rank_apart_from_the_number_of_cells() {
    for tier in [LabTier::A, LabTier::B] {
        let seed = conserving(tier, 2);
        let universe = Recorded::new(tier, seed).sealed.universe().clone();
        let basis = span(&universe, 2).unwrap().basis;
        let (first, second) = (&basis[1].expr, &basis[2].expr);
        let found = |exprs: &[String]| {
            let laws = exprs.iter().enumerate();
            let laws: Vec<Value> = laws
                .map(|(index, expr)| invariant(&format!("law {index}"), expr, 5))
                .collect();
            stated(tier, seed, &laws).laws.additive.found
        };
        let cells = "grid_length".to_owned();
        let sum = format!("({first}) + 3 * ({second}) - 2 * grid_length");
        let double = format!("2 * ({first}) + grid_length + 7");
        assert_eq!(found(&[]), 0);
        assert_eq!(found(&[cells, first.clone(), double]), 1);
        assert_eq!(found(&[first.clone(), second.clone(), sum.clone()]), 2);
        assert_eq!(found(&[sum, second.clone()]), 2);
        assert_eq!(found(&["leftmost('a')".into(), "count('a') % 2".into()]), 0);
        let all: Vec<String> = basis.iter().map(|one| one.expr.clone()).collect();
        assert_eq!(found(&all), basis.len() as u64 - 1);
    }
}

#[test]
fn the_recalls_know_what_brute_force_finds() {
    let (mut sums, mut symmetries) = (0, 0);
    for (tier, longest) in [(LabTier::A, 5), (LabTier::B, 7)] {
        for seed in 0..12 {
            let recorded = Recorded::new(tier, seed);
            let brute = BruteUniverse::new(&recorded.sealed.to_json());
            let commuting = brute.commuting();
            let mut laws: Vec<Value> = commuting
                .iter()
                .take(19)
                .map(|name| commutes(name))
                .collect();
            // One that does not commute, if there is one.
            let other = recorded.episode.contract().transforms.iter();
            let other = other
                .map(|one| &one.name)
                .find(|name| !commuting.contains(*name));
            laws.extend(other.map(|name| commutes(name)));
            let mut episode = recorded;
            episode.accepted(&json!({"laws": laws}));
            let score = episode.episode.score().laws;
            assert_eq!(
                score.additive.of,
                brute.conserved(longest),
                "{tier:?} {seed}"
            );
            assert_eq!(
                score.transforms.of,
                commuting.len() as u64,
                "{tier:?} {seed}"
            );
            assert_eq!(score.transforms.found, commuting.len().min(19) as u64);
            assert_eq!(
                score.false_laws,
                u64::from(other_is_stated(&laws, &commuting))
            );
            sums += u64::from(score.additive.of > 0);
            symmetries += u64::from(score.transforms.of > 0);
        }
    }
    assert!(sums > 4 && symmetries > 4, "{sums} {symmetries}");
}

fn other_is_stated(laws: &[Value], commuting: &std::collections::BTreeSet<String>) -> bool {
    laws.len() > commuting.len().min(19)
}
