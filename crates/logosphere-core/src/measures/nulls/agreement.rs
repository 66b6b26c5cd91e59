//! The agreement of repeats: how alike their last texts are.

use std::collections::HashMap;

use super::descent::DescentModel;
use crate::measures::lists::Lists;

/// The words of all repeats of a cell as one vocabulary.
pub(super) struct CellWords {
    /// For each repeat the number of each of its tokens in the vocabulary of the cell.
    of_run: Vec<Vec<u32>>,
    /// The number of messages in the last window of each repeat.
    windows: Vec<usize>,
    size: usize,
}

impl CellWords {
    pub(super) fn of(models: &[DescentModel<'_>]) -> Self {
        let mut known: HashMap<&str, u32> = HashMap::new();
        let of_run = models.iter().map(|model| {
            let words = model.words().iter();
            words
                .map(|word| {
                    let next = known.len() as u32;
                    *known.entry(word).or_insert(next)
                })
                .collect()
        });
        Self {
            of_run: of_run.collect(),
            windows: models.iter().map(DescentModel::window).collect(),
            size: known.len(),
        }
    }

    /// Returns the mean over pairs of repeats of the cosine of their last windows, 0 to 1; `None` for fewer than two
    /// repeats with words.
    ///
    /// A window is the sum of the vectors of its texts. A vector has length 1 and a weight for each word: its count
    /// times `ln((1 + D) / (1 + df)) + 1`, for the D texts of all windows of which df have the word.
    pub(super) fn agreement(&self, lists: &[&Lists]) -> Option<f64> {
        let mut holders = vec![0_u32; self.size];
        let mut all = 0_u32;
        let mut texts: Vec<Vec<Vec<(u32, f64)>>> = Vec::with_capacity(lists.len());
        for (run, lists) in lists.iter().enumerate() {
            let messages = lists.messages();
            let window = messages - self.windows[run].min(messages)..messages;
            let counted = window.map(|message| self.counts(run, lists.of_message(message)));
            let counted: Vec<_> = counted.filter(|counts| !counts.is_empty()).collect();
            for (word, _) in counted.iter().flatten() {
                holders[*word as usize] += 1;
            }
            all += counted.len() as u32;
            texts.push(counted);
        }
        let rarity = |word: u32| {
            let holders = f64::from(holders[word as usize]);
            ((1.0 + f64::from(all)) / (1.0 + holders)).ln() + 1.0
        };
        let sums = texts.iter().filter(|texts| !texts.is_empty()).map(|texts| {
            let mut sum = vec![0.0; self.size];
            for counts in texts {
                let weights = || counts.iter().map(|(word, n)| (*word, n * rarity(*word)));
                let length = weights()
                    .map(|(_, weight)| weight * weight)
                    .sum::<f64>()
                    .sqrt();
                for (word, weight) in weights() {
                    sum[word as usize] += weight / length;
                }
            }
            let length = sum.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
            sum.iter().map(|weight| weight / length).collect()
        });
        let sums: Vec<Vec<f64>> = sums.collect();
        let mut cosines = Vec::new();
        for (at, one) in sums.iter().enumerate() {
            for other in &sums[at + 1..] {
                cosines.push(one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>());
            }
        }
        (!cosines.is_empty()).then(|| cosines.iter().sum::<f64>() / cosines.len() as f64)
    }

    /// The words of a list, each once with its count, by number.
    fn counts(&self, run: usize, list: &[u32]) -> Vec<(u32, f64)> {
        let mut words: Vec<u32> = (list.iter())
            .map(|token| self.of_run[run][*token as usize])
            .collect();
        words.sort_unstable();
        let same = words.chunk_by(|a, b| a == b);
        same.map(|same| (same[0], same.len() as f64)).collect()
    }
}
