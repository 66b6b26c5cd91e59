//! Words that changed in sentences that are the same otherwise: for their opposite, or for each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Finding;
use crate::atom::{Atom, Atoms, Kind};
use crate::lists::OPPOSITE;

/// The share of words, in percent, that two sentences have in common if one is made from the other.
const COMMON: usize = 60;

/// The most places at which the words of a transposed sentence differ.
const MOST_MOVED: usize = 4;

/// Verbs of saying: they and their subject change places freely.
const SAYING: [&str; 12] = [
    "said",
    "says",
    "say",
    "wrote",
    "writes",
    "added",
    "adds",
    "asked",
    "reported",
    "reports",
    "explained",
    "told",
];

pub(super) fn compare(original: &Atoms, decoded: &Atoms, findings: &mut Vec<Finding>) {
    let ours = sentences(original);
    let theirs = sentences(decoded);
    let same: BTreeSet<_> = theirs.iter().map(|sentence| &sentence.words).collect();
    let users = users(&theirs);
    for sentence in ours
        .iter()
        .filter(|sentence| !same.contains(&sentence.words))
    {
        let nearest = common(sentence, &users, theirs.len())
            .into_iter()
            .zip(&theirs)
            .max_by_key(|(common, other)| (*common, std::cmp::Reverse(other.number)));
        let Some((common, other)) = nearest else {
            continue;
        };
        let longer = sentence.words.len().max(other.words.len());
        if common * 100 < longer * COMMON {
            continue;
        }
        // *Not open* for *closed*: the negation was compared already.
        let is_denied = negations(original, sentence.number) != negations(decoded, other.number);
        let opposites = if is_denied {
            Vec::new()
        } else {
            opposites(sentence, other)
        };
        let is_turned = common == longer && is_transposed(&sentence.words, &other.words);
        for (one, another) in opposites {
            findings.push(Finding::new(
                Kind::Contrast,
                Some(&word(original, sentence, one, Kind::Contrast)),
                Some(&word(decoded, other, another, Kind::Contrast)),
            ));
        }
        // The operators were compared already.
        let is_said = findings.iter().any(|finding| {
            let atom = finding
                .original
                .as_ref()
                .filter(|_| finding.kind == Kind::Order);
            atom.is_some_and(|atom| original.clauses[atom.clause].sentence == sentence.number)
        });
        if is_turned && !is_said {
            let place = sentence
                .words
                .iter()
                .zip(&other.words)
                .position(|(one, another)| one != another);
            let place = place.unwrap_or(0);
            findings.push(Finding::new(
                Kind::Order,
                Some(&word(
                    original,
                    sentence,
                    sentence.words[place],
                    Kind::Order,
                )),
                Some(&word(decoded, other, other.words[place], Kind::Order)),
            ));
        }
    }
}

/// The number of negations in a sentence.
fn negations(atoms: &Atoms, sentence: usize) -> usize {
    let of = atoms.of(Kind::Negation);
    of.filter(|(place, _)| atoms.clause_of(*place).sentence == sentence)
        .count()
}

struct Sentence<'a> {
    number: usize,
    words: Vec<&'a str>,
    counts: BTreeMap<&'a str, usize>,
}

fn sentences(atoms: &Atoms) -> Vec<Sentence<'_>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new(); atoms.sentences];
    for clause in &atoms.clauses {
        if let Some(words) = all.get_mut(clause.sentence) {
            words.extend(clause.words.iter().map(String::as_str));
        }
    }
    let mut sentences = Vec::with_capacity(all.len());
    for (number, words) in all.into_iter().enumerate() {
        let mut counts = BTreeMap::new();
        for word in &words {
            *counts.entry(*word).or_insert(0) += 1;
        }
        sentences.push(Sentence {
            number,
            words,
            counts,
        });
    }
    sentences
}

/// The sentences that have a word, by their places, with the number of times.
type Users<'a> = HashMap<&'a str, Vec<(usize, usize)>>;

fn users<'a>(sentences: &[Sentence<'a>]) -> Users<'a> {
    let mut users = Users::new();
    for (place, sentence) in sentences.iter().enumerate() {
        for (word, count) in &sentence.counts {
            users.entry(word).or_default().push((place, *count));
        }
    }
    users
}

/// The number of words that a sentence shares with each of `count` sentences.
fn common(sentence: &Sentence<'_>, users: &Users<'_>, count: usize) -> Vec<usize> {
    let mut common = vec![0; count];
    for (word, times) in &sentence.counts {
        for (place, others) in users.get(word).into_iter().flatten() {
            common[*place] += times.min(others);
        }
    }
    common
}

