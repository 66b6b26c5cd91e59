//! The space of conserved quantities, its basis in the observable language, and coordinates in it.

use num_integer::gcd;
use num_rational::Ratio;
use num_traits::{CheckedDiv as _, CheckedMul as _, CheckedSub as _};
use serde::Serialize;

use super::algebra::{self, Columns, MAX_EDGES, MAX_UNKNOWNS};
use crate::law::{Arith, Cells, Observable};
use crate::universe::{Rule, Symbol, Tabulated, Universe};

/// A reason why the conserved quantities are not computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpanError {
    /// The window has no cell.
    #[error("the window must be at least 1 cell wide")]
    ZeroWidth,
    /// The linear system would be too large.
    #[error(
        "windows of {width} cells are too wide for {symbols} symbols and radius {radius}: \
         {edges} windows (at most {MAX_EDGES}), {unknowns} unknowns (at most {MAX_UNKNOWNS})"
    )]
    TooLarge {
        /// The requested width, in cells.
        width: usize,
        /// The number of symbols of the universe.
        symbols: usize,
        /// The radius of its rule.
        radius: usize,
        /// `symbols^(width + 2 * radius)`, or the largest number where that does not fit.
        edges: usize,
        /// The number of coefficients that would have to be found.
        unknowns: usize,
    },
    /// The coefficients of a conserved quantity are beyond 2^29.
    #[error("a conserved quantity has coefficients too large to be lifted")]
    Coefficients,
}

/// The additive conserved quantities of a universe up to a window width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConservedSpace {
    /// The id of the universe.
    pub universe: String,
    /// The `definition_hash` of the universe.
    pub sim_hash: String,
    /// The window width.
    pub width: usize,
    /// The number of independent quantities; at least 1, since the number of cells is conserved.
    pub dimension: usize,
    /// A basis in reduced echelon form, short patterns first.
    pub basis: Vec<Quantity>,
    #[serde(skip)]
    vectors: Vec<Vec<i64>>,
    #[serde(skip)]
    rule: Rule,
}

/// A conserved quantity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Quantity {
    /// The quantity as an observable, such as `count('>') + count('X')`.
    pub expr: String,
    /// The patterns (empty for the number of cells) with their coefficients; no coefficient is 0, the first is positive.
    pub terms: Vec<(String, i64)>,
}

/// Computes the additive conserved quantities of a universe over windows of `width` cells or fewer.
///
/// ```
/// use popper_harness::{conserved::span, universe::KineticGrid};
///
/// let span = span(&KineticGrid, 1)?;
/// let basis: Vec<&str> = span.basis.iter().map(|quantity| quantity.expr.as_str()).collect();
/// assert_eq!(basis, ["grid_length", "count('>') + count('X')", "count('<') + count('X')"]);
/// # Ok::<(), popper_harness::conserved::SpanError>(())
/// ```
///
/// # Errors
/// [`SpanError`] when `width` is 0 or `symbols^(width + 2 * radius)` is beyond 70,000 (or the unknowns beyond 1024).
pub fn span(universe: &Tabulated, width: usize) -> Result<ConservedSpace, SpanError> {
    if width == 0 {
        return Err(SpanError::ZeroWidth);
    }
    let alphabet = universe.alphabet();
    let (symbols, radius) = (alphabet.len(), universe.radius());
    let power = |exponent: usize| {
        u32::try_from(exponent)
            .ok()
            .and_then(|exponent| symbols.checked_pow(exponent))
            .unwrap_or(usize::MAX)
    };
    let edges = power(width.saturating_add(2 * radius));
    let unknowns = (symbols - 1)
        .saturating_mul(power(width - 1))
        .saturating_add(1);
    // A single symbol makes every power 1, so the width itself is bounded too.
    if edges > MAX_EDGES || unknowns > MAX_UNKNOWNS || width > MAX_UNKNOWNS {
        return Err(SpanError::TooLarge {
            width,
            symbols,
            radius,
            edges,
            unknowns,
        });
    }
    let rule = universe.rule();
    let columns = Columns::new(symbols, width);
    let vectors = algebra::conserved(rule, &columns)?;
    let basis: Vec<Quantity> = vectors
        .iter()
        .map(|vector| {
            let terms: Vec<(String, i64)> = columns
                .patterns
                .iter()
                .zip(vector)
                .filter(|(_, coefficient)| **coefficient != 0)
                .map(|(pattern, &coefficient)| (alphabet.text(pattern), coefficient))
                .collect();
            Quantity {
                expr: expression(&terms),
                terms,
            }
        })
        .collect();
    Ok(ConservedSpace {
        universe: universe.id().into(),
        sim_hash: universe.definition_hash(),
        width,
        dimension: basis.len(),
        basis,
        vectors,
        rule: rule.clone(),
    })
}

/// Returns the conserved one-cell quantities as densities, a value per symbol; empty if they are too many to compute.
pub(crate) fn densities(rule: &Rule) -> Vec<Vec<i64>> {
    let columns = Columns::new(rule.symbols(), 1);
    let vectors = algebra::conserved(rule, &columns).unwrap_or_default();
    vectors
        .iter()
        .map(|vector| {
            // Column 0 is the number of cells, column s the count of symbol s; the first symbol has none of its own.
            (0..rule.symbols())
                .map(|symbol| vector[0] + if symbol == 0 { 0 } else { vector[symbol] })
                .collect()
        })
        .collect()
}

