//! The shipped baselines. They play through the same lines as any other player, and know the public file only.

use serde::Deserialize;
use serde_json::{Value, json};

use super::contract::{LabContract, Visible};
use super::enumerated;
use super::learned::LearnedRule;
use super::limits::MOST_CELLS;
use super::random::LabRandom;

/// The number of seeded starts among which the version space chooses.
const CANDIDATES: usize = 200;

/// A shipped player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Baseline {
    /// Random starts, and the most frequent successor of each window; the background for windows that were not seen. It stops when it has
    /// seen every window without noise, else when the budget is used up.
    Random,
    /// The laws of the enumerative proposer, without predictions. Where states are seen without noise, it proposes no law that a seen
    /// run refutes.
    Enumerative,
    /// Among 200 seeded starts the one with the most unseen windows. With noise it repeats until the budget is used up, and the majority counts.
    /// A prediction that needs an unseen window is an abstention.
    VersionSpace,
}

/// The part of an answer to an experiment that a baseline reads.
#[derive(Deserialize)]
struct SeenStates {
    seen: Vec<String>,
}

impl Baseline {
    /// The shipped baselines, from the simplest one on.
    pub const ALL: [Self; 3] = [Self::Random, Self::Enumerative, Self::VersionSpace];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Enumerative => "enumerative",
            Self::VersionSpace => "version-space",
        }
    }

    /// Plays an episode to its end. `ask` takes a line and returns the answer.
    ///
    /// # Errors
    /// The first error of `ask`.
    pub fn play<E>(
        self,
        contract: &LabContract,
        seed: u64,
        ask: &mut impl FnMut(&str) -> Result<String, E>,
    ) -> Result<(), E> {
        let mut player = Player {
            contract,
            symbols: contract.symbols.chars().collect(),
            random: LabRandom::new(&seed.to_le_bytes(), self.name(), 0),
            left: contract.limits.budget_cells,
            ask,
        };
        match self {
            Self::Random => {
                let learned = player.explore(1)?;
                player.predict(|start, steps| learned.as_ref()?.predict(start, steps, Some(0)))?;
            }
            Self::VersionSpace => {
                let learned = player.explore(CANDIDATES)?;
                player.predict(|start, steps| learned.as_ref()?.predict(start, steps, None))?;
            }
            Self::Enumerative => {
                let runs = player.runs()?;
                let laws = enumerated::laws(contract, seed, &runs);
                player.ask(&json!({"laws": laws}))?;
            }
        }
        player.ask(&json!({"end": true}))?;
        Ok(())
    }
}

/// A baseline at play.
struct Player<'a, F> {
    contract: &'a LabContract,
    symbols: Vec<char>,
    random: LabRandom,
    left: u64,
    ask: &'a mut F,
}

impl<E, F: FnMut(&str) -> Result<String, E>> Player<'_, F> {
    fn ask(&mut self, request: &Value) -> Result<String, E> {
        (self.ask)(&request.to_string())
    }

    fn has_noise(&self) -> bool {
        let visible = &self.contract.visible;
        matches!(visible, Visible::States { noise_percent } if *noise_percent > 0)
    }

    fn text(&self, cells: &[u8]) -> String {
        let char = |cell: &u8| self.symbols[usize::from(*cell)];
        cells.iter().map(char).collect()
    }

    fn cells(&self, text: &str) -> Vec<u8> {
        let place = |char| self.symbols.iter().position(|symbol| *symbol == char);
        let cells = text.chars().filter_map(place);
        cells.map(|symbol| symbol as u8).collect()
    }

    /// Runs an experiment, and returns the states from the start on. `None` where the budget or the tier does not allow it.
    fn experiment(&mut self, start: Vec<u8>, steps: u64) -> Result<Option<Vec<Vec<u8>>>, E> {
        let cost = start.len() as u64 * steps;
        if cost > self.left || matches!(self.contract.visible, Visible::Observables(_)) {
            return Ok(None);
        }
        let text = self.text(&start);
        let answer = self.ask(&json!({"experiment": {"start": text, "steps": steps}}))?;
        let Ok(answer) = serde_json::from_str::<SeenStates>(&answer) else {
            return Ok(None);
        };
        self.left -= cost;
        let later = answer.seen.iter().map(|state| self.cells(state));
        Ok(Some([start].into_iter().chain(later).collect()))
    }

    /// Learns the rule by single steps. Each start is the best of `candidates`: that with the most windows that were seen least. `None` in a
    /// tier without states.
    fn explore(&mut self, candidates: usize) -> Result<Option<LearnedRule>, E> {
        if matches!(self.contract.visible, Visible::Observables(_)) {
            return Ok(None);
        }
        let mut learned = LearnedRule::new(self.contract);
        while self.has_noise() || learned.least() == 0 {
            let least = learned.least();
            let start = self.start(candidates, |ring| learned.rare(ring, least));
            let Some(states) = self.experiment(start, 1)? else {
                break;
            };
            learned.observe(&states[0], &states[1]);
        }
        Ok(Some(learned))
    }

    /// Draws starts, and returns the first of the best ones.
    fn start(&mut self, candidates: usize, value: impl Fn(&[u8]) -> usize) -> Vec<u8> {
        let symbols = self.symbols.len();
        let mut best = self.random.ring(MOST_CELLS, symbols);
        let mut most = value(&best);
        for _ in 1..candidates {
            let other = self.random.ring(MOST_CELLS, symbols);
            let found = value(&other);
            if found > most {
                (best, most) = (other, found);
            }
        }
        best
    }

    /// Runs of 16 steps from random starts, for the whole budget. Empty where a seen state may be wrong, or is not seen.
    fn runs(&mut self) -> Result<Vec<Vec<String>>, E> {
        let mut runs = Vec::new();
        while !self.has_noise() {
            let start = self.random.ring(MOST_CELLS, self.symbols.len());
            let Some(states) = self.experiment(start, 16)? else {
                break;
            };
            runs.push(states.iter().map(|state| self.text(state)).collect());
        }
        Ok(runs)
    }

    fn predict(&mut self, state: impl Fn(&[u8], u64) -> Option<Vec<u8>>) -> Result<(), E> {
        let key = match self.contract.visible {
            Visible::States { .. } => "state",
            Visible::Observables(_) => "values",
        };
        let questions = self.contract.questions.each();
        let predictions: Vec<Value> = questions
            .map(|(id, start, time)| {
                let state = state(&self.cells(start), time).map(|state| self.text(&state));
                json!({"id": id, key: state})
            })
            .collect();
        self.ask(&json!({"predict": predictions})).map(drop)
    }
}
