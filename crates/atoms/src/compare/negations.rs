//! Negations: what is left of them after the matching by clauses.

use super::Finding;
use super::contrast::is_denial;
use super::open::{Open, Pair};
use crate::atom::{Atoms, Clause, Kind};
use crate::lists::{IMPLIED, OPPOSITE};

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
    let mut earlier = atoms
        .of(Kind::Negation)
        .take_while(|(other, _)| *other < place);
    earlier.any(|(other, _)| {
        let other = atoms.clause_of(other);
        let shared = clause.stems.intersection(&other.stems).count();
        !std::ptr::eq(clause, other) && shared * 10 >= clause.stems.len() * 6 && shared > 1
    })
}

/// Whether the other text says a negation by a word that this one has not: *kept closed*, *painless*, *unopened*.
fn is_implied(atoms: &Atoms, place: usize, other: &Atoms) -> bool {
    let stems = &atoms.clause_of(place).stems;
    let sentence = atoms.clause_of(place).sentence;
    let denies = |word: &str| {
        word.ends_with("less") && word.len() > 6
            || IMPLIED.contains(word)
            || atoms
                .sentence(sentence)
                .any(|it| is_denial(word, it) || OPPOSITE.contains(&(word, it)))
    };
    let mut near = other
        .clauses
        .iter()
        .filter(|clause| !clause.stems.is_disjoint(stems));
    near.any(|clause| {
        let mut words = clause.words.iter();
        // `No hatch is left unsecured`
        let mut own = atoms
            .sentence(sentence)
            .filter(|word| !other.words.contains(*word));
        words.any(|word| !atoms.words.contains(word) && denies(word))
            || own.any(|word| clause.words.iter().any(|it| is_denial(word, it)))
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
