//! The mutants of a law: similar laws that the cases should refute.

use crate::law::syntax::Op;
use crate::law::{CellClaim, Claim, Formula, Observable, Program, Symmetry, Term};
use crate::universe::{Symbol, Tabulated, Transform, Universe};

/// The most mutants of one law.
const MOST: usize = 24;

/// Returns mutants of a law in a fixed order.
///
/// A mutant has a flipped operator, a negated consequent, a dropped part, a constant changed by one, or another transform.
pub fn mutants(program: &Program, universe: &Tabulated) -> Vec<Program> {
    let with_claim = claims(&program.claim, universe)
        .into_iter()
        .map(|claim| Program {
            claim,
            ..program.clone()
        });
    let with_observable = program
        .observables
        .iter()
        .enumerate()
        .flat_map(|(index, observable)| {
            observables(observable).into_iter().map(move |mutant| {
                let mut changed = program.clone();
                changed.observables[index] = mutant;
                changed
            })
        });
    with_claim
        .chain(with_observable)
        .filter(|mutant| mutant != program)
        .take(MOST)
        .collect()
}

/// Returns the mutants of a claim.
fn claims(claim: &Claim, universe: &Tabulated) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    match claim {
        Claim::Always {
            antecedent,
            consequent,
            steps,
        } => {
            let build = |antecedent: Option<Formula>, consequent| Claim::Always {
                antecedent,
                consequent,
                steps: *steps,
            };
            let other = negated_or_changed(consequent);
            claims.extend(other.map(|mutant| build(antecedent.clone(), mutant)));
            if let Some(antecedent) = antecedent {
                let other = formulas(antecedent).into_iter();
                claims.extend(other.map(|mutant| build(Some(mutant), consequent.clone())));
                claims.push(build(None, consequent.clone()));
            }
        }
        Claim::Eventually {
            antecedent,
            consequent,
            window,
        } => {
            let build = |antecedent, consequent| Claim::Eventually {
                antecedent,
                consequent,
                window: *window,
            };
            let other = negated_or_changed(consequent);
            claims.extend(other.map(|mutant| build(antecedent.clone(), mutant)));
            let other = formulas(antecedent).into_iter();
            claims.extend(other.map(|mutant| build(mutant, consequent.clone())));
        }
        Claim::Commutes(symmetry) => claims.extend(
            exchanged(symmetry, universe)
                .into_iter()
                .map(Claim::Commutes),
        ),
        Claim::Local(claim) => {
            let symbols = 0..universe.alphabet().len() as Symbol;
            let build = |equal, result| {
                Claim::Local(CellClaim {
                    equal,
                    result,
                    ..*claim
                })
            };
            claims.push(build(!claim.equal, claim.result));
            let others = symbols.filter(|other| *other != claim.result);
            claims.extend(others.map(|other| build(claim.equal, other)));
        }
    }
    claims
}

/// Returns the negation of a formula, then its mutants.
fn negated_or_changed(formula: &Formula) -> impl Iterator<Item = Formula> {
    let negated = Formula::Not(Box::new(formula.clone()));
    std::iter::once(negated).chain(formulas(formula))
}

fn formulas(formula: &Formula) -> Vec<Formula> {
    let pair =
        |left: &Formula, right: &Formula, join: fn(Box<Formula>, Box<Formula>) -> Formula| {
            let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
            let mut mutants = vec![*left.clone(), *right.clone()];
            mutants.extend(
                formulas(&left)
                    .into_iter()
                    .map(|mutant| join(Box::new(mutant), right.clone())),
            );
            mutants.extend(
                formulas(&right)
                    .into_iter()
                    .map(|mutant| join(left.clone(), Box::new(mutant))),
            );
            mutants
        };
    match formula {
        Formula::Cmp(op, left, right) => {
            let mut mutants = vec![Formula::Cmp(flipped(*op), left.clone(), right.clone())];
            mutants.extend(
                terms(left)
                    .into_iter()
                    .map(|mutant| Formula::Cmp(*op, mutant, right.clone())),
            );
            mutants.extend(
                terms(right)
                    .into_iter()
                    .map(|mutant| Formula::Cmp(*op, left.clone(), mutant)),
            );
            mutants
        }
        Formula::Not(inner) => {
            let mut mutants = vec![*inner.clone()];
            mutants.extend(
                formulas(inner)
                    .into_iter()
                    .map(|mutant| Formula::Not(Box::new(mutant))),
            );
            mutants
        }
        Formula::And(left, right) => pair(left, right, Formula::And),
        Formula::Or(left, right) => pair(left, right, Formula::Or),
        Formula::Implies(left, right) => pair(left, right, Formula::Implies),
    }
}

fn flipped(op: Op) -> Op {
    match op {
        Op::Eq => Op::Ne,
        Op::Ne => Op::Eq,
        other => other.mirrored(),
    }
}

fn terms(term: &Term) -> Vec<Term> {
    match term {
        Term::Int(number) => neighbours(*number).into_iter().map(Term::Int).collect(),
        Term::Step | Term::Obs(..) => Vec::new(),
        Term::Neg(inner) => vec![*inner.clone()],
        Term::Bin(op, left, right) => {
            let mut mutants = vec![*left.clone(), *right.clone()];
            mutants.extend(
                terms(left)
                    .into_iter()
                    .map(|mutant| Term::Bin(*op, Box::new(mutant), right.clone())),
            );
            mutants.extend(
                terms(right)
                    .into_iter()
                    .map(|mutant| Term::Bin(*op, left.clone(), Box::new(mutant))),
            );
            mutants
        }
    }
}

fn observables(observable: &Observable) -> Vec<Observable> {
    match observable {
        Observable::Int(number) => neighbours(*number)
            .into_iter()
            .map(Observable::Int)
            .collect(),
        Observable::Neg(inner) => vec![*inner.clone()],
        Observable::Bin(op, left, right) => {
            let mut mutants = vec![*left.clone(), *right.clone()];
            let left_mutants = observables(left).into_iter();
            mutants.extend(
                left_mutants.map(|mutant| Observable::Bin(*op, Box::new(mutant), right.clone())),
            );
            let right_mutants = observables(right).into_iter();
            mutants.extend(
                right_mutants.map(|mutant| Observable::Bin(*op, left.clone(), Box::new(mutant))),
            );
            mutants
        }
        _ => Vec::new(),
    }
}

fn neighbours(number: i64) -> Vec<i64> {
    [number.checked_add(1), number.checked_sub(1)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns other transforms: those of the universe, the reversal, and exchanges of two neighbouring symbols.
fn exchanged(symmetry: &Symmetry, universe: &Tabulated) -> Vec<Symmetry> {
    let symbols = universe.alphabet().len() as Symbol;
    let identity: Vec<Symbol> = (0..symbols).collect();
    let made = |name: &str, reverse, map| Transform {
        name: name.into(),
        reverse,
        map,
    };
    let mut others: Vec<Transform> = universe.transforms().to_vec();
    others.push(made("turned_round", true, identity.clone()));
    for symbol in 1..symbols {
        let mut map = identity.clone();
        map.swap(usize::from(symbol) - 1, usize::from(symbol));
        others.push(made("exchanged", false, map));
    }
    others
        .into_iter()
        .map(Symmetry::Named)
        .filter(|other| other != symmetry)
        .collect()
}
