//! A finding: one difference between two texts.

use crate::atom::{Atom, Kind};

/// The fate of a commitment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a commitment is gone, new or another one"
)]
pub enum Change {
    /// The decoded text has it no more.
    Lost,
    /// Only the decoded text has it.
    Invented,
    /// The decoded text has another one in its place.
    Changed,
}

impl Change {
    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Invented => "invented",
            Self::Changed => "changed",
        }
    }
}

/// A difference between two texts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the commitment.
    pub kind: Kind,
    /// The fate of it.
    pub change: Change,
    /// Whether it most likely changes the meaning. An operator that is only lost or invented is not critical in a sentence with other
    /// words, for a bare plural may say *all*, an imperative *must*; except a negation, `unless` and `only_if`.
    pub critical: bool,
    /// The atom of the original, unless it is invented.
    pub original: Option<Atom>,
    /// The atom of the decoded text, unless it is lost.
    pub decoded: Option<Atom>,
}

/// A share of the commitments of a kind, each canonical form of an item and each operator counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Share {
    /// The number that the decoded text kept.
    pub kept: usize,
    /// The number in the original, at least 1.
    pub total: usize,
}

/// Whether an operator may not be lost or invented.
pub(super) fn is_strict(atom: &Atom) -> bool {
    atom.kind == Kind::Negation || matches!(&*atom.canonical, "unless" | "only_if")
}

/// Whether a finding is of a word that commits to nothing by itself: its opposite replaced it, or it changed its place.
pub(super) fn is_word(finding: &Finding) -> bool {
    let is_operator = |atom: &Atom| {
        matches!(
            &*atom.canonical,
            "before" | "after" | "first" | "last" | "then"
        )
    };
    match finding.kind {
        Kind::Contrast => true,
        Kind::Order => !finding.original.as_ref().is_some_and(is_operator),
        _ => false,
    }
}

impl Finding {
    pub(super) fn new(kind: Kind, original: Option<&Atom>, decoded: Option<&Atom>) -> Self {
        let change = match (original, decoded) {
            (_, None) => Change::Lost,
            (None, _) => Change::Invented,
            _ => Change::Changed,
        };
        let critical = kind.is_item()
            || kind == Kind::Contrast
            || change == Change::Changed
            || original.or(decoded).is_some_and(is_strict);
        Self {
            kind,
            change,
            critical,
            original: original.cloned(),
            decoded: decoded.cloned(),
        }
    }
}
