//! Repeats: several runs with the same settings and seed messages, tested together against neutral descent.
//!
//! Drift differs between repeats and selection does not, so repeats find what one run cannot show.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Serialize;

use super::agreement::CellWords;
use super::choice::{Choice, LEAST_VARIANCE, Score};
use super::comparison::{Feature, FeatureKind};
use super::descent::{DescentModel, Favour, NullRun};
use super::parallel::{NullProgress, null_runs};
use super::statistics::{comparable, upper_p};
use crate::measures::lists::Lists;
use crate::measures::metrics::quantile;
use crate::verify::Transcript;

/// The runs from which the power of a test is estimated.
pub const POWER_RUNS: u32 = 200;
/// The quantile 0.8 of the normal distribution.
const POWER_QUANTILE: f64 = 0.841_621;
/// The factor that a feature of texts changes their chance by in the estimate of power.
pub const POWER_WEIGHT: f64 = 1.5;

/// The plan of a test of repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the numbers of a plan")]
pub struct RepeatPlan {
    /// The number of null runs of each repeat.
    pub null_runs: u32,
    /// The random seed of the null runs; a repeat adds its index.
    pub seed: u64,
    /// The factor of a text's chance for which the power is estimated.
    pub weight: f64,
    /// The number of threads; the result does not depend on it.
    pub threads: usize,
}

/// The tests of the repeats of one cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RepeatTests {
    /// The number of runs.
    pub repeats: usize,
    /// Whether texts with some feature are passed on more often than others, all repeats together.
    pub choice: RepeatTest,
    /// Whether the last texts of the repeats are more alike than those of null runs; `None` for fewer than two repeats.
    pub agreement: Option<RepeatTest>,
    /// The feature with the z farthest from 0; `None` if no feature varies.
    pub first: Option<Feature>,
    /// The share of runs with a word of the given weight that the test of choice would find, 0 to 1.
    pub power: f64,
    /// The variance of U for the word whose variance is in the middle; `None` if no word can be tested.
    pub variance: Option<f64>,
}

/// A number of repeats among that of null runs, one null run per repeat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RepeatTest {
    /// The number of the repeats.
    pub observed: f64,
    /// The median of the null runs.
    pub median: f64,
    /// Their quantile 0.95.
    pub high: f64,
    /// The share of null runs with a number at least as large.
    pub p: f64,
}

/// The numbers of one null run per repeat.
struct Together {
    largest_z: f64,
    agreement: Option<f64>,
}

impl RepeatTests {
    /// Tests runs with the same settings and seed messages. `on_run` is called after each null run of all repeats; if it
    /// breaks, the result is `None`.
    pub fn of(
        runs: &[Transcript],
        plan: &RepeatPlan,
        on_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
    ) -> Option<Self> {
        let models: Vec<DescentModel<'_>> = (plan.seed..)
            .zip(runs)
            .map(|(seed, run)| DescentModel::new(run, seed))
            .collect();
        let words = CellWords::of(&models);
        let choice = sum(models.iter().map(DescentModel::choice));
        let lists: Vec<&Lists> = models.iter().map(DescentModel::lists).collect();
        let observed = Together {
            largest_z: choice.largest_z(),
            agreement: words.agreement(&lists).map(comparable),
        };
        let one = |index| {
            let runs: Vec<NullRun> = (models.iter().map(|model| model.null_run(index))).collect();
            let scored = models.iter().zip(&runs);
            let lists: Vec<&Lists> = runs.iter().map(|(lists, _)| lists).collect();
            Together {
                largest_z: sum(scored.map(|(model, run)| model.choice_of(run))).largest_z(),
                agreement: words.agreement(&lists).map(comparable),
            }
        };
        let null = null_runs(plan.null_runs, plan.threads, one, on_run)?;
        let largest: Vec<f64> = null.iter().map(|null| null.largest_z).collect();
        let agreements: Vec<f64> = null.iter().filter_map(|null| null.agreement).collect();
        let (variance, power) = match middle(&choice) {
            Some((word, score)) => (Some(score.v), power(&models, word, plan, &largest)?),
            None => (None, 0.0),
        };
        Some(Self {
            repeats: runs.len(),
            choice: RepeatTest::of(observed.largest_z, largest),
            agreement: (observed.agreement)
                .filter(|_| !agreements.is_empty())
                .map(|observed| RepeatTest::of(observed, agreements)),
            first: first(&choice),
            power,
            variance,
        })
    }

