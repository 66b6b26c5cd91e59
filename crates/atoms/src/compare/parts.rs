//! A text compared with the parts that it was made of: a summary with its entries.

use std::collections::HashSet;
use std::ops::Range;
use std::slice::from_ref;

use super::MOST;
use super::contrast::{denied, opposites_of};
use super::items::{Side, is_one, is_verbatim};
use crate::atom::{Atom, Atoms, Clause, Kind, Language, Lexicon};
use crate::extract::{Reading, WordCounts};
use crate::lists::{IMPLIED, stem};

/// The most words with a capital, in percent, of a text in which a capital makes a name: more are those of a title.
const MOST_CAPITALS: usize = 60;
/// The same of a text that is not English. More are those of nouns in German.
const MOST_CAPITALS_UNSUPPORTED: usize = 30;
/// The most words with a capital in a text that says nothing about where capitals are: they are those of the names in it.
const FEW_CAPITALS: usize = 4;

/// The words before or after a negation among which the word is that it denies.
const NEAR: usize = 8;

/// The fewest letters by which two stems are those of one word: *show* and *shown*.
const LEAST_OF_STEM: usize = 4;

/// An item or a negation of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fact {
    /// The kind: an identifier, a date, a number, a name or a negation.
    pub kind: Kind,
    /// The form in which facts are compared: the canonical one of an atom; the words of a name; `not` and the stem of the word
    /// that a negation denies.
    pub value: String,
    /// The bytes in its text. Those of a negation end with the word that it denies.
    pub span: Range<usize>,
}

/// The facts of parts that a whole keeps, has lost, or has added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// The facts of the parts that the whole has, each with the place of the first part that has it.
    pub kept: Vec<(usize, Fact)>,
    /// The facts of the parts that the whole does not have.
    pub lost: Vec<(usize, Fact)>,
    /// The facts of the whole that are in no part, as text neither.
    pub added: Vec<Fact>,
}

/// Compares a text with the parts that it was made of. A fact that several parts have counts once, in the first of them.
///
/// The language is that of all the texts together. Where many words have a capital, as in a title or in German, a capital makes
/// no name.
///
/// ```
/// use atoms::{Kind, cover};
///
/// let parts = ["Pump P-7 failed on 3 May 2024.", "Ada did not open valve V-12. It cost 400 euros."];
/// let covered = cover(&parts, "In May pump P-7 failed, and V-12 was never opened by Grace.", &|_: &str| true);
/// let lost: Vec<_> = covered.lost.iter().map(|(part, fact)| (*part, &parts[*part][fact.span.clone()])).collect();
/// assert_eq!(lost, [(0, "3 May 2024"), (1, "400 euros")]);
/// assert_eq!(covered.added[0].kind, Kind::Name);
/// ```
pub fn cover(parts: &[&str], whole: &str, lexicon: &dyn Lexicon) -> Coverage {
    let readings: Vec<_> = parts.iter().map(|part| Reading::new(part)).collect();
    let whole_reading = Reading::new(whole);
    let mut counts = WordCounts::default();
    for reading in &readings {
        counts.add(reading.counts);
    }
    let mut all = counts;
    all.add(whole_reading.counts);
    let language = all.language();
    let has_names = match language {
        // Names that a summary adds say nothing about the capitals of its parts.
        Language::English => !has_capitals(&readings, MOST_CAPITALS),
        Language::Unsupported => {
            !has_capitals(&readings, MOST_CAPITALS_UNSUPPORTED)
                && !has_capitals(from_ref(&whole_reading), MOST_CAPITALS_UNSUPPORTED)
        }
    };
    let whole_atoms = whole_reading.atoms(language, has_names, lexicon);
    let mut facts = Vec::new();
    let mut merged = Atoms::empty(language);
    for (place, reading) in readings.into_iter().enumerate() {
        let atoms = reading.atoms(language, has_names, lexicon);
        facts.extend(self::facts(&atoms, parts[place]).map(|found| (place, found)));
        merged.append(atoms);
    }
    let is_truncated = merged.all.len().max(whole_atoms.all.len()) > MOST;
    let whole_facts: Vec<_> = self::facts(&whole_atoms, whole).collect();
    let ours = Ground::new(&merged, facts.iter().map(|(_, found)| found), is_truncated);
    let theirs = Ground::new(&whole_atoms, &whole_facts, is_truncated);

    let mut coverage = Coverage::default();
    let mut seen = HashSet::new();
    let mut is_new = |fact: &Fact| seen.insert((fact.kind, fact.value.clone()));
    for (place, found) in &facts {
        if !is_new(&found.fact) {
            continue;
        }
        let list = if theirs.has(found) {
            &mut coverage.kept
        } else {
            &mut coverage.lost
        };
        list.push((*place, found.fact.clone()));
    }
    seen.clear();
    let mut is_new = |fact: &Fact| seen.insert((fact.kind, fact.value.clone()));
    let added = whole_facts.iter().filter(|found| {
        let written = &whole[found.fact.span.clone()];
        let is_there = || ours.has(found) || ours.has_bare(found) || ours.says(written);
        is_new(&found.fact) && !is_there()
    });
    coverage.added = added.map(|found| found.fact.clone()).collect();
    coverage
}

