//! The pairs of a run by the length of their parents.

use super::edit::Edit;
use crate::measures::lists::MOST_TOKENS;

/// The smallest number of pairs that the changes of a text are drawn from.
const LEAST_DONORS: usize = 20;

/// The pairs of parent and child of a run, sorted by the length of the parent.
#[derive(Debug)]
pub(super) struct Donors {
    /// The changes of each pair; `None` for equal tokens.
    edits: Vec<Option<Edit>>,
    /// For each length of a text, 0 to [`MOST_TOKENS`], the pairs with the nearest lengths.
    near: Vec<(u32, u32)>,
}

impl Donors {
    /// Returns the pairs, each with the length of its parent.
    pub(super) fn new(mut pairs: Vec<(usize, Option<Edit>)>) -> Self {
        // Pairs of equal length stay in the order of the run.
        pairs.sort_by_key(|(length, _)| *length);
        let lengths: Vec<usize> = pairs.iter().map(|(length, _)| *length).collect();
        let least = pairs.len().div_ceil(10).max(LEAST_DONORS).min(pairs.len());
        let near = (0..=MOST_TOKENS).map(|length| nearest(&lengths, length, least));
        Self {
            near: near.collect(),
            edits: pairs.into_iter().map(|(_, edit)| edit).collect(),
        }
    }

    /// Returns the number of pairs.
    pub(super) fn len(&self) -> usize {
        self.edits.len()
    }

    /// Returns the number of pairs that a text of `length` tokens can have its changes from, and the first of them.
    pub(super) fn near(&self, length: usize) -> (u64, usize) {
        let (start, end) = self.near[length.min(MOST_TOKENS)];
        (u64::from(end - start), start as usize)
    }

    /// Returns the changes of a pair; `None` for equal tokens.
    pub(super) fn edit(&self, pair: usize) -> Option<&Edit> {
        self.edits[pair].as_ref()
    }
}

/// Returns the range of the sorted lengths that are as near to `length` as needed for `least` of them. All at one
/// distance are in it.
fn nearest(lengths: &[usize], length: usize, least: usize) -> (u32, u32) {
    let range = |distance: usize| {
        let start = lengths.partition_point(|&other| other + distance < length);
        let end = lengths.partition_point(|&other| other <= length + distance);
        (start, end)
    };
    let (mut start, mut end) = range(0);
    while end - start < least {
        let below = start.checked_sub(1).map(|at| length - lengths[at]);
        let above = lengths.get(end).map(|&other| other - length);
        let Some(distance) = below.into_iter().chain(above).min() else {
            break;
        };
        (start, end) = range(distance);
    }
    (start as u32, end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_lengths_are_whole_distances() {
        let lengths = [1, 2, 2, 5, 5, 5, 9];
        assert_eq!(nearest(&lengths, 5, 1), (3, 6));
        assert_eq!(nearest(&lengths, 5, 4), (1, 6));
        // 5 and 9 are both two away from 7.
        assert_eq!(nearest(&lengths, 7, 1), (3, 7));
        assert_eq!(nearest(&lengths, 7, 7), (0, 7));
        assert_eq!(nearest(&lengths, 400, 1), (6, 7));
        assert_eq!(nearest(&[], 3, 0), (0, 0));
    }

    #[test]
    fn a_tenth_of_the_pairs_and_at_least_twenty_are_donors() {
        let donors = |pairs: usize| Donors::new((0..pairs).map(|at| (at, None)).collect());
        assert_eq!(donors(0).near(3), (0, 0));
        assert_eq!(donors(15).near(3), (15, 0));
        // 0 to 20 are within ten of 10, and that is 21.
        assert_eq!(donors(100).near(10), (21, 0));
        assert_eq!(donors(500).near(100), (51, 75));
    }
}
