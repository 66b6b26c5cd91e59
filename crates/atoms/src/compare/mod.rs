//! The comparison of a text with what another one kept of it.

mod contrast;
mod finding;
mod items;
mod negations;
mod open;
mod operators;
mod parts;
mod verbatim;

use std::collections::BTreeMap;

pub use finding::{Change, Finding, Share};
use finding::{is_strict, is_word};
pub use parts::{Coverage, Fact, cover};

use crate::atom::{Atom, Atoms, Kind, Language};

/// The most atoms and sentences of a text that are compared one by one.
const MOST: usize = 2_000;

/// The most words of a text that are compared one by one.
const MOST_WORDS: usize = 20_000;

/// The most words of a clause.
const MOST_CLAUSE_WORDS: usize = 1_000;

/// The most pairs of operators of one kind.
const MOST_PAIRS: usize = 250_000;

/// The differences between a text and its original.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    findings: Vec<Finding>,
    totals: BTreeMap<Kind, usize>,
    critical_total: usize,
    is_truncated: bool,
    language: Language,
}

/// Compares a decoded text with its original. A text has no finding against itself.
///
/// ```
/// use atoms::{atoms, compare};
///
/// let known = |_: &str| true;
/// let original = atoms("Take 500 mg at most twice.", &known);
/// assert!(compare(&original, &atoms("At most two times, take 0.5 g.", &known)).findings().is_empty());
/// let wrong = compare(&original, &atoms("Take 500 g at most twice.", &known));
/// assert_eq!(wrong.critical_recall(), Some(0.5));
/// ```
pub fn compare(original: &Atoms, decoded: &Atoms) -> Comparison {
    let mut findings = Vec::new();
    let mut totals = BTreeMap::new();
    let sizes = [
        original.all.len(),
        decoded.all.len(),
        original.sentences,
        decoded.sentences,
    ];
    let is_wide = |kind: Kind| original.of(kind).count() * decoded.of(kind).count() > MOST_PAIRS;
    let is_long = |atoms: &Atoms| {
        let clauses = || atoms.clauses.iter().map(|clause| clause.words.len());
        clauses().sum::<usize>() > MOST_WORDS || clauses().any(|words| words > MOST_CLAUSE_WORDS)
    };
    let is_truncated = sizes.iter().any(|size| *size > MOST)
        || is_long(original)
        || is_long(decoded)
        || Kind::ALL
            .into_iter()
            .any(|kind| !kind.is_item() && is_wide(kind));
    let is_english =
        original.language == Language::English && decoded.language == Language::English;
    for kind in Kind::ALL {
        if kind.is_item() {
            if kind != Kind::Name || is_english {
                totals.insert(
                    kind,
                    items::compare(kind, (original, decoded), is_truncated, &mut findings),
                );
            }
        } else if is_english && !is_truncated {
            totals.insert(kind, original.of(kind).count());
        }
    }
    if is_english && !is_truncated && original.text != decoded.text {
        operators::compare(original, decoded, &mut findings);
        contrast::compare(original, decoded, &mut findings);
    }
    for finding in &mut findings {
        finding.critical = finding.critical || verbatim::is_cut(finding, original, decoded);
    }
    findings.sort_by_key(place);
    let items = totals
        .iter()
        .filter(|(kind, _)| kind.is_item())
        .map(|(_, total)| total)
        .sum::<usize>();
    let strict = original
        .all
        .iter()
        .filter(|atom| is_english && is_strict(atom));
    let critical_total = items + strict.count();
    Comparison {
        findings,
        totals,
        critical_total,
        is_truncated,
        language: if is_english {
            Language::English
        } else {
            Language::Unsupported
        },
    }
}

/// By position in the original, then in the decoded text.
fn place(finding: &Finding) -> (bool, usize, usize, Kind) {
    let start = |atom: &Option<Atom>| atom.as_ref().map_or(0, |atom| atom.span.start);
    (
        finding.original.is_none(),
        start(&finding.original),
        start(&finding.decoded),
        finding.kind,
    )
}

impl Comparison {
    /// The differences: by position in the original, then the invented ones by position in the decoded text.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The share of a kind that was kept; `None` if the original has none of it, or it could not be looked for. A word that changed
    /// its place or gave way to its opposite counts in it.
    pub fn recall(&self, kind: Kind) -> Option<Share> {
        let known = self.totals.get(&kind).copied().unwrap_or(0);
        let words = self.gone(|finding| finding.kind == kind && is_word(finding));
        let gone = self.gone(|finding| finding.kind == kind);
        let total = known + words;
        (total > 0).then(|| Share {
            kept: total.saturating_sub(gone),
            total,
        })
    }

    /// The differences that most likely change the meaning.
    pub fn critical(&self) -> impl Iterator<Item = &Finding> + Clone {
        self.findings.iter().filter(|finding| finding.critical)
    }

    /// The share of the critical commitments without a critical finding, 0 to 1; `None` if the original has none, or if
    /// a text was too long. Those are its items, its negations, `unless`, `only_if`, and what else has a critical finding.
    pub fn critical_recall(&self) -> Option<f64> {
        let gone = self.gone(|finding| finding.critical);
        let is_other = |finding: &Finding| {
            !finding.kind.is_item() && !finding.original.as_ref().is_some_and(is_strict)
        };
        let total =
            self.critical_total + self.gone(|finding| finding.critical && is_other(finding));
        (total > 0 && !self.is_truncated).then(|| 1.0 - gone as f64 / total as f64)
    }

    /// The number of commitments that only the decoded text has.
    pub fn invented(&self) -> usize {
        let invented = self
            .findings
            .iter()
            .filter(|finding| finding.change == Change::Invented);
        invented.count()
    }

    /// Whether a text was too long for its operators to be compared: more than 2,000 atoms or sentences, 20,000 words, 1,000 words
    /// without a comma or the end of a sentence, or 250,000 pairs of operators of one kind.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Whether the lists fit both texts.
    pub fn language(&self) -> Language {
        self.language
    }

    fn gone(&self, check: impl Fn(&Finding) -> bool) -> usize {
        let gone = self
            .findings
            .iter()
            .filter(|finding| finding.change != Change::Invented && check(finding));
        gone.count()
    }
}
