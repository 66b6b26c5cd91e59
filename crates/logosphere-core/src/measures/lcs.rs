//! The longest common subsequence of two token lists: its length from machine words, and its alignment from a table.

use std::collections::HashMap;

/// The number of tokens that one machine word holds.
const BITS: usize = 64;

/// The search for common subsequences with one list, the pattern.
///
/// A bit of a word is a token of the pattern. The bits that become 0 while the other list is read count the length of
/// the longest common subsequence.
#[derive(Debug, Default)]
pub(crate) struct Pattern {
    length: usize,
    /// The bits of each token of a pattern of one word; 0 for tokens that it does not have.
    narrow: Vec<u64>,
    /// The tokens that are in `narrow`.
    set: Vec<u32>,
    /// The bits of each token of a longer pattern.
    wide: HashMap<u32, Vec<u64>>,
}

impl Pattern {
    /// Makes `list` the pattern.
    pub(crate) fn set(&mut self, list: &[u32]) {
        for token in self.set.drain(..) {
            self.narrow[token as usize] = 0;
        }
        self.wide.clear();
        self.length = list.len();
        if list.len() <= BITS {
            for (place, &token) in list.iter().enumerate() {
                let at = token as usize;
                if self.narrow.len() <= at {
                    self.narrow.resize(at + 1, 0);
                }
                self.narrow[at] |= 1 << place;
                self.set.push(token);
            }
            return;
        }
        let words = list.len().div_ceil(BITS);
        for (place, &token) in list.iter().enumerate() {
            let bits = self.wide.entry(token).or_insert_with(|| vec![0; words]);
            bits[place / BITS] |= 1 << (place % BITS);
        }
    }

    /// Returns the length of the longest common subsequence of the pattern and `list`.
    pub(crate) fn common(&self, list: &[u32]) -> usize {
        if self.length > BITS {
            return self.common_wide(list);
        }
        let mut left = u64::MAX;
        for &token in list {
            let bits = self.narrow.get(token as usize).copied().unwrap_or(0);
            let matched = left & bits;
            left = left.wrapping_add(matched) | (left & !bits);
        }
        // A carry may pass the last token of the pattern.
        let inside = u64::MAX >> (BITS - self.length.max(1));
        if self.length == 0 {
            0
        } else {
            (!left & inside).count_ones() as usize
        }
    }

    fn common_wide(&self, list: &[u32]) -> usize {
        let words = self.length.div_ceil(BITS);
        let mut left = vec![u64::MAX; words];
        for token in list {
            let Some(bits) = self.wide.get(token) else {
                continue;
            };
            let mut carry = false;
            for (left, bits) in left.iter_mut().zip(bits) {
                let matched = *left & bits;
                let (sum, first) = left.overflowing_add(matched);
                let (sum, second) = sum.overflowing_add(u64::from(carry));
                carry = first || second;
                *left = sum | (*left & !bits);
            }
        }
        let last = self.length - BITS * (words - 1);
        left[words - 1] |= !(u64::MAX >> (BITS - last));
        left.iter().map(|left| left.count_zeros() as usize).sum()
    }

    /// Returns the similarity of the pattern and `list`: twice the length of their longest common subsequence over the
    /// sum of their lengths, 0 to 1. It is 0 if one of them has no token.
    pub(crate) fn similarity(&self, list: &[u32]) -> f64 {
        if self.length == 0 || list.is_empty() {
            return 0.0;
        }
        2.0 * self.common(list) as f64 / (self.length + list.len()) as f64
    }

    /// Returns a bound of [`Pattern::similarity`] that needs the lengths alone.
    pub(crate) fn most(&self, list: &[u32]) -> f64 {
        let (a, b) = (self.length, list.len());
        2.0 * a.min(b) as f64 / (a + b).max(1) as f64
    }
}

/// Returns the pairs of places of a longest common subsequence, in order. Where two ways are equally long, the token of
/// `a` is skipped first.
pub(crate) fn alignment(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    // The entry at (i, j) is the length for the rests a[i..] and b[j..].
    let mut table = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = if a[i] == b[j] {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_and_table_agree(
            a in prop::collection::vec(0_u32..6, 0..200),
            b in prop::collection::vec(0_u32..6, 0..200),
            c in prop::collection::vec(0_u32..6, 0..64),
        ) {
            let mut pattern = Pattern::default();
            for (a, b) in [(&a, &b), (&c, &a), (&b, &c), (&a, &a)] {
                pattern.set(a);
                prop_assert_eq!(pattern.common(b), alignment(a, b).len());
                prop_assert!(pattern.similarity(b) <= pattern.most(b));
            }
        }
    }

    #[test]
    fn lengths_at_the_borders_of_words() {
        for length in [1, 63, 64, 65, 127, 128, 129, 512] {
            let list: Vec<u32> = (0..length).collect();
            let mut pattern = Pattern::default();
            pattern.set(&list);
            assert_eq!(pattern.common(&list), length as usize);
            assert_eq!(pattern.common(&[length + 1]), 0);
        }
    }
}
