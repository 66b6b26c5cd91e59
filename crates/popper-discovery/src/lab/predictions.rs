//! The score of predictions, in counts of cells.

use std::collections::BTreeMap;

use popper_harness::law::measure;
use popper_harness::universe::{Tabulated, Universe as _};

use super::contract::{LabContract, Visible};
use super::request::Prediction;
use super::score::TimeScore;

/// Scores predictions by time. A question that is not answered counts as an abstention.
pub(super) fn score(
    universe: &Tabulated,
    contract: &LabContract,
    predictions: Option<&BTreeMap<String, Prediction>>,
) -> Vec<TimeScore> {
    let score = |time: &u64| {
        let mut tally = TimeTally::default();
        for (id, start, _) in contract.questions.each().filter(|(_, _, at)| at == time) {
            let truth = truth(universe, &contract.visible, start, *time);
            tally.add(&truth, predictions.and_then(|all| all.get(&id)));
        }
        let by_position = match contract.visible {
            Visible::States { .. } => false,
            Visible::Observables(_) => true,
        };
        let (cells, right, abstained) = (tally.cells, tally.right, tally.abstained);
        TimeScore::new(*time, cells, right, abstained, tally.chance(by_position))
    };
    contract.questions.times.iter().map(score).collect()
}

/// The values that a prediction is compared with: the symbols of the state, or the observables.
fn truth(universe: &Tabulated, visible: &Visible, start: &str, time: u64) -> Vec<Option<i64>> {
    let start = universe.alphabet().parse(start).unwrap_or_default();
    let state = universe.evolve(&start, time);
    match visible {
        Visible::States { .. } => state.iter().map(|cell| Some(i64::from(*cell))).collect(),
        Visible::Observables(names) => {
            let value = |name: &String| measure(name, &state, universe).ok();
            names.iter().map(value).collect()
        }
    }
}

/// The counts at one time.
#[derive(Default)]
struct TimeTally {
    cells: u64,
    right: u64,
    abstained: u64,
    /// The number of times of each true value, by position.
    values: BTreeMap<(usize, Option<i64>), u64>,
}

impl TimeTally {
    fn add(&mut self, truth: &[Option<i64>], prediction: Option<&Prediction>) {
        let given: Vec<Option<i64>> = match prediction {
            None | Some(Prediction::Abstention) => vec![None; truth.len()],
            Some(Prediction::Cells(cells)) => {
                cells.iter().map(|cell| Some(i64::from(*cell))).collect()
            }
            Some(Prediction::Values(values)) => values.clone(),
        };
        for (position, (given, truth)) in given.iter().zip(truth).enumerate() {
            self.cells += 1;
            self.abstained += u64::from(given.is_none());
            self.right += u64::from(given.is_some() && given == truth);
            *self.values.entry((position, *truth)).or_default() += 1;
        }
    }

    /// The number of cells that the best constant is right about: one symbol for all cells, or one value for each observable.
    fn chance(&self, by_position: bool) -> u64 {
        let mut counts: BTreeMap<usize, BTreeMap<Option<i64>, u64>> = BTreeMap::new();
        for ((position, value), count) in &self.values {
            let group = if by_position { *position } else { 0 };
            *counts.entry(group).or_default().entry(*value).or_default() += count;
        }
        let best = |values: &BTreeMap<Option<i64>, u64>| values.values().copied().max();
        counts.values().filter_map(best).sum()
    }
}
