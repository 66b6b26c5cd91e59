//! The conservation conditions of local sums as a linear system, and its exact solution.
//!
//! Elimination runs modulo a prime, the solutions are lifted to integers, and every integer solution is then checked against
//! every condition. The rank modulo a prime is at most the true rank, so no solution can be missed, and none that is checked
//! can be wrong: the result is exact.

use num_integer::gcd;

use super::space::SpanError;
use crate::universe::{Rule, Symbol};

/// A Mersenne prime: large enough for coefficients far beyond those that occur.
const PRIME: u64 = (1 << 61) - 1;
/// Numerators and denominators up to here are lifted without ambiguity (2 * LIMIT^2 < PRIME).
const LIMIT: u64 = 1 << 29;
/// The largest window graph, in edges.
pub(super) const MAX_EDGES: usize = 70_000;
/// The most unknowns: elimination costs their third power.
pub(super) const MAX_UNKNOWNS: usize = 1024;
/// The most conditions that are kept rather than made again.
const MAX_KEPT: usize = 4096;
/// The number of redundant conditions in a row after which the solutions are tried on all conditions.
const PATIENCE: usize = 64;

/// The patterns whose counts are a basis of all local sums of a width, modulo those that are zero on every ring: the empty
/// one (the number of cells), and all that neither begin nor end with the first symbol. Short ones first, then symbol order.
pub(super) struct Columns {
    symbols: usize,
    pub patterns: Vec<Vec<Symbol>>,
    /// The column, if there is one, by the pattern's length less one and its code.
    index: Vec<Vec<Option<usize>>>,
}

impl Columns {
    pub fn new(symbols: usize, width: usize) -> Self {
        let mut patterns = vec![Vec::new()];
        let mut index = Vec::new();
        for length in 1..=width {
            index.push(
                strings(symbols, length)
                    .map(|window| {
                        let proper = window[0] != 0 && window[length - 1] != 0;
                        proper.then(|| {
                            patterns.push(window.clone());
                            patterns.len() - 1
                        })
                    })
                    .collect(),
            );
        }
        Self {
            symbols,
            patterns,
            index,
        }
    }

    /// Returns the column of a pattern; `None` if it begins or ends with the first symbol or is too wide.
    pub fn of(&self, pattern: &[Symbol]) -> Option<usize> {
        let Some(last) = pattern.len().checked_sub(1) else {
            return Some(0);
        };
        let code = pattern
            .iter()
            .fold(0, |code, &symbol| code * self.symbols + usize::from(symbol));
        self.index.get(last)?.get(code).copied().flatten()
    }
}

/// Returns every string of a width, in symbol order.
fn strings(symbols: usize, width: usize) -> impl Iterator<Item = Vec<Symbol>> {
    (0..symbols.pow(width as u32)).map(move |code| {
        let mut string = vec![0; width];
        let mut rest = code;
        for cell in string.iter_mut().rev() {
            *cell = (rest % symbols) as Symbol;
            rest /= symbols;
        }
        string
    })
}

/// A linear condition: column and coefficient.
type LinearCondition = Vec<(usize, i64)>;

/// Adds the change of the local sums over one window: the patterns at its left end one step later less those now.
fn change(
    columns: &Columns,
    rule: &Rule,
    window: &[Symbol],
    sign: i64,
    condition: &mut LinearCondition,
) {
    let width = columns.index.len();
    let next: Vec<Symbol> = window
        .windows(2 * rule.radius() + 1)
        .map(|seen| rule.next(seen))
        .collect();
    for length in 1..=width {
        let mut push = |pattern: &[Symbol], sign| {
            if let Some(column) = columns.of(pattern) {
                condition.push((column, sign));
            }
        };
        push(&next[..length], sign);
        push(&window[..length], -sign);
    }
}

/// Returns the condition of one window x (Hattori and Takesue).
///
/// It equates the weights of two walks from the string of first symbols: the one over x without its last cell and then
/// along x, and the one over x without its first cell. Together the conditions of all windows give every cycle the weight
/// 0; the x of first symbols alone gives it to the cycle at the beginning.
fn condition(columns: &Columns, rule: &Rule, window: &[Symbol]) -> LinearCondition {
    let width = window.len();
    let mut condition = LinearCondition::new();
    let mut padded = vec![0; width];
    change(columns, rule, window, 1, &mut condition);
    for taken in 1..width {
        padded[..width - taken].fill(0);
        padded[width - taken..].copy_from_slice(&window[..taken]);
        change(columns, rule, &padded, 1, &mut condition);
        padded[width - taken..].copy_from_slice(&window[1..=taken]);
        change(columns, rule, &padded, -1, &mut condition);
    }
    condition.sort_unstable();
    let mut merged = LinearCondition::new();
    for (column, coefficient) in condition {
        match merged.last_mut() {
            Some((last, sum)) if *last == column => *sum += coefficient,
            _ => merged.push((column, coefficient)),
        }
    }
    merged.retain(|(_, coefficient)| *coefficient != 0);
    merged
}

