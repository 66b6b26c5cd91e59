//! A search, by vertex enumeration, for a conserved one-cell quantity between a form and its value at the start.

use num_integer::gcd;
use num_rational::Ratio;
use num_traits::{CheckedDiv, CheckedMul, CheckedSub, Zero};

use super::linear::{Form, TimeIndex, Var};
use crate::universe::Symbol;

/// The most vertices that are tried.
const MAX_VERTICES: usize = 4096;

type Number = Ratio<i128>;

/// Looks for conserved I with `A <= I` in every cell and `I + B + c <= 0` in every cell that may start.
///
/// Returns `unit >= 1` and the integer form I with `unit * A <= I` and `I + unit * (B + c) <= 0`.
pub(super) fn invariant_between<'a>(
    now: &Form,
    start: &Form,
    constant: i64,
    densities: impl FnOnce() -> &'a [Vec<i64>],
    may_start: &[bool],
) -> Option<(i64, Form)> {
    let symbols = may_start.len();
    let (now, start) = (one_cell(now, symbols)?, one_cell(start, symbols)?);
    let densities = densities();
    let dimension = densities.len();
    // Each constraint says: the sum of coefficient * unknown is at most the limit.
    let mut constraints: Vec<(Vec<i128>, i128)> = Vec::new();
    let column = |symbol: usize, sign: i128| {
        densities
            .iter()
            .map(|density| sign * i128::from(density[symbol]))
            .collect::<Vec<_>>()
    };
    for symbol in 0..symbols {
        constraints.push((column(symbol, -1), -now[symbol]));
        if may_start[symbol] {
            // A ring has at least one cell, and each may pay for the constant.
            let limit = -start[symbol] - i128::from(constant.max(0));
            constraints.push((column(symbol, 1), limit));
        }
    }
    // The densities are independent functions of the symbols, so the solutions hold no line and, if there are any, a vertex.
    let unknowns = vertex(&constraints, dimension)?;
    let mut unit = 1i128;
    for unknown in &unknowns {
        unit = unit.checked_mul(unknown.denom() / gcd(unit, *unknown.denom()))?;
    }
    let mut form = Form::default();
    for symbol in 0..symbols {
        let mut value = 0i128;
        for (unknown, density) in unknowns.iter().zip(densities) {
            let coefficient = unknown.numer().checked_mul(&(unit / unknown.denom()))?;
            value = value.checked_add(coefficient.checked_mul(i128::from(density[symbol]))?)?;
        }
        let var = Var::Cells {
            moment: TimeIndex {
                start: false,
                delay: 0,
            },
            at: vec![(0, symbol as Symbol)],
        };
        form = form.add(i64::try_from(value).ok()?, &Form::var(var))?;
    }
    Some((i64::try_from(unit).ok()?, form))
}

/// Returns the value per symbol of a form that reads single cells only.
fn one_cell(form: &Form, symbols: usize) -> Option<Vec<i128>> {
    let mut values = vec![0i128; symbols];
    for (var, &coefficient) in &form.terms {
        match var {
            Var::Length => {
                for value in &mut values {
                    *value += i128::from(coefficient);
                }
            }
            Var::Cells { moment, at } if moment.delay == 0 => match at.as_slice() {
                [(0, symbol)] => values[usize::from(*symbol)] += i128::from(coefficient),
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(values)
}

/// Finds a point that meets all constraints and lies on as many of them as it has coordinates.
fn vertex(constraints: &[(Vec<i128>, i128)], dimension: usize) -> Option<Vec<Number>> {
    let mut chosen: Vec<usize> = (0..dimension).collect();
    if dimension == 0 || dimension > constraints.len() {
        return None;
    }
    for _ in 0..MAX_VERTICES {
        if let Some(point) = solve(constraints, &chosen)
            && constraints
                .iter()
                .all(|(row, limit)| meets(row, *limit, &point))
        {
            return Some(point);
        }
        // The next choice in order.
        let place = (0..dimension)
            .rev()
            .find(|&place| chosen[place] < constraints.len() - dimension + place)?;
        chosen[place] += 1;
        for later in place + 1..dimension {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
    None
}

fn meets(row: &[i128], limit: i128, point: &[Number]) -> bool {
    let mut rest = Number::from_integer(limit);
    for (coefficient, coordinate) in row.iter().zip(point) {
        let Some(next) = Number::from_integer(*coefficient)
            .checked_mul(coordinate)
            .and_then(|part| rest.checked_sub(&part))
        else {
            return false;
        };
        rest = next;
    }
    rest >= Number::zero()
}

/// Returns the point that lies on all chosen constraints, if there is exactly one.
fn solve(constraints: &[(Vec<i128>, i128)], chosen: &[usize]) -> Option<Vec<Number>> {
    let dimension = chosen.len();
    let mut rows: Vec<Vec<Number>> = chosen
        .iter()
        .map(|&index| {
            let (row, limit) = &constraints[index];
            row.iter()
                .chain(std::iter::once(limit))
                .map(|&entry| Number::from_integer(entry))
                .collect()
        })
        .collect();
    for column in 0..dimension {
        let pivot = (column..dimension).find(|&row| !rows[row][column].is_zero())?;
        rows.swap(column, pivot);
        let lead = rows[column][column];
        for entry in &mut rows[column] {
            *entry = entry.checked_div(&lead)?;
        }
        let pivot = rows[column].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if index != column && !factor.is_zero() {
                for (entry, other) in row.iter_mut().zip(&pivot) {
                    *entry = entry.checked_sub(&factor.checked_mul(other)?)?;
                }
            }
        }
    }
    Some(rows.iter().map(|row| row[dimension]).collect())
}
