//! Sums of counts that no observed step has changed.
//!
//! Every observed step gives a linear equation for the coefficients of a conserved sum. The solutions of all equations are a
//! vector space, and its short vectors are the candidates. Each refutation makes the space smaller, so it shrinks towards the true one.

use std::collections::BTreeSet;

use num_integer::gcd;
use popper_harness::universe::Symbol;

use super::elimination::eliminate;
use super::observations::ObservationMatrix;

/// The most patterns of a system of equations.
const MOST_PATTERNS: usize = 160;
/// The most vectors that are combined in pairs.
const MOST_COMBINED: usize = 24;

/// The patterns of up to some width that neither begin nor end with the background: the counts of all others follow from theirs
/// and the number of cells.
pub(super) struct PatternBasis {
    patterns: Vec<Vec<Symbol>>,
}

impl PatternBasis {
    /// Patterns of up to `width` cells, short ones first, in the given order of the symbols that are not the background.
    /// `None` if they are too many.
    pub(super) fn new(foreground: &[Symbol], width: usize) -> Option<Self> {
        let mut patterns: Vec<Vec<Symbol>> = Vec::new();
        let mut middles: Vec<Vec<Symbol>> = vec![Vec::new()];
        for length in 1..=width {
            for &first in foreground {
                if length == 1 {
                    patterns.push(vec![first]);
                    continue;
                }
                for middle in &middles {
                    patterns.extend(foreground.iter().map(|&last| {
                        let mut pattern = vec![first];
                        pattern.extend(middle);
                        pattern.push(last);
                        pattern
                    }));
                }
                if patterns.len() > MOST_PATTERNS {
                    return None;
                }
            }
            if length >= 2 {
                middles = middles
                    .iter()
                    .flat_map(|middle| {
                        let all = foreground.iter().copied().chain([0]);
                        all.map(|symbol| middle.iter().copied().chain([symbol]).collect())
                    })
                    .collect();
            }
        }
        Some(Self { patterns })
    }

    /// The number of patterns.
    pub(super) fn len(&self) -> usize {
        self.patterns.len()
    }

    /// The number of occurrences of each pattern in a state.
    fn counts(&self, state: &[Symbol]) -> Vec<i64> {
        let n = state.len();
        let stands = |pattern: &[Symbol], cell: usize| {
            let mut cells = pattern.iter().enumerate();
            cells.all(|(offset, &symbol)| state[(cell + offset) % n] == symbol)
        };
        let count =
            |pattern: &Vec<Symbol>| (0..n).filter(|&cell| stands(pattern, cell)).count() as i64;
        self.patterns.iter().map(count).collect()
    }

    /// A sum of counts as an expression, in the order of the alphabet, the first coefficient positive.
    pub(super) fn expression(&self, vector: &[i64], symbols: &[char]) -> String {
        let mut terms: Vec<(&Vec<Symbol>, i64)> = self
            .patterns
            .iter()
            .zip(vector.iter().copied())
            .filter(|(_, coefficient)| *coefficient != 0)
            .collect();
        terms.sort_by_key(|(pattern, _)| (pattern.len(), *pattern));
        let flip = terms
            .first()
            .is_some_and(|(_, coefficient)| *coefficient < 0);
        let mut text = String::new();
        for (pattern, coefficient) in terms {
            let negative = (coefficient < 0) != flip;
            text += match (text.is_empty(), negative) {
                (true, _) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            if coefficient.abs() != 1 {
                text += &coefficient.abs().to_string();
                text.push('*');
            }
            text += &counted(pattern.iter().map(|&symbol| symbols[usize::from(symbol)]));
        }
        text
    }
}

/// The expression that counts a pattern.
pub(super) fn counted(pattern: impl Iterator<Item = char>) -> String {
    let pattern: String = pattern.collect();
    if pattern.chars().count() == 1 {
        format!("count('{pattern}')")
    } else {
        format!("count_pattern('{pattern}')")
    }
}

/// The changes of the pattern counts in the observed steps.
pub(super) struct PatternDeltas(Vec<Vec<i64>>);

impl PatternDeltas {
    /// The distinct changes that are not zero.
    pub(super) fn of(patterns: &PatternBasis, evidence: &ObservationMatrix) -> Self {
        let states = evidence.states().iter();
        let counts: Vec<Vec<i64>> = states.map(|state| patterns.counts(state)).collect();
        let changes: BTreeSet<Vec<i64>> = evidence
            .steps()
            .map(|(before, after)| {
                let pairs = counts[before].iter().zip(&counts[after]);
                pairs.map(|(before, after)| after - before).collect()
            })
            .collect();
        let changed = |change: &Vec<i64>| change.iter().any(|&entry| entry != 0);
        Self(changes.into_iter().filter(changed).collect())
    }

