//! Operators that were cut out of a sentence whose other words are all there.

use std::collections::BTreeSet;

use super::{Change, Finding};
use crate::atom::Atoms;

/// The most words around the operator that may be gone with it, or be new in its place.
const MOST_CUT: usize = 5;
const MOST_NEW: usize = 2;

/// Whether an operator that is only lost is all that two sentences differ in.
pub(super) fn is_cut(finding: &Finding, with: &Atoms, without: &Atoms) -> bool {
    let Some(atom) = finding
        .original
        .as_ref()
        .filter(|_| finding.change == Change::Lost)
    else {
        return false;
    };
    if atom.canonical == "will" {
        // `They will leave at 8` and `they leave at 8` say the same.
        return false;
    }
    let clause = &with.clauses[atom.clause];
    let whole: Vec<&str> = with.sentence(clause.sentence).collect();
    let near = without
        .clauses
        .iter()
        .filter(|other| !clause.stems.is_disjoint(&other.stems));
    let numbers: BTreeSet<_> = near.map(|other| other.sentence).collect();
    numbers.into_iter().any(|number| {
        let rest: Vec<&str> = without.sentence(number).collect();
        let before = whole
            .iter()
            .zip(&rest)
            .take_while(|(one, other)| one == other)
            .count();
        let most = whole.len().min(rest.len()) - before;
        let pairs = whole.iter().rev().zip(rest.iter().rev());
        let after = pairs
            .take(most)
            .take_while(|(one, other)| one == other)
            .count();
        let (gone, new) = (whole.len() - before - after, rest.len() - before - after);
        gone > 0 && gone <= MOST_CUT && new <= MOST_NEW
    })
}
