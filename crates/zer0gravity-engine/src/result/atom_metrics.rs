//! The atoms of a pair of texts, as a result holds them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use atoms::{Atom, Comparison, Finding, Kind, LISTS};
use serde::{Deserialize, Serialize};

use crate::judge::number::rounded;
use crate::metrics::compare_atoms;
use crate::text::Lexicon;
use crate::text::hash::sha256_hex;

/// The most findings that a result lists.
const MOST_FINDINGS: usize = 50;

/// The most characters of an atom that a result lists.
const MOST_CHARACTERS: usize = 120;

static LISTS_SHA256: LazyLock<String> = LazyLock::new(|| {
    let lists = LISTS.map(|(name, list)| format!("{name}\0{list}\0"));
    // The common words decide what is a name.
    sha256_hex((lists.concat() + Lexicon::english().sha256()).as_bytes())
});

/// The commitments of the original that the decoded text kept, lost, changed or invented. Found by word lists, without a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AtomMetrics {
    /// The kept share of critical atoms, 0 to 1, four decimals; `None` if the original has none.
    #[serde(with = "crate::judge::number::plain_option")]
    pub critical_recall: Option<f64>,
    /// The number of atoms that only the decoded text has.
    pub invented: usize,
    /// The numbers of each kind that one of the texts has, by its name in lower case. `contrast` has the words that gave way to their
    /// opposite, `order` also those that changed their places: each is one of the total, and not kept.
    pub by_kind: BTreeMap<Cow<'static, str>, KindMetrics>,
    /// The differences, critical ones first; a result has at most 50.
    pub findings: Vec<AtomFinding>,
    /// `english`, or `unsupported` where only identifiers, numbers and dates in digits were compared.
    pub language: Cow<'static, str>,
    /// The SHA-256 of the word lists and of the common words in hex.
    pub lists_sha256: Cow<'static, str>,
    /// Whether a text was too long for its operators to be compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The numbers of one kind of atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KindMetrics {
    /// The atoms of the original that the decoded text kept.
    pub kept: usize,
    /// The atoms of the original.
    pub total: usize,
    /// The atoms that only the decoded text has.
    pub invented: usize,
}

/// A difference between the two texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AtomFinding {
    /// The kind of the atom, such as `negation`.
    pub kind: Cow<'static, str>,
    /// `lost`, `invented` or `changed`.
    pub change: Cow<'static, str>,
    /// Whether it most likely changes the meaning.
    pub critical: bool,
    /// The atom of the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<AtomText>,
    /// The atom of the decoded text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded: Option<AtomText>,
}

/// An atom in its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AtomText {
    /// The first 120 characters of the atom as written.
    pub text: String,
    /// The first byte of the atom in its text, and the byte after it.
    pub span: [usize; 2],
}

impl AtomMetrics {
    /// Compares the commitments of a decoded text with those of its original, and lists all differences; those of a result are cut
    /// to 50.
    pub fn of(original: &str, decoded: &str) -> Self {
        Self::with(
            &compare_atoms(original, decoded),
            original,
            decoded,
            usize::MAX,
        )
    }

    /// The numbers of `comparison`, with the words of the two texts that were compared, as a result holds them.
    pub(super) fn in_result(comparison: &Comparison, original: &str, decoded: &str) -> Self {
        Self::with(comparison, original, decoded, MOST_FINDINGS)
    }

    fn with(comparison: &Comparison, original: &str, decoded: &str, most: usize) -> Self {
        let findings = comparison.findings();
        let numbers = |kind: Kind| {
            let share = comparison.recall(kind);
            let is_invented =
                |it: &&Finding| it.kind == kind && it.change == atoms::Change::Invented;
            KindMetrics {
                kept: share.map_or(0, |share| share.kept),
                total: share.map_or(0, |share| share.total),
                invented: findings.iter().filter(is_invented).count(),
            }
        };
        let by_kind = Kind::ALL.map(|kind| (Cow::Borrowed(kind.name()), numbers(kind)));
        let some = by_kind
            .into_iter()
            .filter(|(_, it)| *it != KindMetrics::default());
        let critical = comparison.critical();
        let others = findings.iter().filter(|finding| !finding.critical);
        let listed = critical.chain(others).take(most);
        Self {
            critical_recall: comparison.critical_recall().map(|share| rounded(share, 4)),
            invented: comparison.invented(),
            by_kind: some.collect(),
            findings: listed
                .map(|finding| AtomFinding::of(finding, original, decoded))
                .collect(),
            language: Cow::Borrowed(comparison.language().name()),
            lists_sha256: Cow::Borrowed(LISTS_SHA256.as_str()),
            truncated: comparison.is_truncated(),
        }
    }
}

impl AtomFinding {
    fn of(finding: &Finding, original: &str, decoded: &str) -> Self {
        let text = |atom: &Option<Atom>, text| atom.as_ref().map(|atom| AtomText::of(atom, text));
        Self {
            kind: Cow::Borrowed(finding.kind.name()),
            change: Cow::Borrowed(finding.change.name()),
            critical: finding.critical,
            original: text(&finding.original, original),
            decoded: text(&finding.decoded, decoded),
        }
    }
}

impl AtomText {
    /// The words of an atom of `text`.
    pub fn of(atom: &Atom, text: &str) -> Self {
        let said = text.get(atom.span.clone()).unwrap_or_default();
        Self {
            text: said.chars().take(MOST_CHARACTERS).collect(),
            span: [atom.span.start, atom.span.end],
        }
    }
}
