//! The corpus: the texts of a run as numbers. Equal texts are one kind and equal words are one token.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::grams::Grams;
use super::token::{lower, spans};
use crate::format::{is_invisible, without_signature};
use crate::pool::MessageId;
use crate::verify::Transcript;

/// The texts of a run without signatures.
#[derive(Debug)]
pub(crate) struct Corpus<'a> {
    /// Different texts in the order of their first message.
    kinds: Vec<EqualTexts<'a>>,
    /// The kind of each message.
    of_message: Vec<u32>,
    /// The messages that are measured, in order.
    texts: Vec<Text>,
    /// The tokens of all kinds, one kind after another.
    tokens: Vec<u32>,
    /// The number of different tokens.
    vocabulary: usize,
    /// The tokens as words; empty for a corpus of lists.
    words: Vec<String>,
    /// The number of characters of each kind in a corpus of lists, which has no texts.
    lengths: Option<Vec<u32>>,
    /// The n-grams of two and of three tokens, built when the first measure asks for them.
    pairs: OnceLock<Grams>,
    triples: OnceLock<Grams>,
}

/// A group of equal texts.
#[derive(Debug)]
struct EqualTexts<'a> {
    text: &'a str,
    tokens: Range<usize>,
}

/// A message that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text {
    /// The id of the message.
    pub(crate) message: usize,
    /// The kind of its text.
    pub(crate) kind: usize,
    /// Whether the text has a token.
    pub(crate) worded: bool,
}

impl<'a> Corpus<'a> {
    /// Returns the corpus of all texts with a visible character.
    pub(crate) fn of(run: &'a Transcript) -> Self {
        Self::build(run, None)
    }

    /// Returns the corpus of the first `tokens` tokens of all texts that have at least `tokens` tokens.
    pub(crate) fn cut(run: &'a Transcript, tokens: usize) -> Self {
        Self::build(run, Some(tokens))
    }

    fn build(run: &'a Transcript, cut: Option<usize>) -> Self {
        let mut corpus = Self {
            kinds: Vec::new(),
            of_message: Vec::with_capacity(run.messages.len()),
            texts: Vec::with_capacity(run.messages.len()),
            tokens: Vec::new(),
            vocabulary: 0,
            words: Vec::new(),
            lengths: None,
            pairs: OnceLock::new(),
            triples: OnceLock::new(),
        };
        let mut known = HashMap::new();
        let mut words: HashMap<String, u32> = HashMap::new();
        for (message, stored) in run.messages.iter().enumerate() {
            let text = without_signature(&stored.text);
            let text = cut.map_or(text, |tokens| start(text, tokens));
            let kind = *known.entry(text).or_insert_with(|| {
                let start = corpus.tokens.len();
                for span in spans(text) {
                    let word = lower(&text[span]);
                    let next = words.len() as u32;
                    let token = if let Some(&token) = words.get(word.as_ref()) {
                        token
                    } else {
                        words.insert(word.into_owned(), next);
                        next
                    };
                    corpus.tokens.push(token);
                }
                corpus.kinds.push(EqualTexts {
                    text,
                    tokens: start..corpus.tokens.len(),
                });
                corpus.kinds.len() - 1
            });
            corpus.of_message.push(kind as u32);
            let tokens = corpus.kinds[kind].tokens.len();
            if cut.map_or(!is_invisible(text), |least| tokens >= least) {
                corpus.texts.push(Text {
                    message,
                    kind,
                    worded: tokens > 0,
                });
            }
        }
        corpus.vocabulary = words.len();
        corpus.words = vec![String::new(); words.len()];
        for (word, token) in words {
            corpus.words[token as usize] = word;
        }
        corpus
    }

    /// Returns the corpus of token lists: `tokens[spans[kind]]` is the list of a kind, and lists without a token are not
    /// measured. `lengths` has the number of characters of each kind.
    pub(crate) fn of_lists(
        tokens: Vec<u32>,
        spans: Vec<Range<usize>>,
        of_message: Vec<u32>,
        vocabulary: usize,
        lengths: Vec<u32>,
    ) -> Self {
        let texts = of_message.iter().enumerate().map(|(message, &kind)| Text {
            message,
            kind: kind as usize,
            worded: true,
        });
        Self {
            texts: (texts.filter(|text| !spans[text.kind].is_empty())).collect(),
            kinds: (spans.into_iter())
                .map(|tokens| EqualTexts { text: "", tokens })
                .collect(),
            of_message,
            tokens,
            vocabulary,
            words: Vec::new(),
            lengths: Some(lengths),
            pairs: OnceLock::new(),
            triples: OnceLock::new(),
        }
    }

    /// Returns the number of messages, including those that are not measured.
    pub(crate) fn messages(&self) -> usize {
        self.of_message.len()
    }

    /// Returns the tokens as words; empty for a corpus of lists.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the number of characters of a kind.
    pub(crate) fn chars(&self, kind: usize) -> usize {
        match &self.lengths {
            Some(lengths) => lengths[kind] as usize,
            None => self.text(kind).chars().count(),
        }
    }

    /// Returns the number of different texts, including those that are not measured.
    pub(crate) fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the kind of a message.
    pub(crate) fn kind_of(&self, message: usize) -> usize {
        self.of_message[message] as usize
    }

    /// Returns the text of a kind.
    pub(crate) fn text(&self, kind: usize) -> &'a str {
        self.kinds[kind].text
    }

    /// Returns the range of a kind in [`Corpus::tokens`].
    pub(crate) fn span(&self, kind: usize) -> Range<usize> {
        self.kinds[kind].tokens.clone()
    }

    /// Returns the tokens of all kinds.
    pub(crate) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Returns the number of different tokens.
    pub(crate) fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// Returns the n-grams of two tokens.
    pub(crate) fn pairs(&self) -> &Grams {
        self.pairs.get_or_init(|| Grams::pairs(self))
    }

    /// Returns the n-grams of three tokens.
    pub(crate) fn triples(&self) -> &Grams {
        self.triples.get_or_init(|| Grams::triples(self))
    }

    /// Returns the measured texts in the order of their messages.
    pub(crate) fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// Returns a message; `None` if it is not measured.
    pub(crate) fn measured(&self, id: MessageId) -> Option<Text> {
        let place = (self.texts).binary_search_by_key(&id, |text| MessageId::at(text.message));
        Some(self.texts[place.ok()?])
    }

    /// Returns the range of these messages in [`Corpus::texts`].
    pub(crate) fn places(&self, messages: &Range<usize>) -> Range<usize> {
        let place = |id| self.texts.partition_point(|text| text.message < id);
        place(messages.start)..place(messages.end)
    }
}

/// Returns the start of a text up to the end of its token number `tokens`.
fn start(text: &str, tokens: usize) -> &str {
    let last = tokens.checked_sub(1).and_then(|skip| spans(text).nth(skip));
    last.map_or(text, |span| &text[..span.end])
}
