//! The operators of one kind that have no match yet.

use std::collections::BTreeSet;

use super::Finding;
use crate::atom::{Atom, Atoms, Kind};

/// The open operators of one text, by their place among its atoms.
pub(super) struct Open<'a> {
    pub(super) atoms: &'a Atoms,
    pub(super) places: BTreeSet<usize>,
    /// Operators that the other text says in another way.
    traded: Vec<usize>,
}

impl<'a> Open<'a> {
    fn of(atoms: &'a Atoms, kind: Kind) -> Self {
        Self {
            atoms,
            places: atoms.of(kind).map(|(place, _)| place).collect(),
            traded: Vec::new(),
        }
    }

    pub(super) fn atom(&self, place: usize) -> &'a Atom {
        &self.atoms.all[place]
    }

    pub(super) fn sentence(&self, place: usize) -> usize {
        self.atoms.clause_of(place).sentence
    }

    pub(super) fn remove(&mut self, place: usize) {
        self.places.remove(&place);
    }

    /// Removes what the other text says in another way.
    pub(super) fn trade(&mut self, place: usize) {
        self.remove(place);
        self.traded.push(place);
    }

    /// Removes the first one of a sentence, if it has one.
    pub(super) fn remove_in(&mut self, sentence: usize) -> bool {
        let found = self
            .places
            .iter()
            .copied()
            .find(|place| self.sentence(*place) == sentence);
        if let Some(place) = found {
            self.trade(place);
        }
        found.is_some()
    }

    /// Whether an atom is in a clause in which one was traded.
    pub(super) fn is_traded(&self, place: usize) -> bool {
        let clause = self.atom(place).clause;
        self.traded
            .iter()
            .any(|traded| self.atom(*traded).clause == clause)
    }
}

/// The open operators of an original and of its decoded text.
pub(super) struct Pair<'a> {
    pub(super) original: Open<'a>,
    pub(super) decoded: Open<'a>,
}

impl<'a> Pair<'a> {
    pub(super) fn of(original: &'a Atoms, decoded: &'a Atoms, kind: Kind) -> Self {
        Self {
            original: Open::of(original, kind),
            decoded: Open::of(decoded, kind),
        }
    }

    /// The number of stems that the clauses of two atoms share.
    pub(super) fn shared(&self, one: usize, other: usize) -> usize {
        let (ours, theirs) = (
            self.original.atoms.clause_of(one),
            self.decoded.atoms.clause_of(other),
        );
        ours.stems.intersection(&theirs.stems).count()
    }

    pub(super) fn changed(&self, one: usize, other: usize) -> Finding {
        let (original, decoded) = (self.original.atom(one), self.decoded.atom(other));
        Finding::new(original.kind, Some(original), Some(decoded))
    }

    /// Reports the others as lost and invented.
    pub(super) fn rest(&self) -> Vec<Finding> {
        let lost = self
            .original
            .places
            .iter()
            .map(|place| self.original.atom(*place));
        let lost = lost.map(|atom| Finding::new(atom.kind, Some(atom), None));
        let invented = self
            .decoded
            .places
            .iter()
            .map(|place| self.decoded.atom(*place));
        let invented = invented.map(|atom| Finding::new(atom.kind, None, Some(atom)));
        lost.chain(invented).collect()
    }
}