/// Computes the conserved local sums over windows of a width, as integer coefficients by column.
///
/// Each vector has 1 in its leading column, before it is cleared of denominators, and 0 in the leading columns of the
/// others.
///
/// # Errors
/// [`SpanError`] when the system or its solutions are too large.
pub(super) fn conserved(rule: &Rule, columns: &Columns) -> Result<Vec<Vec<i64>>, SpanError> {
    let width = columns.index.len() + 2 * rule.radius();
    let mut system = System {
        rows: vec![None; columns.patterns.len()],
    };
    let conditions =
        || strings(rule.symbols(), width).map(|window| condition(columns, rule, &window));
    // A small system is made once only.
    let kept: Vec<LinearCondition> = if rule.symbols().pow(width as u32) <= MAX_KEPT {
        conditions().collect()
    } else {
        Vec::new()
    };
    let all = || {
        let made = kept.is_empty().then(conditions).into_iter().flatten();
        kept.iter().cloned().chain(made)
    };
    let mut idle = 0;
    for condition in all() {
        if system.learn(&condition) {
            idle = 0;
        } else {
            idle += 1;
        }
        if idle > PATIENCE.max(columns.patterns.len() / 4) {
            break;
        }
    }
    loop {
        let basis = system.solutions().ok_or(SpanError::Coefficients)?;
        let mut learnt = false;
        for condition in all() {
            let fails = basis.iter().any(|vector| {
                let sum: i128 = condition
                    .iter()
                    .map(|&(column, coefficient)| {
                        i128::from(coefficient) * i128::from(vector[column])
                    })
                    .sum();
                sum != 0
            });
            if fails {
                // Known modulo the prime and yet not met by the integers: unless the solutions are already known to be too
                // many, they were lifted wrongly.
                if !system.learn(&condition) && !learnt {
                    return Err(SpanError::Coefficients);
                }
                learnt = true;
            }
        }
        if !learnt {
            return Ok(basis);
        }
    }
}

/// Conditions in echelon form modulo the prime: row `c` has its last entry, 1, in column `c`.
///
/// Long patterns are thus expressed by short ones, and the solutions lead with short ones.
struct System {
    rows: Vec<Option<Vec<u64>>>,
}

impl System {
    /// Adds a condition and returns whether it is independent of the others.
    fn learn(&mut self, condition: &LinearCondition) -> bool {
        let mut row = vec![0; self.rows.len()];
        for &(column, coefficient) in condition {
            row[column] = coefficient.rem_euclid(PRIME as i64) as u64;
        }
        for column in (0..row.len()).rev() {
            let lead = row[column];
            if lead == 0 {
                continue;
            }
            let Some(known) = &self.rows[column] else {
                let inverse = power(lead, PRIME - 2);
                for entry in &mut row[..=column] {
                    *entry = times(*entry, inverse);
                }
                self.rows[column] = Some(row);
                return true;
            };
            for (entry, &other) in row[..=column].iter_mut().zip(known) {
                if other != 0 {
                    *entry = (*entry + PRIME - times(lead, other)) % PRIME;
                }
            }
        }
        false
    }

    /// Returns a basis of the solutions, lifted to integers without a common divisor.
    fn solutions(&self) -> Option<Vec<Vec<i64>>> {
        let free = (0..self.rows.len()).filter(|&column| self.rows[column].is_none());
        free.map(|lead| {
            let mut vector = vec![0u64; self.rows.len()];
            vector[lead] = 1;
            for column in lead + 1..vector.len() {
                if let Some(row) = &self.rows[column] {
                    let sum = row[lead..column]
                        .iter()
                        .zip(&vector[lead..column])
                        .filter(|(entry, value)| **entry != 0 && **value != 0)
                        .fold(0, |sum, (&entry, &value)| {
                            (sum + times(entry, value)) % PRIME
                        });
                    vector[column] = (PRIME - sum) % PRIME;
                }
            }
            lift(&vector)
        })
        .collect()
    }
}

fn times(left: u64, right: u64) -> u64 {
    (u128::from(left) * u128::from(right) % u128::from(PRIME)) as u64
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    result
}

/// Lifts a vector modulo the prime to integers, cleared of denominators.
fn lift(vector: &[u64]) -> Option<Vec<i64>> {
    let fractions: Vec<(i64, i64)> = vector
        .iter()
        .map(|&entry| fraction(entry))
        .collect::<Option<_>>()?;
    let mut common = 1i64;
    for &(_, denominator) in &fractions {
        common = (common / gcd(common, denominator)).checked_mul(denominator)?;
    }
    fractions
        .into_iter()
        .map(|(numerator, denominator)| numerator.checked_mul(common / denominator))
        .collect()
}

/// Lifts a residue to a fraction of small terms (Wang's half of Euclid's algorithm).
fn fraction(residue: u64) -> Option<(i64, i64)> {
    let (mut before, mut now) = (i128::from(PRIME), i128::from(residue));
    let (mut factor_before, mut factor) = (0i128, 1i128);
    while now >= i128::from(LIMIT) {
        let quotient = before / now;
        (before, now) = (now, before - quotient * now);
        (factor_before, factor) = (factor, factor_before - quotient * factor);
    }
    if factor == 0 || factor.abs() >= i128::from(LIMIT) {
        return None;
    }
    let sign = factor.signum();
    let (numerator, denominator) = ((now * sign) as i64, (factor * sign) as i64);
    let divisor = gcd(numerator.abs(), denominator).max(1);
    Some((numerator / divisor, denominator / divisor))
}
