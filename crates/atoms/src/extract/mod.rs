//! From a text to its atoms. Each step takes its words away from the next ones.

mod dates;
mod identifiers;
mod names;
mod numbers;
mod numerals;
mod operators;
mod quantity;
mod units;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::atom::{Atom, Atoms, Clause, Kind, Language, Lexicon};
use crate::lists::FUNCTION;
use crate::text::{Form, PlainText, Token, tokens};

/// An atom of the plain text.
struct Found {
    kind: Kind,
    span: Range<usize>,
    canonical: String,
    /// The number as written, without its unit.
    value: Option<f64>,
}

impl Found {
    fn new(kind: Kind, span: Range<usize>, canonical: impl Into<String>) -> Self {
        Self {
            kind,
            span,
            canonical: canonical.into(),
            value: None,
        }
    }
}

/// The fewest words of a text whose language can be told.
const TELLING_WORDS: usize = 20;

/// The most words with a capital in a text that says nothing about where capitals are.
const FEW_CAPITALS: usize = 4;

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

/// The counts that tell the language of a text, or of several.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordCounts {
    letters: usize,
    latin: usize,
    words: usize,
    function: usize,
    /// The words that do not begin a sentence, and those of them with a capital.
    inner: usize,
    capitals: usize,
}

impl WordCounts {
    fn new(text: &str, tokens: &[Token]) -> Self {
        let mut counts = Self::default();
        for letter in text.chars().filter(|char| char.is_alphabetic()) {
            counts.letters += 1;
            let is_latin = matches!(u32::from(letter), 0..=0x24f | 0x1e00..=0x1eff);
            counts.latin += usize::from(is_latin);
        }
        let words = tokens
            .iter()
            .filter(|token| token.form == Form::Word && !token.is_taken);
        for word in words {
            counts.words += 1;
            counts.function += usize::from(FUNCTION.contains(&*word.lower));
            if !word.starts_sentence {
                counts.inner += 1;
                counts.capitals += usize::from(word.written.starts_with(char::is_uppercase));
            }
        }
        counts
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.letters += other.letters;
        self.latin += other.latin;
        self.words += other.words;
        self.function += other.function;
        self.inner += other.inner;
        self.capitals += other.capitals;
    }

    pub(crate) fn language(self) -> Language {
        let is_foreign = self.words >= TELLING_WORDS && self.function * 100 < self.words * 14;
        if self.latin * 100 < self.letters * 60 || is_foreign {
            Language::Unsupported
        } else {
            Language::English
        }
    }

    /// Whether more than `percent` of the words that begin no sentence have a capital. Few capitals say nothing: they are those of
    /// the names in a short text.
    pub(crate) fn has_capitals(self, percent: usize) -> bool {
        self.capitals > FEW_CAPITALS && self.capitals * 100 > self.inner * percent
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
