//! The window graph, whose edges are the windows of a width, and the search for potentials.

use super::certificate::{Lemma, MAX_EDGES};
use super::fuel::Fuel;
use super::linear::{Form, Var};
use crate::universe::{Rule, Symbol};

/// A pattern count in a form: the number of steps later, the pattern, and the coefficient.
type WeightedPattern<'a> = (usize, &'a [(usize, Symbol)], i64);

/// Searches for a lemma that a local form is never positive in states of the given symbols.
///
/// The form is read at the running step and later. `None` if no lemma exists within the limits.
pub(super) fn never_positive(
    form: &Form,
    rule: &Rule,
    symbols: &[Symbol],
    fuel: &Fuel<'_>,
) -> Option<Lemma> {
    let weights = weights(form, rule, symbols, fuel)?;
    let nodes = weights.len() / symbols.len();
    let scaled = |scale: i64, slack: i64| {
        let weights: Vec<i64> = weights
            .iter()
            .map(|weight| weight.checked_mul(scale)?.checked_add(slack))
            .collect::<Option<_>>()?;
        Some(Lemma {
            scale,
            slack,
            potentials: potentials(&weights, nodes, symbols.len(), fuel)?,
        })
    };
    match form.constant {
        ..=0 => scaled(1, 0),
        // Every cell may pay for the constant, or, where it is 1, every cycle: none has more cells than there are nodes.
        1 => scaled(1, 1).or_else(|| scaled(nodes as i64, 1)),
        constant => scaled(1, constant),
    }
}

/// Returns the weight of every window, in symbol order.
fn weights(form: &Form, rule: &Rule, symbols: &[Symbol], fuel: &Fuel<'_>) -> Option<Vec<i64>> {
    let width = form.width(rule.radius())?;
    let edges = symbols
        .len()
        .checked_pow(u32::try_from(width).ok()?)
        .filter(|&edges| edges <= MAX_EDGES)?;
    fuel.take(edges)?;
    let mut per_cell = 0i64;
    let mut counts: Vec<WeightedPattern<'_>> = Vec::with_capacity(form.terms.len());
    for (var, &coefficient) in &form.terms {
        match var {
            Var::Length => per_cell = per_cell.checked_add(coefficient)?,
            Var::Cells { moment, at } if !moment.start => {
                counts.push((moment.delay as usize, at, coefficient));
            }
            _ => return None,
        }
    }
    let steps = counts.iter().map(|(delay, ..)| *delay).max().unwrap_or(0);
    let mut levels: Vec<Vec<Symbol>> = (0..=steps)
        .map(|step| vec![0; width - 2 * rule.radius() * step])
        .collect();
    let mut digits = vec![0usize; width];
    let mut weights = Vec::with_capacity(edges);
    for _ in 0..edges {
        for (cell, &digit) in levels[0].iter_mut().zip(&digits) {
            *cell = symbols[digit];
        }
        for step in 1..=steps {
            let (before, after) = levels.split_at_mut(step);
            for (cell, seen) in after[0]
                .iter_mut()
                .zip(before[step - 1].windows(2 * rule.radius() + 1))
            {
                *cell = rule.next(seen);
            }
        }
        let mut weight = per_cell;
        for (delay, at, coefficient) in &counts {
            if at
                .iter()
                .all(|(offset, symbol)| levels[*delay][*offset] == *symbol)
            {
                weight = weight.checked_add(*coefficient)?;
            }
        }
        weights.push(weight);
        // The next window in symbol order: the last place turns fastest.
        for digit in digits.iter_mut().rev() {
            *digit += 1;
            if *digit < symbols.len() {
                break;
            }
            *digit = 0;
        }
    }
    Some(weights)
}

/// Returns the greatest weight of a walk from the first node to each node, if no cycle is positive (Bellman and Ford).
fn potentials(weights: &[i64], nodes: usize, symbols: usize, fuel: &Fuel<'_>) -> Option<Vec<i64>> {
    let mut best = vec![i64::MIN; nodes];
    best[0] = 0;
    for _ in 0..=nodes {
        fuel.take(weights.len())?;
        let mut changed = false;
        for source in 0..nodes {
            if best[source] == i64::MIN {
                continue;
            }
            // Edge `source symbol` leads to the string without its first symbol.
            let edges = &weights[source * symbols..(source + 1) * symbols];
            let first = source * symbols % nodes;
            for (symbol, &weight) in edges.iter().enumerate() {
                let reached = best[source].checked_add(weight)?;
                // Under windows of one cell there is one node, else `first` is a multiple of the number of symbols.
                let known = &mut best[(first + symbol) % nodes];
                if reached > *known {
                    *known = reached;
                    changed = true;
                }
            }
        }
        // The graph is strongly connected, so every positive cycle sooner or later raises the first node.
        if best[0] > 0 {
            return None;
        }
        if !changed {
            return Some(best);
        }
    }
    None
}
