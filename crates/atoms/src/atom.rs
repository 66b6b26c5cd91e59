//! Atoms and the words that they are in.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// The kind of a commitment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A code, an address, a path, a version: what is copied letter by letter.
    Identifier,
    /// A day, a month, a year, a weekday or a time of day.
    Date,
    /// A quantity with its unit.
    Number,
    /// A word of a person's, a place's or a firm's name.
    Name,
    /// A word that denies its clause.
    Negation,
    /// A duty, a recommendation, a plan or a permission.
    Modality,
    /// A condition.
    Condition,
    /// The order of events.
    Order,
    /// The part of a group that is meant.
    Quantifier,
    /// A bound of a quantity.
    Comparison,
    /// A word for its opposite, in a sentence that is the same otherwise. Only a comparison finds it.
    Contrast,
}

impl Kind {
    /// All kinds, in the order of the specification.
    pub const ALL: [Self; 11] = [
        Self::Identifier,
        Self::Date,
        Self::Number,
        Self::Name,
        Self::Negation,
        Self::Modality,
        Self::Condition,
        Self::Order,
        Self::Quantifier,
        Self::Comparison,
        Self::Contrast,
    ];

    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Date => "date",
            Self::Number => "number",
            Self::Name => "name",
            Self::Negation => "negation",
            Self::Modality => "modality",
            Self::Condition => "condition",
            Self::Order => "order",
            Self::Quantifier => "quantifier",
            Self::Comparison => "comparison",
            Self::Contrast => "contrast",
        }
    }

    /// Whether atoms of this kind are matched by their canonical form alone.
    pub(crate) const fn is_item(self) -> bool {
        matches!(
            self,
            Self::Identifier | Self::Date | Self::Number | Self::Name
        )
    }
}

/// A commitment of a text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Atom {
    /// The kind.
    pub kind: Kind,
    /// The bytes of the given text.
    pub span: Range<usize>,
    /// The form in which atoms are compared: `2024-03-09`, `~06:30` for a time of either half of the day, `not`, `unless`. A number has
    /// the base unit of its dimension: `500 mass` are 500 g, `3600 time` are 3,600 s. `2th` is an ordinal.
    pub canonical: String,
    /// The bytes of its clause.
    pub scope: Range<usize>,
    /// The place of its clause in [`Atoms::clauses`].
    pub(crate) clause: usize,
    /// The number as written, without its unit.
    pub(crate) value: Option<f64>,
    /// The stems of the next words in its clause.
    pub(crate) head: BTreeSet<String>,
    /// The stems of the last words before it in its clause, or in the one before.
    pub(crate) tail: BTreeSet<String>,
}

/// A list of common words.
pub trait Lexicon {
    /// Whether a word, in lower case, is a common one.
    fn knows(&self, word: &str) -> bool;
}

impl<F: Fn(&str) -> bool> Lexicon for F {
    fn knows(&self, word: &str) -> bool {
        self(word)
    }
}

/// Whether a text can be read with the English lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// English, or too short to tell.
    English,
    /// A text of 20 words and more with fewer than 14 % English function words, or any with fewer than 60 % Latin letters. It has
    /// only identifiers, numbers in digits and dates in digits.
    Unsupported,
}

impl Language {
    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "english",
            Self::Unsupported => "unsupported",
        }
    }
}

/// A clause: its words in lower case, and the stems of those with content.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clause {
    pub(crate) sentence: usize,
    pub(crate) words: Vec<String>,
    /// The bytes of each word in the text as given.
    pub(crate) spans: Vec<Range<usize>>,
    /// The bytes of the clause in the text as given.
    pub(crate) scope: Range<usize>,
    pub(crate) stems: BTreeSet<String>,
}

/// The atoms of a text, in its order.
#[derive(Debug, Clone)]
pub struct Atoms {
    pub(crate) text: String,
    pub(crate) language: Language,
    pub(crate) all: Vec<Atom>,
    pub(crate) clauses: Vec<Clause>,
    /// The number of sentences.
    pub(crate) sentences: usize,
    /// All words of the text, in lower case.
    pub(crate) words: HashSet<String>,
    /// Quantities that an article says, such as `an hour`: they keep a number, and cannot be lost.
    pub(crate) implied: Vec<String>,
}

impl Atoms {
    /// The atoms, in the order of the text.
    pub fn all(&self) -> &[Atom] {
        &self.all
    }

    /// Whether the lists fit the text.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The atoms of no text.
    pub(crate) fn empty(language: Language) -> Self {
        Self {
            text: String::new(),
            language,
            all: Vec::new(),
            clauses: Vec::new(),
            sentences: 0,
            words: HashSet::new(),
            implied: Vec::new(),
        }
    }

    /// Adds another text. Its spans stay those of the other text.
    pub(crate) fn append(&mut self, other: Self) {
        let (clauses, sentences) = (self.clauses.len(), self.sentences);
        self.text.push_str("\n\n");
        self.text.push_str(&other.text);
        self.sentences += other.sentences;
        self.all.extend(other.all.into_iter().map(|mut atom| {
            atom.clause += clauses;
            atom
        }));
        self.clauses
            .extend(other.clauses.into_iter().map(|mut clause| {
                clause.sentence += sentences;
                clause
            }));
        self.words.extend(other.words);
        self.implied.extend(other.implied);
    }

    /// The atoms of one kind with their places.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = (usize, &Atom)> {
        self.all
            .iter()
            .enumerate()
            .filter(move |(_, atom)| atom.kind == kind)
    }

    pub(crate) fn clause_of(&self, atom: usize) -> &Clause {
        &self.clauses[self.all[atom].clause]
    }

    /// The words of an atom.
    pub(crate) fn words_of(&self, atom: usize) -> impl Iterator<Item = &str> {
        let Atom { clause, span, .. } = &self.all[atom];
        let clause = &self.clauses[*clause];
        let words = clause.words.iter().zip(&clause.spans);
        words
            .filter(|(_, it)| span.start <= it.start && it.end <= span.end)
            .map(|(word, _)| word.as_str())
    }

    /// The words of a sentence.
    pub(crate) fn sentence(&self, number: usize) -> impl Iterator<Item = &str> {
        let start = self
            .clauses
            .partition_point(|clause| clause.sentence < number);
        let clauses = self.clauses[start..]
            .iter()
            .take_while(move |clause| clause.sentence == number);
        clauses.flat_map(|clause| clause.words.iter().map(String::as_str))
    }
}