/// Words of a sentence whose opposite replaced them in the other.
fn opposites<'a>(sentence: &Sentence<'a>, other: &Sentence<'a>) -> Vec<(&'a str, &'a str)> {
    let gone = missing(sentence, other);
    let new = missing(other, sentence);
    let found = gone.iter().flat_map(|one| {
        let opposites = opposites_of(one).chain(denied(one));
        opposites.filter_map(|it| Some((*one, *new.get(it)?)))
    });
    let denying = new
        .iter()
        .flat_map(|another| denied(another).filter_map(|it| Some((*gone.get(it)?, *another))));
    let pairs: BTreeSet<_> = found.chain(denying).collect();
    let near = |words: &[&'a str], word: &str| {
        let place = words.iter().position(|it| *it == word).unwrap_or(0);
        (
            place.checked_sub(1).map(|at| words[at]),
            words.get(place + 1).copied(),
        )
    };
    let is_replaced = |one: &str, another: &str| {
        let (ours, theirs) = (near(&sentence.words, one), near(&other.words, another));
        ours.0 == theirs.0 || ours.1 == theirs.1
    };
    let pairs = pairs.into_iter();
    pairs
        .filter(|(one, another)| is_replaced(one, another))
        .collect()
}

/// The listed opposites of a word.
pub(super) fn opposites_of(word: &str) -> impl Iterator<Item = &str> {
    let opposites = OPPOSITE.get(word).into_iter().flatten();
    opposites.map(|opposite| -> &str { opposite })
}

/// The words that a word denies by its prefix.
pub(super) fn denied(word: &str) -> impl Iterator<Item = &str> {
    const PREFIXES: [&str; 7] = ["un", "in", "im", "il", "ir", "non", "dis"];
    let rest = PREFIXES
        .iter()
        .filter_map(move |prefix| word.strip_prefix(prefix));
    rest.filter(|rest| rest.len() > 3)
}

/// The words that a sentence has more often than another.
fn missing<'a>(sentence: &Sentence<'a>, other: &Sentence<'_>) -> BTreeSet<&'a str> {
    let more = |(word, count): (&&'a str, &usize)| {
        (other.counts.get(*word).copied().unwrap_or(0) < *count).then_some(*word)
    };
    sentence.counts.iter().filter_map(more).collect()
}

/// Whether words changed places in a way that changes what is said.
fn is_transposed(one: &[&str], other: &[&str]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let moved: Vec<_> = (0..one.len())
        .filter(|place| one[*place] != other[*place])
        .collect();
    let (Some(&first), Some(&last)) = (moved.first(), moved.last()) else {
        return false;
    };
    if moved.len() > MOST_MOVED {
        return false;
    }
    let (one, other) = (&one[first..=last], &other[first..=last]);
    let is_said = one.iter().any(|word| SAYING.contains(word)) && one.len() < 4;
    !is_said && !is_rotated(one, other) && !is_listed(one, other)
}

/// Whether two neighbouring parts changed places: *first checked the dam* for *checked the dam first*.
fn is_rotated(one: &[&str], other: &[&str]) -> bool {
    (1..one.len()).any(|place| {
        let (before, after) = one.split_at(place);
        other.starts_with(after) && other.ends_with(before)
    })
}

/// Whether two parts changed places around *and* or *or*.
fn is_listed(one: &[&str], other: &[&str]) -> bool {
    (1..one.len()).any(|place| {
        let (before, rest) = one.split_at(place);
        let Some((link, after)) = rest.split_first() else {
            return false;
        };
        matches!(*link, "and" | "or")
            && other.starts_with(after)
            && other.ends_with(before)
            && other[after.len()] == *link
    })
}

/// A word of a sentence as an atom.
fn word(atoms: &Atoms, sentence: &Sentence<'_>, word: &str, kind: Kind) -> Atom {
    let clause = atoms.clauses.iter().position(|clause| {
        clause.sentence == sentence.number && clause.words.iter().any(|it| it == word)
    });
    let clause = clause.unwrap_or(0);
    let span = atoms.clauses[clause]
        .spans
        .iter()
        .zip(&atoms.clauses[clause].words);
    let span = span
        .filter(|(_, it)| *it == word)
        .map(|(span, _)| span.clone())
        .next();
    Atom {
        kind,
        span: span.unwrap_or(0..0),
        canonical: word.to_owned(),
        scope: atoms.clauses[clause].scope.clone(),
        clause,
        value: None,
        head: BTreeSet::new(),
        tail: BTreeSet::new(),
    }
}
