//! Planted selection is found, and its word is named.
#![expect(
    clippy::disallowed_macros,
    reason = "the numbers that were measured are shown"
)]

use logosphere_core::Transcript;
use logosphere_core::measures::nulls::{
    Choice, DescentModel, FeatureKind, NullComparison, NullTest, upper_p,
};

use crate::null_level::compared;
use crate::population::{self, BiasedMutator};

/// Fifty seeds, nine of them with the word.
fn seeds() -> Vec<String> {
    population::sentences(50, 9)
}

/// Eight minds that read three of fifty messages in sixty rounds and pass on unchanged texts, those with the word more
/// often.
fn of_copies(s: f64, seed: u64) -> Transcript {
    let mind = format!("biased:s={s},type=moon");
    population::run(&population::settings(&mind, 8, 50, 60, seed), &seeds())
}

/// The same with one word in twenty changed.
fn of_variants(s: f64, seed: u64) -> Transcript {
    let settings = population::settings("mutator:p=0.05", 8, 50, 60, seed);
    let mind = BiasedMutator::new(s, 0.05, &settings);
    population::run_of(&settings, &seeds(), mind)
}

fn is_found(found: &NullComparison) -> bool {
    let choice = found.test(NullTest::CHOICE);
    choice.and_then(|test| test.p).is_some_and(|p| p <= 0.05)
}

/// Whether the word is the first feature, or one that cannot be told from it.
fn is_named(found: &NullComparison) -> bool {
    let first = &found.features[0];
    first.value.as_deref() == Some("moon") || found.not_separable.iter().any(|word| word == "moon")
}

/// Prints and returns how many of `number` runs are significant, and how many of those name the word.
fn counted(name: &str, number: u64, run: impl Fn(u64) -> Transcript) -> [u64; 2] {
    let mut counts = [0, 0];
    for seed in 0..number {
        let found = compared(&run(seed), 199);
        counts[0] += u64::from(is_found(&found));
        counts[1] += u64::from(is_found(&found) && is_named(&found));
    }
    println!(
        "{name}: {} of {number} found, the word named in {}",
        counts[0], counts[1]
    );
    counts
}

/// The test of choice over repeats: its p, and the weight of the word.
fn pooled(s: f64, repeats: u64, group: u64, null_runs: u32) -> (f64, f64) {
    let seeds = (0..repeats).map(|at| 1000 + repeats * group + at);
    let runs: Vec<Transcript> = seeds.map(|seed| of_variants(s, seed)).collect();
    let models: Vec<DescentModel<'_>> = (0..)
        .zip(&runs)
        .map(|(seed, run)| DescentModel::new(run, seed))
        .collect();
    let sum = |choices: &mut dyn Iterator<Item = Choice>| {
        let mut all = Choice::default();
        choices.for_each(|choice| all.add(&choice));
        all
    };
    let observed = sum(&mut models.iter().map(DescentModel::choice));
    let null: Vec<f64> = (0..null_runs)
        .map(|index| sum(&mut models.iter().map(|model| model.null_choice(index))).largest_z())
        .collect();
    let p = upper_p(observed.largest_z(), &null);
    (p, observed.words["moon"].weight()[0])
}

/// Prints and returns how many of `number` groups of repeats are significant, and the mean weight of the word.
fn pooled_groups(s: f64, repeats: u64, number: u64) -> (usize, f64) {
    let found: Vec<(f64, f64)> = (0..number)
        .map(|group| pooled(s, repeats, group, 199))
        .collect();
    let significant = found.iter().filter(|(p, _)| *p <= 0.05).count();
    let weight = found.iter().map(|(_, weight)| weight.ln()).sum::<f64>() / number as f64;
    let weight = weight.exp();
    println!("s = {s}, {repeats} repeats: {significant} of {number} found, weight {weight:.2}");
    (significant, weight)
}

/// Run it by `cargo test --release -p orrery-logosphere-core --test it -- --ignored --nocapture null_power::n2`.
#[test]
#[ignore = "a minute in release"]
fn n2_a_preferred_word_is_found_in_copies() {
    for s in [0.2, 0.5] {
        counted(&format!("copies, s = {s}"), 100, |seed| of_copies(s, seed));
    }
    let [found, named] = counted("copies, s = 1", 100, |seed| of_copies(1.0, seed));
    assert!(found >= 75 && 10 * named >= 9 * found, "{found} {named}");
}

/// Run it by `cargo test --release -p orrery-logosphere-core --test it -- --ignored --nocapture null_power::n3`.
#[test]
#[ignore = "minutes in release"]
fn n3_a_preferred_word_is_found_in_variants_and_in_repeats() {
    for s in [0.5, 2.0] {
        counted(&format!("variants, s = {s}"), 100, |seed| {
            of_variants(s, seed)
        });
    }
    let [found, _] = counted("variants, s = 1", 100, |seed| of_variants(1.0, seed));
    assert!(found >= 85, "{found}");
    // The word's z grows with the root of the repeats: 10 are found half of the time, and 30 nearly always.
    let (_, weight) = pooled_groups(0.2, 10, 20);
    assert!((1.1..=1.3).contains(&weight), "{weight}");
    let (found, weight) = pooled_groups(0.2, 30, 10);
    assert!(
        found >= 9 && (1.1..=1.3).contains(&weight),
        "{found} {weight}"
    );
    let (found, weight) = pooled_groups(0.0, 10, 20);
    assert!(
        found <= 3 && (0.9..=1.1).contains(&weight),
        "{found} {weight}"
    );
}

#[test]
fn a_preferred_word_is_found() {
    let [found, named] = counted("copies, s = 1", 8, |seed| of_copies(1.0, seed));
    assert!(found >= 5 && named + 1 >= found, "{found} {named}");
    let [found, _] = counted("variants, s = 1", 8, |seed| of_variants(1.0, seed));
    assert!(found >= 6, "{found}");
}

#[test]
fn a_weak_preference_is_found_in_repeats() {
    let (p, weight) = pooled(0.2, 20, 0, 39);
    assert!(p <= 0.05 && (1.1..=1.3).contains(&weight), "{p} {weight}");
    let (p, weight) = pooled(0.0, 20, 0, 39);
    assert!(p > 0.05 && (0.9..=1.1).contains(&weight), "{p} {weight}");
}

#[test]
fn the_first_feature_of_strong_selection_is_the_word() {
    let found = compared(&of_variants(2.0, 3), 199);
    assert_eq!(found.features[0].feature, FeatureKind::Word);
    assert_eq!(found.features[0].value.as_deref(), Some("moon"));
    let sentence = &found.verdict.as_ref().unwrap().sentence;
    assert!(
        sentence.starts_with("Selection: texts with \"moon\" are passed on "),
        "{sentence}"
    );
}
