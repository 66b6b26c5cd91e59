//! The lengths of words, and the starts of sentences.

/// Returns the length in bytes of the word at the start of `text`; 0 if there is none.
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

/// Whether a character is `'` or its typographic form.
pub(crate) fn is_apostrophe(char: char) -> bool {
    matches!(char, '\'' | '\u{2019}')
}

/// The state of a pass over a text: whether a word at the current position would begin a sentence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentenceStart {
    here: bool,
    after_space: bool,
}

impl Default for SentenceStart {
    fn default() -> Self {
        Self {
            here: true,
            after_space: true,
        }
    }
}

impl SentenceStart {
    pub(crate) fn is_here(self) -> bool {
        self.here
    }

    /// Passes a word, or a sign that replaces a word.
    pub(crate) fn pass_word(&mut self) {
        *self = Self {
            here: false,
            after_space: false,
        };
    }

    /// Passes a character outside words.
    pub(crate) fn pass(&mut self, char: char) {
        match char {
            '.' | '!' | '?' | ':' | '\u{201c}' | '\u{2018}' | '\u{201e}' | '\u{ab}' => {
                self.here = true;
            }
            // The same mark opens and closes a quote. An opening one follows a space or a bracket.
            '"' | '\'' | '`' if self.after_space => self.here = true,
            _ if char.is_alphanumeric() => self.here = false,
            _ => {}
        }
        self.after_space = char.is_whitespace() || matches!(char, '(' | '[' | '{');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of `text`, each with its place and whether it begins a sentence.
    fn words(text: &str) -> Vec<(usize, &str, bool)> {
        let (mut at, mut start, mut all) = (0, SentenceStart::default(), Vec::new());
        while let Some(char) = text[at..].chars().next() {
            let length = word_length(&text[at..], char::is_alphabetic);
            if length > 0 {
                all.push((at, &text[at..at + length], start.is_here()));
                start.pass_word();
                at += length;
            } else {
                start.pass(char);
                at += char.len_utf8();
            }
        }
        all
    }

    fn starts(text: &str) -> Vec<&str> {
        let first = words(text).into_iter().filter(|(_, _, starts)| *starts);
        first.map(|(_, word, _)| word).collect()
    }

    #[test]
    fn an_apostrophe_between_letters_belongs_to_the_word() {
        let all: Vec<_> = words("'We\u{2019}re' the dogs' B's, o''k'")
            .into_iter()
            .map(|(at, word, _)| (at, word))
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
    fn sentences_begin_after_marks_and_opening_quotes() {
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
}
