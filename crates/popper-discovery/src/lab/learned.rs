//! A rule as a player has seen it: for each window, how often each symbol followed.

use super::contract::LabContract;
use super::draw::{around, code};

/// The observed successors of each window.
pub(super) struct LearnedRule {
    symbols: usize,
    radius: usize,
    counts: Vec<Vec<u32>>,
}

impl LearnedRule {
    /// Creates the rule of a player who has seen nothing.
    pub fn new(contract: &LabContract) -> Self {
        let symbols = contract.symbols.chars().count();
        let windows = symbols.pow(2 * contract.radius as u32 + 1);
        Self {
            symbols,
            radius: contract.radius,
            counts: vec![vec![0; symbols]; windows],
        }
    }

    /// Adds a step that was seen.
    pub fn observe(&mut self, before: &[u8], after: &[u8]) {
        for (cell, next) in after.iter().enumerate() {
            let window = self.window(before, cell);
            self.counts[window][usize::from(*next)] += 1;
        }
    }

    /// Returns the number of times that the window was seen that was seen least.
    pub fn least(&self) -> u32 {
        let seen = self.counts.iter().map(|counts| counts.iter().sum());
        seen.min().unwrap_or_default()
    }

    /// Returns the number of different windows of a ring that were seen at most `times` times.
    pub fn rare(&self, ring: &[u8], times: u32) -> usize {
        let mut windows: Vec<usize> = (0..ring.len())
            .map(|cell| self.window(ring, cell))
            .filter(|window| self.counts[*window].iter().sum::<u32>() <= times)
            .collect();
        windows.sort_unstable();
        windows.dedup();
        windows.len()
    }

    /// Returns the state after some steps, with the most frequent successor of each window. A window that was not seen gives `unseen`, or
    /// no state at all where that is `None`.
    pub fn predict(&self, start: &[u8], steps: u64, unseen: Option<u8>) -> Option<Vec<u8>> {
        let mut now = start.to_vec();
        for _ in 0..steps {
            let next = (0..now.len()).map(|cell| {
                let window = self.window(&now, cell);
                self.successor(window).or(unseen)
            });
            now = next.collect::<Option<_>>()?;
        }
        Some(now)
    }

    /// The most frequent successor, the first one of several.
    fn successor(&self, window: usize) -> Option<u8> {
        let counts = &self.counts[window];
        let most = counts.iter().max().filter(|most| **most > 0)?;
        let place = counts.iter().position(|count| count == most);
        place.map(|symbol| symbol as u8)
    }

    fn window(&self, ring: &[u8], cell: usize) -> usize {
        code(&around(ring, cell, self.radius), self.symbols)
    }
}
