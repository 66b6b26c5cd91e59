//! Negations: what is left of them after the matching by clauses.

use std::collections::HashSet;

use super::Finding;
use super::contrast::{denied, opposites_of};
use super::open::{Open, Pair};
use crate::atom::{Atoms, Clause, Kind};
use crate::lists::IMPLIED;

/// Removes the negations that are said twice, that cancel each other, or that the other text says in other words.
pub(super) fn excuse(open: &mut Pair<'_>) {
    let (original, decoded) = (open.original.atoms, open.decoded.atoms);
    for (side, other) in [(&mut open.original, decoded), (&mut open.decoded, original)] {
        for place in side.places.clone() {
            if is_repeated(side.atoms, place) {
                side.remove(place);
            } else if is_implied(side.atoms, place, other) {
                side.trade(place);
            }
        }
        cancel(side, other);
    }
}

/// Reports the negations without a match.
pub(super) fn compare(mut open: Pair<'_>, findings: &mut Vec<Finding>) {
    let (original, decoded) = (open.original.atoms, open.decoded.atoms);
    let pairs: Vec<_> = open
        .original
        .places
        .iter()
        .copied()
        .zip(open.decoded.places.iter().copied())
        .collect();
    for (one, other) in pairs {
        open.original.remove(one);
        open.decoded.remove(other);
        if is_moved(original, decoded, other) || is_moved(decoded, original, one) {
            findings.push(open.changed(one, other));
        }
    }
    findings.extend(open.rest());
}

/// Words of a sentence that says two negations by none: *all visitors must*.
const POSITIVE: [&str; 8] = [
    "all", "every", "each", "always", "must", "only", "required", "has",
];

/// Removes two negations of one sentence, the second by *without*, where the other text says both by none.
fn cancel(open: &mut Open<'_>, other: &Atoms) {
    let places: Vec<_> = open.places.iter().copied().collect();
    for pair in places.windows(2) {
        let is_open = pair.iter().all(|place| open.places.contains(place));
        let is_double = open.sentence(pair[0]) == open.sentence(pair[1])
            && open.atoms.words_of(pair[1]).any(|word| word == "without");
        let stems = &open.atoms.clause_of(pair[1]).stems;
        let is_said = |clause: &Clause| {
            let words = &clause.words;
            !clause.stems.is_disjoint(stems) && words.iter().any(|word| POSITIVE.contains(&&**word))
        };
        if is_open && is_double && other.clauses.iter().any(is_said) {
            open.trade(pair[0]);
            open.trade(pair[1]);
        }
    }
}

/// Whether a sentence says a negation of the same thing a second time.
fn is_repeated(atoms: &Atoms, place: usize) -> bool {
    let clause = atoms.clause_of(place);
    let earlier = atoms
        .of(Kind::Negation)
        .take_while(|(other, _)| *other < place);
    let mut earlier: Vec<_> = earlier.map(|(_, atom)| atom.clause).collect();
    earlier.dedup();
    earlier.into_iter().any(|other| {
        let other = &atoms.clauses[other];
        if std::ptr::eq(clause, other) {
            return false;
        }
        let shared = clause.stems.intersection(&other.stems).count();
        shared * 10 >= clause.stems.len() * 6 && shared > 1
    })
}

/// Whether the other text says a negation by a word that this one has not: *kept closed*, *painless*, *unopened*.
fn is_implied(atoms: &Atoms, place: usize, other: &Atoms) -> bool {
    let stems = &atoms.clause_of(place).stems;
    let sentence = atoms.clause_of(place).sentence;
    let own: HashSet<_> = atoms.sentence(sentence).collect();
    let denies = |word: &str| {
        word.ends_with("less") && word.len() > 6
            || IMPLIED.contains(word)
            || denied(word)
                .chain(opposites_of(word))
                .any(|it| own.contains(it))
    };
    // `No hatch is left unsecured`
    let new = own.iter().filter(|word| !other.words.contains(**word));
    let new = new.flat_map(|word| denied(word));
    let said: Vec<_> = new.filter(|word| other.words.contains(*word)).collect();
    let mut near = other
        .clauses
        .iter()
        .filter(|clause| !clause.stems.is_disjoint(stems));
    near.any(|clause| {
        let mut words = clause.words.iter();
        words.any(|word| !atoms.words.contains(word) && denies(word) || said.contains(&&**word))
    })
}

/// Whether a negation is said of what a clause of the other text says without one.
fn is_moved(other: &Atoms, atoms: &Atoms, place: usize) -> bool {
    let stems = &atoms.clause_of(place).stems;
    let is_denied = |number: usize| {
        other
            .of(Kind::Negation)
            .any(|(_, atom)| atom.clause == number)
    };
    other.clauses.iter().enumerate().any(|(number, clause)| {
        let shared = clause.stems.intersection(stems).count();
        shared > 0
            && shared >= stems.len().min(2)
            && shared * 2 >= stems.len()
            && !is_denied(number)
    })
}
