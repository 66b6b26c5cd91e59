//! The texts of a run as numbers: equal texts are one kind, equal words one token.

use std::collections::HashMap;
use std::ops::Range;

use super::token::{lower, spans};
use crate::format::{is_invisible, without_signature};
use crate::pool::MessageId;
use crate::verify::Transcript;

/// The texts of a run, stamps removed.
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
    /// How many tokens are different.
    vocabulary: usize,
}

/// Texts that are equal.
#[derive(Debug)]
struct EqualTexts<'a> {
    text: &'a str,
    tokens: Range<usize>,
}

/// A message that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text {
    /// Its id.
    pub(crate) message: usize,
    /// Which text it is.
    pub(crate) kind: usize,
    /// Whether it has a token.
    pub(crate) worded: bool,
}

impl<'a> Corpus<'a> {
    /// All texts that show anything.
    pub(crate) fn of(run: &'a Transcript) -> Self {
        Self::build(run, None)
    }

    /// The first `tokens` tokens of all texts that have so many.
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
        corpus
    }

    /// How many texts are different, those that are not measured included.
    pub(crate) fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is a message of this id.
    pub(crate) fn has(&self, id: MessageId) -> bool {
        id.index() < self.of_message.len()
    }

    /// Which text a message is.
    pub(crate) fn kind_of(&self, message: usize) -> usize {
        self.of_message[message] as usize
    }

    /// The text of a kind.
    pub(crate) fn text(&self, kind: usize) -> &'a str {
        self.kinds[kind].text
    }

    /// Where the tokens of a kind stand in [`Corpus::tokens`].
    pub(crate) fn span(&self, kind: usize) -> Range<usize> {
        self.kinds[kind].tokens.clone()
    }

    /// The tokens of all kinds.
    pub(crate) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// How many tokens are different.
    pub(crate) fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The texts that are measured, in the order of their messages.
    pub(crate) fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// A message, if it is measured.
    pub(crate) fn measured(&self, id: MessageId) -> Option<Text> {
        let place = (self.texts).binary_search_by_key(&id, |text| MessageId::at(text.message));
        Some(self.texts[place.ok()?])
    }

    /// Which places of [`Corpus::texts`] these messages have.
    pub(crate) fn places(&self, messages: &Range<usize>) -> Range<usize> {
        let place = |id| self.texts.partition_point(|text| text.message < id);
        place(messages.start)..place(messages.end)
    }
}

/// A text up to the end of its token number `tokens`.
fn start(text: &str, tokens: usize) -> &str {
    let last = tokens.checked_sub(1).and_then(|skip| spans(text).nth(skip));
    last.map_or(text, |span| &text[..span.end])
}
