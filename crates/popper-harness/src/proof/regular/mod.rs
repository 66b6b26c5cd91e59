//! Proofs by regular sets of rings: a set of short words holds all that occurs in the states of a run, and on the rings of such
//! words no way in which the claim could fail is left.
//!
//! A ring is a closed walk in the graph of [`Windows`](windows::Windows), and an inequality about order, gaps, remainders or small
//! numbers is a finite [`Automaton`](automaton::Automaton) that reads it. [`Walks`](walks::Walks) answers whether a closed walk is
//! accepted and how heavy it is. A [`Conjunction`](conjunction::Conjunction) checks a case of a certificate with it, for the
//! search as well as for the check of a proof.

mod automaton;
mod conjunction;
mod rank;
mod search;
#[cfg(test)]
mod tests;
mod walks;
mod windows;
mod words;

pub(super) use conjunction::{Conjunction, UniverseFacts};
pub(super) use rank::Response;
pub(super) use search::always;

use super::certificate::MAX_EDGES;

/// The widest window, in cells.
const MAX_WIDTH: usize = 9;
/// The longest words of a region.
const MAX_WORD: usize = 4;
/// The most steps after which the region begins.
const MAX_BASE: u64 = 2;
/// The most states of the nodes and automata of a lemma.
const MAX_STATES: usize = 2_000_000;
/// The most steps of walks that a lemma may take.
const MAX_LEMMA: u64 = 2_000_000;
/// The most steps of walks that the search for a proof may take.
pub(super) const MAX_LAW: u64 = 50_000_000;

/// Returns the number of strings of a length, if there are not too many.
fn strings(symbols: usize, length: usize) -> Option<usize> {
    let length = u32::try_from(length).ok()?;
    symbols
        .checked_pow(length)
        .filter(|&count| count <= MAX_EDGES)
}