fn expression(terms: &[(String, i64)]) -> String {
    let mut text = String::new();
    for (pattern, coefficient) in terms {
        text += match (text.is_empty(), *coefficient < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        if coefficient.abs() != 1 {
            text += &coefficient.abs().to_string();
            text.push('*');
        }
        let quote = if pattern.contains('\'') { '"' } else { '\'' };
        let counted = match pattern.chars().count() {
            0 => "grid_length".into(),
            1 => format!("count({quote}{pattern}{quote})"),
            _ => format!("count_pattern({quote}{pattern}{quote})"),
        };
        text += &counted;
    }
    text
}

impl ConservedSpace {
    /// Returns an observable as a combination of the basis, up to a constant: one integer for each entry of
    /// [`basis`](Self::basis).
    ///
    /// All coordinates are multiplied by the least positive number that makes them integers. The first one belongs to the
    /// number of cells.
    ///
    /// `None` for an observable that is not additive, such as `leftmost`, a product or a remainder: only sums of ring-wide
    /// pattern counts, `incoming_collisions` and `grid_length` with integer coefficients are. `None` also if its windows are
    /// wider than [`width`](Self::width) after sums that are zero on every ring are removed, or if a coordinate needs more
    /// than 64 bits.
    pub fn coordinates(&self, observable: &Observable) -> Option<Vec<i64>> {
        let columns = Columns::new(self.rule.symbols(), self.width);
        let mut vector = Vector {
            rule: &self.rule,
            columns: &columns,
            inside: vec![0; columns.patterns.len()],
            outside: std::collections::BTreeMap::new(),
        };
        vector.add(observable, 1)?;
        if vector.outside.values().any(|&entry| entry != 0) {
            return None;
        }
        // Each basis vector leads where all others are 0, so the entry there says how much of it is in the sum.
        let mut rest: Vec<Ratio<i128>> = vector.inside.into_iter().map(Ratio::from).collect();
        let mut shares = Vec::with_capacity(self.vectors.len());
        for basis in &self.vectors {
            let lead = basis.iter().position(|&entry| entry != 0)?;
            let share = rest[lead].checked_div(&i128::from(basis[lead]).into())?;
            for (entry, &other) in rest.iter_mut().zip(basis) {
                if other != 0 {
                    *entry = entry.checked_sub(&share.checked_mul(&i128::from(other).into())?)?;
                }
            }
            shares.push(share);
        }
        if rest.iter().any(|entry| *entry.numer() != 0) {
            return None;
        }
        let common = shares.iter().try_fold(1i128, |common, share| {
            (common / gcd(common, *share.denom())).checked_mul(*share.denom())
        })?;
        let whole = |share: &Ratio<i128>| {
            let whole = share.numer().checked_mul(&(common / share.denom()))?;
            i64::try_from(whole).ok()
        };
        shares.iter().map(whole).collect()
    }
}

/// A local sum by columns, with the patterns that have no column.
struct Vector<'a> {
    rule: &'a Rule,
    columns: &'a Columns,
    inside: Vec<i128>,
    outside: std::collections::BTreeMap<Vec<Symbol>, i128>,
}

impl Vector<'_> {
    fn add(&mut self, observable: &Observable, factor: i64) -> Option<()> {
        match observable {
            Observable::Int(_) => Some(()),
            Observable::GridLength => self.pattern(&[], factor),
            Observable::Count(pattern) if pattern.cells == Cells::Ring => {
                let contiguous = pattern
                    .at
                    .iter()
                    .enumerate()
                    .all(|(place, at)| at.0 == place);
                let symbols: Vec<Symbol> = pattern.at.iter().map(|at| at.1).collect();
                contiguous.then(|| self.pattern(&symbols, factor))?
            }
            Observable::Incoming(symbol) => {
                let windows: Vec<_> = self
                    .rule
                    .windows()
                    .filter(|(_, next)| next == symbol)
                    .map(|(window, _)| window)
                    .collect();
                windows
                    .iter()
                    .try_for_each(|window| self.pattern(window, factor))
            }
            Observable::Neg(inner) => self.add(inner, factor.checked_neg()?),
            Observable::Bin(Arith::Add, left, right) => {
                self.add(left, factor)?;
                self.add(right, factor)
            }
            Observable::Bin(Arith::Sub, left, right) => {
                self.add(left, factor)?;
                self.add(right, factor.checked_neg()?)
            }
            Observable::Bin(Arith::Mul, left, right) => match (constant(left), constant(right)) {
                (Some(number), _) => self.add(right, factor.checked_mul(number)?),
                (_, Some(number)) => self.add(left, factor.checked_mul(number)?),
                _ => None,
            },
            _ => None,
        }
    }

    /// Adds the count of a pattern.
    ///
    /// A pattern that begins or ends with the first symbol is the shorter pattern less those with any other symbol there. This
    /// leaves only patterns that have a column, or are too long for one.
    fn pattern(&mut self, pattern: &[Symbol], factor: i64) -> Option<()> {
        let rest = match pattern {
            [0, rest @ ..] => Some((rest, true)),
            [rest @ .., 0] => Some((rest, false)),
            _ => None,
        };
        if let Some((rest, first)) = rest {
            self.pattern(rest, factor)?;
            for symbol in 1..self.rule.symbols() as Symbol {
                let longer: Vec<Symbol> = if first {
                    std::iter::once(symbol)
                        .chain(rest.iter().copied())
                        .collect()
                } else {
                    rest.iter()
                        .copied()
                        .chain(std::iter::once(symbol))
                        .collect()
                };
                self.pattern(&longer, factor.checked_neg()?)?;
            }
            return Some(());
        }
        let entry = match self.columns.of(pattern) {
            Some(column) => &mut self.inside[column],
            None => self.outside.entry(pattern.to_vec()).or_default(),
        };
        *entry = entry.checked_add(i128::from(factor))?;
        Some(())
    }
}

fn constant(observable: &Observable) -> Option<i64> {
    match observable {
        Observable::Int(number) => Some(*number),
        Observable::Neg(inner) => constant(inner)?.checked_neg(),
        _ => None,
    }
}