    /// Short vectors that span the space of sums which no observed step has changed.
    pub(super) fn conserved(&self, dimension: usize) -> Vec<Vec<i64>> {
        let mut rows = RowSpace::default();
        for change in &self.0 {
            rows.add(change);
        }
        let mut basis: Vec<Vec<i64>> = (0..dimension)
            .filter_map(|free| rows.solution(dimension, free))
            .collect();
        shorten(&mut basis);
        basis.sort_by_key(|vector| size(vector));
        basis
    }
}

/// The length of a vector as an expression: its terms and the sizes of its coefficients.
fn size(vector: &[i64]) -> i64 {
    let terms = vector.iter().filter(|&&entry| entry != 0).count() as i64;
    terms + vector.iter().map(|entry| entry.abs()).sum::<i64>()
}

/// Replaces vectors by shorter ones that span the same space.
fn shorten(basis: &mut [Vec<i64>]) {
    let mut again = true;
    while again {
        again = false;
        for place in 0..basis.len() {
            for other in 0..basis.len() {
                for sign in [1, -1] {
                    if other == place {
                        continue;
                    }
                    let sum = combined(&basis[place], &basis[other], sign);
                    if size(&sum) < size(&basis[place]) {
                        basis[place] = sum;
                        again = true;
                    }
                }
            }
        }
    }
}

fn combined(left: &[i64], right: &[i64], factor: i64) -> Vec<i64> {
    let pairs = left.iter().zip(right);
    pairs
        .map(|(left, right)| left.saturating_add(factor.saturating_mul(*right)))
        .collect()
}

/// The vectors, and the sums of two of them with coefficients up to `most`, the shortest expression first.
pub(super) fn combinations(basis: &[Vec<i64>], most: i64) -> Vec<Vec<i64>> {
    let combined_basis = &basis[..basis.len().min(MOST_COMBINED)];
    let mut sums = basis.to_vec();
    for (place, left) in combined_basis.iter().enumerate() {
        for right in &combined_basis[place + 1..] {
            for a in 1..=most {
                for b in (-most..=most).filter(|b| gcd(a, *b) == 1 && *b != 0) {
                    let scaled = combined(&vec![0; left.len()], left, a);
                    sums.push(combined(&scaled, right, b));
                }
            }
        }
    }
    // A sum is easier to say than a difference.
    let differences = |vector: &[i64]| {
        let below = vector.iter().filter(|&&entry| entry < 0).count();
        let above = vector.iter().filter(|&&entry| entry > 0).count();
        below.min(above)
    };
    sums.sort_by_key(|sum| (size(sum), differences(sum)));
    sums
}

/// Equations in reduced form: each has a leading column in which all others are 0.
#[derive(Default)]
struct RowSpace(Vec<(usize, Vec<i128>)>);

impl RowSpace {
    /// Adds an equation. An equation whose coefficients overflow is left out: the space is then too large, never too small.
    fn add(&mut self, change: &[i64]) {
        let mut row: Vec<i128> = change.iter().map(|&entry| entry.into()).collect();
        for (lead, other) in &self.0 {
            match eliminate(&row, other, *lead) {
                Some(rest) => row = rest,
                None => return,
            }
        }
        // Long patterns lead, so that the free columns, which name the solutions, are short ones.
        let Some(lead) = row.iter().rposition(|&entry| entry != 0) else {
            return;
        };
        let cleared: Option<Vec<_>> = self
            .0
            .iter()
            .map(|(other, before)| Some((*other, eliminate(before, &row, lead)?)))
            .collect();
        if let Some(mut rows) = cleared {
            rows.push((lead, row));
            self.0 = rows;
        }
    }

    /// The solution in which one free column is the only one. `None` for a leading column or on overflow.
    fn solution(&self, dimension: usize, free: usize) -> Option<Vec<i64>> {
        if self.0.iter().any(|(lead, _)| *lead == free) {
            return None;
        }
        let involved = || self.0.iter().filter(|(_, row)| row[free] != 0);
        let mut common: i128 = 1;
        for (lead, row) in involved() {
            let divisor = row[*lead].abs() / gcd(row[*lead], row[free]);
            common = (common / gcd(common, divisor)).checked_mul(divisor)?;
        }
        let mut solution = vec![0; dimension];
        solution[free] = common;
        for (lead, row) in involved() {
            solution[*lead] = -(row[free].checked_mul(common)? / row[*lead]);
        }
        let small = |entry: i128| i32::try_from(entry).ok().map(i64::from);
        solution.into_iter().map(small).collect()
    }
}
