//! The token lists of a run: its texts as sequences of numbers, equal lists being one kind.

use std::collections::HashMap;
use std::ops::Range;

use super::metrics::corpus::Corpus;

/// The number of tokens of a text that are compared; the rest is left out.
pub(crate) const MOST_TOKENS: usize = 512;

/// The token lists of the messages of a run, without signatures, each cut at [`MOST_TOKENS`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Lists {
    /// The lists of all kinds, one kind after another.
    tokens: Vec<u32>,
    /// The place of each kind in `tokens`.
    spans: Vec<Range<usize>>,
    /// The kind of each message.
    of_message: Vec<u32>,
}

impl Lists {
    /// Returns the lists of a run. Texts without a token are of one kind only if the texts are equal.
    pub(crate) fn of(corpus: &Corpus<'_>) -> Self {
        let mut lists = Self::default();
        let mut known: HashMap<&[u32], u32> = HashMap::new();
        let mut kind_of_text = Vec::with_capacity(corpus.kinds());
        for text in 0..corpus.kinds() {
            let span = corpus.span(text);
            let list = &corpus.tokens()[span.start..span.end.min(span.start + MOST_TOKENS)];
            let kind = match known.get(list) {
                Some(&kind) if !list.is_empty() => kind,
                _ => lists.add(list),
            };
            known.insert(list, kind);
            kind_of_text.push(kind);
        }
        let messages = 0..corpus.messages();
        lists.of_message =
            (messages.map(|message| kind_of_text[corpus.kind_of(message)])).collect();
        lists
    }

    /// Adds a kind and returns its number.
    pub(crate) fn add(&mut self, list: &[u32]) -> u32 {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(list);
        self.spans.push(start..self.tokens.len());
        (self.spans.len() - 1) as u32
    }

    /// Appends a message of a kind.
    pub(crate) fn push(&mut self, kind: u32) {
        self.of_message.push(kind);
    }

    /// Returns the number of messages.
    pub(crate) fn messages(&self) -> usize {
        self.of_message.len()
    }

    /// Returns the number of kinds.
    pub(crate) fn kinds(&self) -> usize {
        self.spans.len()
    }

    /// Returns the kind of a message.
    pub(crate) fn kind_of(&self, message: usize) -> u32 {
        self.of_message[message]
    }

    /// Returns the list of a kind.
    pub(crate) fn of_kind(&self, kind: u32) -> &[u32] {
        &self.tokens[self.spans[kind as usize].clone()]
    }

    /// Returns the list of a message.
    pub(crate) fn of_message(&self, message: usize) -> &[u32] {
        self.of_kind(self.of_message[message])
    }

    /// Returns the number of tokens of all messages.
    pub(crate) fn size(&self) -> u64 {
        let sizes = (0..self.messages()).map(|message| self.of_message(message).len() as u64);
        sizes.sum()
    }

    /// Returns the corpus of these lists. `letters` has the number of characters of each token; the tokens of a list
    /// are one character apart.
    pub(crate) fn into_corpus(self, letters: &[u32]) -> Corpus<'static> {
        let length = |span: &Range<usize>| {
            let list = &self.tokens[span.clone()];
            let sum: u32 = list.iter().map(|&token| letters[token as usize]).sum();
            sum + (list.len() as u32).saturating_sub(1)
        };
        let lengths = self.spans.iter().map(length).collect();
        Corpus::of_lists(
            self.tokens,
            self.spans,
            self.of_message,
            letters.len(),
            lengths,
        )
    }
}