    /// Returns the number of repeats after which a word that changes a text's chance by the factor `weight` is found with
    /// a power of 0.8 at the level of 5 %, by the normal approximation; `None` if no word can be tested.
    ///
    /// U of a word with this weight has a mean of ln(`weight`) times its variance, which grows with the repeats.
    pub fn repeats_needed(&self, weight: f64) -> Option<f64> {
        let each = self.variance? / self.repeats as f64;
        let distance = (self.choice.high + POWER_QUANTILE) / weight.ln();
        Some((distance * distance / each).ceil()).filter(|needed| needed.is_finite())
    }
}

impl RepeatTest {
    fn of(observed: f64, mut null: Vec<f64>) -> Self {
        let p = upper_p(observed, &null);
        null.sort_by(f64::total_cmp);
        Self {
            observed,
            median: quantile(&null, 0.5),
            high: quantile(&null, 0.95),
            p,
        }
    }
}

fn sum(choices: impl Iterator<Item = Choice>) -> Choice {
    choices.fold(Choice::default(), |mut all, choice| {
        all.add(&choice);
        all
    })
}

/// The words with enough variance.
fn tested(words: &BTreeMap<String, Score>) -> impl Iterator<Item = (&String, Score)> {
    let tested = words.iter().map(|(word, score)| (word, *score));
    tested.filter(|(_, score)| score.v >= LEAST_VARIANCE)
}

/// The feature with the z farthest from 0; of equally far words the first by its letters.
fn first(choice: &Choice) -> Option<Feature> {
    let words = tested(&choice.words);
    let words = words.map(|(word, score)| (FeatureKind::Word, Some(word), score));
    let others = [
        (FeatureKind::Length, None, choice.length),
        (FeatureKind::Age, None, choice.age),
        (FeatureKind::Centrality, None, choice.centrality),
    ];
    let scored = words.chain(others).filter_map(|(kind, word, score)| {
        let z = comparable(score.z()?);
        Some((kind, word, score, z))
    });
    let (kind, word, score, z) = scored.min_by(|a, b| b.3.abs().total_cmp(&a.3.abs()))?;
    Some(Feature::of(kind, word.cloned(), score, z))
}

/// The word whose variance is in the middle, with its score.
fn middle(choice: &Choice) -> Option<(&str, Score)> {
    let mut words: Vec<(&String, Score)> = tested(&choice.words).collect();
    words.sort_by(|(_, a), (_, b)| a.v.total_cmp(&b.v));
    let (word, score) = words.get(words.len() / 2)?;
    Some((word, *score))
}

/// The share of runs in which texts with `word` have the weight of the plan, and whose choice is significant.
fn power(models: &[DescentModel<'_>], word: &str, plan: &RepeatPlan, null: &[f64]) -> Option<f64> {
    let favours: Vec<Option<Favour>> = (models.iter())
        .map(|model| model.favour(word, plan.weight))
        .collect();
    let one = |index| {
        let scored = models.iter().zip(&favours);
        let choices = scored.map(|(model, favour)| {
            // Other runs than those that it is compared with.
            let run = model.run_favouring(u32::MAX - index, *favour);
            model.choice_of(&run)
        });
        upper_p(sum(choices).largest_z(), null) <= 0.05
    };
    let found = null_runs(POWER_RUNS, plan.threads, one, &mut |_| {
        ControlFlow::Continue(())
    })?;
    let count = found.iter().filter(|found| **found).count();
    Some(count as f64 / f64::from(POWER_RUNS))
}
