//! The shipped baselines, on few universes; the bench `lab` has the rest.

use popper_discovery::lab::{Baseline, Episode, LabScore, LabTier, SealedUniverse};

fn play(baseline: Baseline, tier: LabTier, seed: u64) -> LabScore {
    let mut episode = Episode::new(SealedUniverse::from_seed(tier, seed).unwrap());
    let contract = episode.contract().clone();
    let played = baseline.play(&contract, 3, &mut |line| {
        let answer = episode.line(line);
        if answer.is_error {
            Err(answer.line)
        } else {
            Ok(answer.line)
        }
    });
    played.unwrap();
    episode.score()
}

fn is_perfect(score: &LabScore) -> bool {
    score.predictions.iter().all(|at| at.right == at.cells)
}

#[test]
fn the_version_space_is_right_everywhere_for_fewer_cells() {
    for tier in [LabTier::A, LabTier::B] {
        for seed in 0..4 {
            let space = play(Baseline::VersionSpace, tier, seed);
            assert!(space.is_ended && is_perfect(&space), "{tier:?} {seed}");
            let random = play(Baseline::Random, tier, seed);
            assert!(
                space.cells.spent * 2 <= random.cells.spent || !is_perfect(&random),
                "{tier:?} {seed}: {:?} {:?}",
                space.cells,
                random.cells
            );
        }
    }
}

#[test]
fn a_majority_sees_through_the_noise_and_observables_give_no_rule() {
    let noisy = play(Baseline::VersionSpace, LabTier::D, 0);
    assert!(is_perfect(&noisy));
    assert_eq!(noisy.cells.spent, noisy.cells.budget);
    for baseline in Baseline::ALL {
        let score = play(baseline, LabTier::C, 0);
        assert!(score.predictions.iter().all(|at| at.abstained == at.cells));
        assert_eq!(score.cells.spent, 0);
    }
}

#[test]
fn the_enumerative_baseline_states_laws_and_predicts_nothing() {
    let score = play(Baseline::Enumerative, LabTier::A, 1);
    assert_eq!(score.laws.stated, 20);
    assert_eq!(score.cells.spent, score.cells.budget);
    assert!(score.predictions.iter().all(|at| at.abstained == at.cells));
    assert_eq!(score, play(Baseline::Enumerative, LabTier::A, 1));
}
