//! The first scorer against the second.

use popper_discovery::lab::{LabScore, LabTier};
use serde_json::{Value, json};

use super::brute::{self, BruteScore, BruteUniverse};
use super::{Numbers, Recorded};

fn same_numbers(score: &LabScore) -> BruteScore {
    BruteScore {
        times: (score.predictions.iter())
            .map(|at| [at.t, at.cells, at.right, at.abstained, at.chance])
            .collect(),
        spent: score.cells.spent,
        experiments: score.experiments,
        rejected: score.rejected_lines,
    }
}

/// Plays at random: true, false, empty and missing predictions, experiments, and lines that are refused.
fn play(recorded: &mut Recorded, numbers: &mut Numbers) {
    let contract = recorded.episode.contract().clone();
    for _ in 0..numbers.below(12) {
        let cells = 1 + numbers.below(9);
        let start = numbers.ring(cells, &contract.symbols);
        let steps = numbers.below(200);
        recorded.ask(json!({"experiment": {"start": start, "steps": steps}}).to_string());
    }
    let universe = BruteUniverse::new(&recorded.sealed.to_json());
    let mut predictions = Vec::new();
    for (id, start, time) in contract.questions.each() {
        let ring: Vec<char> = start.chars().collect();
        let truth = (0..time).fold(ring, |ring, _| universe.step(&ring));
        let truth: String = truth.iter().collect();
        let is_c = contract.tier == LabTier::C;
        let state: Value = match numbers.below(5) {
            0 => continue,
            1 => Value::Null,
            2 if is_c => json!([numbers.below(12), null, numbers.below(12)]),
            _ if is_c => json!([numbers.below(12), numbers.below(4), numbers.below(4)]),
            2 => json!(numbers.ring(33, &contract.symbols)),
            _ => json!(truth),
        };
        let key = if is_c { "values" } else { "state" };
        predictions.push(json!({"id": id, key: state}));
    }
    recorded.accepted(&json!({"predict": predictions}));
    recorded.ask("no request");
}

#[test]
fn the_scorer_equals_a_second_one() {
    let mut numbers = Numbers(5);
    let mut right = 0;
    for tier in LabTier::ALL {
        for seed in 0..6 {
            let mut recorded = Recorded::new(tier, seed);
            play(&mut recorded, &mut numbers);
            let open = recorded.episode.score();
            let sealed = recorded.sealed.to_json();
            assert_eq!(same_numbers(&open), brute::score(&sealed, &recorded.log));
            assert!(!open.is_ended);
            let end = recorded.ask(r#"{"end": true}"#).line;
            let ended: LabScore = serde_json::from_str(&end).unwrap();
            assert!(ended.is_ended);
            assert_eq!(same_numbers(&ended), brute::score(&sealed, &recorded.log));
            assert_eq!(ended.line(), end);
            for at in &ended.predictions {
                assert!(
                    at.abstained > 0 && at.right + at.abstained < at.cells,
                    "{at:?}"
                );
                let share = at.right as f64 / at.cells as f64;
                assert!((0.0..1e-6).contains(&(share - at.right_share)), "{at:?}");
                right += at.right;
            }
        }
    }
    assert!(right > 10_000, "{right}");
}

#[test]
fn an_episode_without_predictions_abstains() {
    for tier in LabTier::ALL {
        let score = Recorded::new(tier, 1).episode.score();
        for at in &score.predictions {
            let cells = if tier == LabTier::C { 64 * 3 } else { 64 * 33 };
            assert_eq!([at.cells, at.abstained, at.right], [cells, cells, 0]);
            assert!(at.chance > 0 && at.chance <= at.cells);
        }
    }
}

#[test]
fn a_table_with_one_wrong_window_is_never_perfect() {
    for tier in [LabTier::A, LabTier::B, LabTier::D] {
        for seed in 0..3 {
            let mut numbers = Numbers(seed);
            let mut recorded = Recorded::new(tier, seed);
            let contract = recorded.episode.contract().clone();
            let mut sealed: Value = serde_json::from_str(&recorded.sealed.to_json()).unwrap();
            let table = sealed["definition"]["rule"]["table"]
                .as_object_mut()
                .unwrap();
            let window = numbers.below(table.len());
            let next = table.values_mut().nth(window).unwrap();
            let other = contract
                .symbols
                .chars()
                .find(|c| !next.as_str().unwrap().contains(*c));
            *next = json!(other.unwrap());
            let wrong = BruteUniverse::new(&sealed.to_string());
            let mut predictions = Vec::new();
            for (id, start, time) in contract.questions.each() {
                let ring = start.chars().collect();
                let state = (0..time).fold(ring, |ring: Vec<char>, _| wrong.step(&ring));
                predictions.push(json!({"id": id, "state": state.iter().collect::<String>()}));
            }
            recorded.accepted(&json!({"predict": predictions}));
            for at in recorded.episode.score().predictions {
                assert!(at.right < at.cells, "{tier:?} {seed}: {at:?}");
            }
        }
    }
}
