//! From a text to its atoms. Each step takes its words away from the next ones.

mod counts;
mod dates;
mod found;
mod identifiers;
mod names;
mod numbers;
mod numerals;
mod operators;
mod quantity;
mod units;

use std::collections::BTreeSet;

use crate::atom::{Atom, Atoms, Clause, Kind, Language, Lexicon};
use crate::text::{Form, PlainText, Token, tokens};
pub(crate) use counts::WordCounts;
use counts::is_inner;
use found::Found;

/// The stems before and after an operator that tell what it orders.
const NEAR: usize = 4;

/// Finds the atoms of a text, in a time that grows with its length.
///
/// ```
/// use atoms::{Kind, atoms};
///
/// let found = atoms("Heat 250 ml to 40 °C, but never above 45 °C.", &|_: &str| false);
/// let numbers: Vec<_> = found.all().iter().filter(|atom| atom.kind == Kind::Number).collect();
/// assert_eq!(numbers.len(), 3);
/// assert_eq!(numbers[0].canonical, "0.25 volume");
/// assert_eq!(numbers[1].span, 15..21);
/// ```
pub fn atoms(text: &str, lexicon: &dyn Lexicon) -> Atoms {
    let reading = Reading::new(text);
    let language = reading.counts.language();
    reading.atoms(language, language == Language::English, lexicon)
}

/// A text with the atoms that need no language, and its words.
pub(crate) struct Reading {
    plain: PlainText,
    found: Vec<Found>,
    tokens: Vec<Token>,
    sentences: Vec<usize>,
    pub(crate) counts: WordCounts,
}

impl Reading {
    pub(crate) fn new(text: &str) -> Self {
        let plain = PlainText::new(text);
        let mut found = identifiers::find(&plain.plain);
        dates::find(&plain.plain, &mut found);
        found.sort_by_key(|atom| atom.span.start);
        let taken: Vec<_> = found.iter().map(|atom| atom.span.clone()).collect();
        let (tokens, sentences) = tokens(&plain.plain, &taken);
        Self {
            counts: WordCounts::new(text, &tokens),
            plain,
            found,
            tokens,
            sentences,
        }
    }

    /// The words with a capital that begin no sentence.
    pub(crate) fn capitals(&self) -> impl Iterator<Item = &str> {
        let inner = self.tokens.iter().filter(|token| is_inner(token));
        let capitals = inner.filter(|token| token.written.starts_with(char::is_uppercase));
        capitals.map(|token| &*token.lower)
    }

    /// The atoms of the text as one in this language, with or without names.
    pub(crate) fn atoms(self, language: Language, has_names: bool, lexicon: &dyn Lexicon) -> Atoms {
        let Self {
            plain,
            mut found,
            mut tokens,
            sentences,
            ..
        } = self;
        let mut implied = Vec::new();
        numbers::find(&mut tokens, &mut found, &mut implied);
        if language == Language::English {
            operators::find(&mut tokens, &mut found);
        } else {
            found.retain(|atom| is_neutral(&plain.plain, atom));
        }
        if has_names {
            names::find(&mut tokens, lexicon, &mut found);
        }
        collect(plain, found, tokens, &sentences, language, implied)
    }
}

/// The atoms with their clauses.
fn collect(
    plain: PlainText,
    mut found: Vec<Found>,
    tokens: Vec<Token>,
    sentences: &[usize],
    language: Language,
    implied: Vec<String>,
) -> Atoms {
    found.sort_by_key(|atom| (atom.span.start, atom.span.end, atom.kind));
    let clauses = clauses(&plain, &tokens, sentences);
    let atoms = found.into_iter().map(|atom| {
        // Each token has one clause; an atom begins with a token.
        let index = tokens.partition_point(|token| token.span.end <= atom.span.start);
        let clause = tokens.get(index).map_or(0, |token| token.clause);
        let near = |tokens: &mut dyn Iterator<Item = &Token>| {
            tokens
                .take(4 * NEAR)
                .filter_map(Token::stem)
                .take(NEAR)
                .collect()
        };
        let end = tokens.partition_point(|token| token.span.start < atom.span.end);
        let from = tokens.partition_point(|token| token.clause < clause);
        let mut tail: BTreeSet<_> = near(&mut tokens[from..index.max(from)].iter().rev());
        if tail.is_empty() && clause > 0 && sentences[clause] == sentences[clause - 1] {
            let start = tokens.partition_point(|token| token.clause + 1 < clause);
            tail = near(&mut tokens[start..from].iter().rev());
        }
        let last = tokens
            .partition_point(|token| token.clause <= clause)
            .max(end);
        Atom {
            head: near(&mut tokens[end..last].iter()),
            tail,
            kind: atom.kind,
            span: plain.given(&atom.span),
            canonical: atom.canonical,
            value: atom.value,
            scope: clauses
                .get(clause)
                .map_or(0..0, |clause| clause.scope.clone()),
            clause,
        }
    });
    let all = atoms.collect();
    Atoms {
        all,
        text: plain.plain,
        language,
        sentences: sentences.last().map_or(0, |last| last + 1),
        words: tokens.into_iter().map(|token| token.lower).collect(),
        clauses,
        implied,
    }
}

/// Whether an atom is written without English words.
fn is_neutral(plain: &str, atom: &Found) -> bool {
    match atom.kind {
        Kind::Date | Kind::Number => plain[atom.span.clone()]
            .chars()
            .next()
            .is_some_and(|first| !first.is_alphabetic()),
        _ => true,
    }
}

fn clauses(plain: &PlainText, tokens: &[Token], sentences: &[usize]) -> Vec<Clause> {
    let clause = |sentence: &usize| Clause {
        sentence: *sentence,
        ..Clause::default()
    };
    let mut clauses: Vec<_> = sentences.iter().map(clause).collect();
    for token in tokens {
        let clause = &mut clauses[token.clause];
        let span = plain.given(&token.span);
        if clause.scope.is_empty() {
            clause.scope.start = span.start;
        }
        clause.scope.end = span.end;
        if token.form != Form::Sign {
            clause.words.push(token.lower.clone());
            clause.spans.push(span);
        }
        clause.stems.extend(token.stem());
    }
    clauses
}
