//! Words of a text, and where its sentences begin.

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Letters, and apostrophes between letters.
    pub text: &'a str,
    /// The place of the word in the text, in bytes.
    pub at: usize,
    /// Whether it is the first word, or follows `. ! ? :` or an opening quote.
    pub starts_sentence: bool,
}

/// The words of `text`: runs of what `is_letter` takes, with apostrophes between letters.
pub(crate) fn words(
    text: &str,
    is_letter: impl Fn(char) -> bool + Copy,
) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    let mut start = SentenceStart::default();
    std::iter::from_fn(move || {
        while let Some(char) = text[at..].chars().next() {
            if is_letter(char) {
                let length = word_length(&text[at..], is_letter);
                let word = Word {
                    text: &text[at..at + length],
                    at,
                    starts_sentence: start.is_here(),
                };
                start.pass_word();
                at += length;
                return Some(word);
            }
            start.pass(char);
            at += char.len_utf8();
        }
        None
    })
}

/// Bytes of the word that `text` begins with.
pub(crate) fn word_length(text: &str, is_letter: impl Fn(char) -> bool) -> usize {
    let mut length = 0;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let inside = is_letter(char)
            || (is_apostrophe(char)
                && length > 0
                && chars.peek().is_some_and(|&next| is_letter(next)));
        if !inside {
            break;
        }
        length += char.len_utf8();
    }
    length
}

/// `'` and its typographic form.
pub(crate) fn is_apostrophe(char: char) -> bool {
    matches!(char, '\'' | '\u{2019}')
}

/// Follows a text and knows whether a word here would begin a sentence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentenceStart {
    here: bool,
    behind_space: bool,
}

impl Default for SentenceStart {
    fn default() -> Self {
        Self {
            here: true,
            behind_space: true,
        }
    }
}

impl SentenceStart {
    pub(crate) fn is_here(self) -> bool {
        self.here
    }

    /// Passes a word, or a sign for one.
    pub(crate) fn pass_word(&mut self) {
        *self = Self {
            here: false,
            behind_space: false,
        };
    }

    /// A character outside of words.
    pub(crate) fn pass(&mut self, char: char) {
        match char {
            '.' | '!' | '?' | ':' | '\u{201c}' | '\u{2018}' | '\u{201e}' | '\u{ab}' => {
                self.here = true;
            }
            // The same mark opens and closes: what opens has space or a bracket before it.
            '"' | '\'' | '`' if self.behind_space => self.here = true,
            _ if char.is_alphanumeric() => self.here = false,
            _ => {}
        }
        self.behind_space = char.is_whitespace() || matches!(char, '(' | '[' | '{');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<&str> {
        words(text, char::is_alphabetic)
            .filter(|word| word.starts_sentence)
            .map(|word| word.text)
            .collect()
    }

    #[test]
    fn an_apostrophe_between_letters_belongs_to_the_word() {
        let all: Vec<_> = words("'We\u{2019}re' the dogs' B's, o''k'", char::is_alphabetic)
            .map(|word| (word.at, word.text))
            .collect();
        assert_eq!(
            all,
            [
                (1, "We\u{2019}re"),
                (10, "the"),
                (14, "dogs"),
                (20, "B's"),
                (25, "o"),
                (28, "k"),
            ]
        );
    }

    #[test]
    fn sentences_begin_behind_marks_and_opening_quotes() {
        assert_eq!(
            starts("One two. Three! (Four) five? six: seven, eight"),
            ["One", "Three", "Four", "six", "seven"]
        );
        assert_eq!(
            starts("say 'Stop it' Bob said \u{201c}Well\u{201d} Bob"),
            ["say", "Stop", "Well"]
        );
        assert_eq!(starts("3 cats"), Vec::<&str>::new());
        assert_eq!(starts("1. Cats"), ["Cats"]);
    }

    proptest::proptest! {
        #[test]
        fn words_lie_in_order_in_any_text(text in "\\PC*") {
            let mut end = 0;
            for word in words(&text, char::is_alphabetic) {
                proptest::prop_assert!(word.at >= end);
                end = word.at + word.text.len();
                proptest::prop_assert_eq!(&text[word.at..end], word.text);
            }
        }
    }
}
