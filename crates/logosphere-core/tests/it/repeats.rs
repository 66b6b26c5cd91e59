//! Repeats are tested together, and as often significant as the level says.
#![expect(
    clippy::disallowed_macros,
    reason = "the numbers that were measured are shown"
)]

use std::ops::ControlFlow;

use logosphere_core::Transcript;
use logosphere_core::measures::nulls::{POWER_WEIGHT, RepeatPlan, RepeatTests};

use crate::population::{self, BiasedMutator};

fn tested(runs: &[Transcript], null_runs: u32, threads: usize) -> RepeatTests {
    let plan = RepeatPlan {
        null_runs,
        seed: 0,
        weight: POWER_WEIGHT,
        threads,
    };
    RepeatTests::of(runs, &plan, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Three minds with a window of 15 in 30 rounds and the built-in seeds.
fn small(mind: &str, seeds: std::ops::Range<u64>) -> Vec<Transcript> {
    let run = |seed| {
        let settings = population::settings(mind, 3, 15, 30, seed);
        population::run(&settings, &population::built_in())
    };
    seeds.map(run).collect()
}

/// Eight mutators that read three of fifty messages in sixty rounds and prefer texts with a word.
fn biased(s: f64, seeds: std::ops::Range<u64>) -> Vec<Transcript> {
    let run = |seed| {
        let settings = population::settings("mutator:p=0.05", 8, 50, 60, seed);
        let mind = BiasedMutator::new(s, 0.05, &settings);
        population::run_of(&settings, &population::sentences(50, 9), mind)
    };
    seeds.map(run).collect()
}

/// The shares of neutral cells of five repeats with a p of at most 0.05: choice, and agreement.
fn levels(minds: &[&str], cells: u64, null_runs: u32) -> [f64; 2] {
    let mut found = [0, 0];
    for cell in 0..cells {
        let mind = minds[cell as usize % minds.len()];
        let tests = tested(&small(mind, 5 * cell..5 * cell + 5), null_runs, threads());
        found[0] += u32::from(tests.choice.p <= 0.05);
        found[1] += u32::from(tests.agreement.is_some_and(|test| test.p <= 0.05));
    }
    let shares = found.map(|found| f64::from(found) / cells as f64);
    println!(
        "{cells} neutral cells: choice {:.3}, agreement {:.3}",
        shares[0], shares[1]
    );
    shares
}

/// Run it by `cargo test --release -p orrery-logosphere-core --test it -- --ignored --nocapture repeats::n11`.
#[test]
#[ignore = "minutes in release"]
fn n11_neutral_cells_are_significant_at_the_level_and_selection_is_found() {
    let minds = [
        "copier:mu=0.05",
        "mutator:p=0.02",
        "mutator:p=0.1",
        "mutator:p=0.3",
    ];
    for share in levels(&minds, 200, 199) {
        assert!(share <= 0.08, "{share}");
    }
    let found = (0..50)
        .map(|cell| tested(&biased(0.5, 5 * cell..5 * cell + 5), 199, threads()))
        .filter(|tests| tests.choice.p <= 0.05)
        .count();
    println!("s = 0.5, five repeats: {found} of 50 found");
    assert!(found >= 45, "{found}");
}

#[test]
fn neutral_cells_are_seldom_significant() {
    for share in levels(&["copier:mu=0.05", "mutator:p=0.1"], 20, 199) {
        assert!(share <= 0.2, "{share}");
    }
}

#[test]
fn a_preferred_word_is_found_in_five_repeats_and_named() {
    let tests = tested(&biased(1.0, 0..5), 199, threads());
    assert!(tests.choice.p <= 0.05, "{tests:?}");
    let first = tests.first.unwrap();
    assert_eq!(first.value.as_deref(), Some("moon"));
    assert!(
        first.low > 1.0 && (1.5..2.6).contains(&first.weight),
        "{first:?}"
    );
}

#[test]
fn power_grows_with_the_repeats() {
    let power = |repeats| tested(&biased(0.0, 0..repeats), 199, threads()).power;
    let [one, six] = [power(1), power(6)];
    println!("power to find a weight of 1.5: {one} in one run, {six} in six");
    assert!(one < 0.7 && six > one, "{one} {six}");
}

#[test]
fn equal_repeats_agree_wholly_and_one_repeat_has_no_agreement() {
    let once = small("mutator:p=0.1", 3..4);
    let twice = [once.clone(), once].concat();
    let tests = tested(&twice, 199, threads());
    let agreement = tests.agreement.unwrap();
    assert!((agreement.observed - 1.0).abs() < 1e-9, "{agreement:?}");
    assert!(agreement.p <= 0.05, "{agreement:?}");
    assert_eq!(tested(&twice[..1], 199, 1).agreement, None);
}

#[test]
fn repeats_are_tested_alike_on_any_number_of_threads() {
    let runs = small("mutator:p=0.1", 0..3);
    assert_eq!(tested(&runs, 199, 1), tested(&runs, 199, 4));
}