/// Whether more than `percent` of the words that begin no sentence have a capital. A word that occurs again counts once.
fn has_capitals(texts: &[Reading], percent: usize) -> bool {
    let words: usize = texts.iter().map(|text| text.counts.inner).sum();
    let capitals: HashSet<_> = texts.iter().flat_map(Reading::capitals).collect();
    capitals.len() > FEW_CAPITALS && capitals.len() * 100 > words * percent
}

/// A fact, and for a negation the stems of the words after it, the one that it denies first.
struct FoundFact {
    fact: Fact,
    stems: Vec<String>,
}

/// The facts of a text, in its order. Names with only a space between them are one.
fn facts<'a>(atoms: &'a Atoms, text: &'a str) -> impl Iterator<Item = FoundFact> + use<'a> {
    let mut rest = atoms
        .all
        .iter()
        .enumerate()
        .filter(|(_, atom)| (atom.kind.is_item() || atom.kind == Kind::Negation) && !is_one(atom))
        .peekable();
    std::iter::from_fn(move || {
        let (place, atom) = rest.next()?;
        let (kind, mut span) = (atom.kind, atom.span.clone());
        let mut value = atom.canonical.clone();
        let mut stems = Vec::new();
        if kind == Kind::Negation {
            let clause = atoms.clause_of(place);
            stems.extend(words_after(atom, clause).map(|(stem, _)| stem));
            let next = atoms
                .all
                .get(place + 1)
                .map_or(text.len(), |next| next.span.start);
            if let Some((word, end)) = denied_word(atom, clause) {
                value = format!("not {word}");
                span.end = if end <= next { end } else { span.end };
            }
        }
        while kind == Kind::Name
            && let Some((_, next)) = rest.next_if(|(_, next)| {
                next.kind == Kind::Name && &text[span.end..next.span.start] == " "
            })
        {
            value = format!("{value} {}", next.canonical);
            span.end = next.span.end;
        }
        let fact = Fact { kind, value, span };
        Some(FoundFact { fact, stems })
    })
}

/// The stem and the end of the word that a negation denies: the next one with content in its clause, or the last one before it.
fn denied_word(negation: &Atom, clause: &Clause) -> Option<(String, usize)> {
    words_after(negation, clause).next().or_else(|| {
        let here = clause
            .spans
            .partition_point(|span| span.end <= negation.span.start);
        let mut before = clause.words[..here].iter().rev().take(NEAR);
        let stem = before.find_map(|word| stem(word))?;
        Some((stem, negation.span.end))
    })
}

/// The stems and the ends of the words with content among the next ones after a negation in its clause.
fn words_after(negation: &Atom, clause: &Clause) -> impl Iterator<Item = (String, usize)> {
    let here = clause
        .spans
        .partition_point(|span| span.start < negation.span.end);
    let words = clause.words[here..].iter().zip(&clause.spans[here..]);
    words
        .take(NEAR)
        .filter_map(|(word, span)| Some((stem(word)?, span.end)))
}

/// Whether a word with content follows a number: *40 books*.
fn counts_a_thing(number: &Atom, clause: &Clause) -> bool {
    let next = clause
        .spans
        .partition_point(|span| span.start < number.span.end);
    let is_next = |span: &Range<usize>| span.start <= number.span.end + 1;
    clause.spans.get(next).is_some_and(is_next) && stem(&clause.words[next]).is_some()
}

/// A text, or several, in which facts are looked up.
struct Ground<'a> {
    side: Side<'a>,
    /// The stems of what may be denied: the words of clauses with a negation, and what other words deny.
    denied: HashSet<String>,
    /// The beginnings of these stems.
    denied_beginnings: HashSet<String>,
    /// The stems of what its negations deny.
    denied_next: HashSet<String>,
    lower: String,
    words: HashSet<String>,
    /// The names of several words.
    names: HashSet<&'a str>,
    /// The numbers without a unit or a word of what they count.
    bare: HashSet<&'a str>,
    is_truncated: bool,
}

impl<'a> Ground<'a> {
    /// The text with these atoms and facts.
    fn new(
        atoms: &'a Atoms,
        facts: impl IntoIterator<Item = &'a FoundFact>,
        is_truncated: bool,
    ) -> Self {
        let negated: HashSet<_> = atoms
            .of(Kind::Negation)
            .map(|(_, atom)| atom.clause)
            .collect();
        let mut stems = HashSet::new();
        for (number, clause) in atoms.clauses.iter().enumerate() {
            let mut words = clause.words.iter();
            if negated.contains(&number) || words.any(|word| IMPLIED.contains(&**word)) {
                stems.extend(clause.words.iter().filter_map(|word| stem(word)));
            }
        }
        for word in &atoms.words {
            let others = denied(word).chain(opposites_of(word));
            stems.extend(others.filter_map(stem));
        }
        let next = atoms.of(Kind::Negation).filter_map(|(place, atom)| {
            denied_word(atom, atoms.clause_of(place)).map(|(stem, _)| stem)
        });
        let names = facts.into_iter().map(|found| &found.fact);
        let names = names.filter(|fact| fact.kind == Kind::Name && fact.value.contains(' '));
        let bare = atoms.of(Kind::Number).filter(|(place, atom)| {
            !atom.canonical.contains(' ') && !counts_a_thing(atom, atoms.clause_of(*place))
        });
        let lower = atoms.text.to_lowercase();
        let words = pieces(&lower).map(str::to_owned).collect();
        Self {
            side: Side::new(atoms),
            denied_beginnings: stems
                .iter()
                .flat_map(|stem| beginnings(stem))
                .map(str::to_owned)
                .collect(),
            denied: stems,
            denied_next: next.collect(),
            lower,
            words,
            names: names.map(|fact| &*fact.value).collect(),
            bare: bare.map(|(_, atom)| &*atom.canonical).collect(),
            is_truncated,
        }
    }

    fn has(&self, FoundFact { fact, stems }: &FoundFact) -> bool {
        let item = |value| {
            self.side.items.contains(&(fact.kind, value))
                || !self.is_truncated && self.side.has((fact.kind, value))
        };
        match fact.kind {
            Kind::Negation => {
                let word = fact.value.strip_prefix("not ");
                word.is_none_or(|word| self.denies(word))
                    || stems.iter().any(|stem| self.denied_next.contains(stem))
            }
            // The words of two names make no third one.
            Kind::Name if fact.value.contains(' ') && !self.is_truncated => {
                self.names.contains(&*fact.value) || self.says(&fact.value)
            }
            Kind::Name => fact.value.split(' ').all(item),
            _ => item(&*fact.value),
        }
    }

    /// Whether the text has a number without its unit, as in a list of prices.
    fn has_bare(&self, FoundFact { fact, .. }: &FoundFact) -> bool {
        let mut words = fact.value.split(' ');
        fact.kind == Kind::Number && words.next().is_some_and(|value| self.bare.contains(value))
    }

    /// Whether the text denies a word with this stem.
    fn denies(&self, stem: &str) -> bool {
        self.denied.contains(stem)
            || self.denied_beginnings.contains(stem)
            || beginnings(stem).any(|beginning| self.denied.contains(beginning))
    }

    /// Whether the text has these words, in capitals or not. In a text that is too long they may be anywhere.
    fn says(&self, words: &str) -> bool {
        let words = words.to_lowercase();
        let mut pieces = pieces(&words).peekable();
        pieces.peek().is_some()
            && pieces.all(|piece| self.words.contains(piece))
            && (self.is_truncated || is_verbatim(&self.lower, &words))
    }
}

/// The beginnings of a stem that may be the stem of the same word.
fn beginnings(stem: &str) -> impl Iterator<Item = &str> {
    let ends = stem.char_indices().map(|(at, char)| at + char.len_utf8());
    ends.skip(LEAST_OF_STEM - 1).map(|end| &stem[..end])
}

/// The runs of letters and digits.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(|char: char| !char.is_alphanumeric());
    pieces.filter(|piece| !piece.is_empty())
}
