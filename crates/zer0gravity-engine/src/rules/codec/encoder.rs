//! The encoder of texts, by the rules.

use std::borrow::Cow;

use crate::rules::codec::rule_codec::RuleCodec;
use crate::text::Lexicon;
use crate::text::lexicon::{folded, is_vowel, letters};
use crate::text::words::{SentenceStart, is_apostrophe, word_length};

/// A piece of an encoding.
enum EncodedPart<'a> {
    /// Text as it is.
    Plain(Cow<'a, str>),
    /// A sign of the rules that occurs in the text itself.
    Literal(char),
}

pub(super) struct EncodedBuilder<'a> {
    codec: &'a RuleCodec,
    text: &'a str,
    at: usize,
    start: SentenceStart,
    pieces: Vec<EncodedPart<'a>>,
}

impl<'a> EncodedBuilder<'a> {
    pub fn new(codec: &'a RuleCodec, text: &'a str) -> Self {
        let text = if codec.collapses_space {
            text.trim()
        } else {
            text
        };
        Self {
            codec,
            text,
            at: 0,
            start: SentenceStart::default(),
            pieces: Vec::new(),
        }
    }

    pub fn finish(mut self) -> String {
        while let Some(char) = self.text[self.at..].chars().next() {
            self.step(char);
        }
        self.joined()
    }

    fn step(&mut self, char: char) {
        let codec = self.codec;
        let is_letter = |char| codec.is_letter(char);
        let rest = &self.text[self.at..];
        if let Some((length, target)) = codec.forth.longest_at(self.text, self.at, is_letter)
            && !self.is_lone_capital(&rest[..length])
        {
            self.push(Cow::Borrowed(target), length);
        } else if is_letter(char) {
            let length = word_length(rest, is_letter);
            let word = &rest[..length];
            if codec.dropped.contains(&folded(word)) {
                self.drop(length);
            } else {
                let word = self.word(word);
                self.push(word, length);
            }
        } else if char.is_whitespace() && codec.collapses_space {
            let length = rest.len() - rest.trim_start().len();
            self.pieces.push(EncodedPart::Plain(Cow::Borrowed(" ")));
            self.pass(length);
        } else {
            let length = char.len_utf8();
            self.pieces.push(match char {
                '|' if codec.bars => EncodedPart::Plain(Cow::Borrowed("||")),
                sign if codec.bars && codec.is_sign(sign) => EncodedPart::Literal(sign),
                _ => EncodedPart::Plain(Cow::Borrowed(&rest[..length])),
            });
            self.pass(length);
        }
    }

    /// A capital by itself within a sentence, as in `A=0`, is a name and no word.
    fn is_lone_capital(&self, piece: &str) -> bool {
        let mut chars = piece.chars();
        let lone =
            matches!((chars.next(), chars.next()), (Some(char), None) if char.is_uppercase());
        lone && !self.start.is_here()
    }

    fn push(&mut self, piece: Cow<'a, str>, length: usize) {
        self.pieces.push(EncodedPart::Plain(piece));
        self.start.pass_word();
        self.at += length;
    }

    /// Leaves a word out, and the space after it.
    fn drop(&mut self, length: usize) {
        self.at += length;
        if let Some(space) = self.text[self.at..]
            .chars()
            .next()
            .filter(|char| char.is_whitespace())
        {
            self.at += space.len_utf8();
        }
    }

    fn pass(&mut self, length: usize) {
        for char in self.text[self.at..self.at + length].chars() {
            self.start.pass(char);
        }
        self.at += length;
    }

    fn word(&self, word: &'a str) -> Cow<'a, str> {
        let Some(longer_than) = self.codec.vowels else {
            return Cow::Borrowed(word);
        };
        if letters(word) <= longer_than || (self.codec.keeps_names && self.is_name(word)) {
            return Cow::Borrowed(word);
        }
        let capital = word.starts_with(char::is_uppercase);
        let left: String = word.chars().filter(|&char| !is_vowel(char)).collect();
        match left.chars().find(|&char| !is_apostrophe(char)) {
            None => Cow::Borrowed(word),
            Some(first) if capital => {
                Cow::Owned(left.replacen(first, &first.to_uppercase().to_string(), 1))
            }
            Some(_) => Cow::Owned(left),
        }
    }

    /// Whether `word` has capitals after its first letter, a capital within a sentence, or one at its start and is in no
    /// list.
    fn is_name(&self, word: &str) -> bool {
        let mut chars = word.chars();
        let first = chars.next().is_some_and(char::is_uppercase);
        chars.any(char::is_uppercase)
            || (first && !(self.start.is_here() && Lexicon::english().contains(word)))
    }

    fn joined(self) -> String {
        let solid = |char: char| self.codec.is_letter(char) || char.is_numeric();
        let mut encoding = String::with_capacity(self.text.len());
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            let sign = match piece {
                EncodedPart::Plain(piece) => {
                    encoding.push_str(piece);
                    continue;
                }
                EncodedPart::Literal(sign) => *sign,
            };
            let before = encoding.chars().next_back();
            let next = match pieces.peek() {
                Some(EncodedPart::Plain(next)) => next.chars().next(),
                Some(EncodedPart::Literal(_)) | None => None,
            };
            // Between letters or digits a sign is taken for what it is.
            if before.is_some_and(solid) && next.is_some_and(solid) {
                encoding.push(sign);
            } else {
                encoding.extend(['|', sign, '|']);
            }
        }
        encoding
    }
}

#[cfg(test)]
mod tests {
    use crate::DEFAULT_RULES;
    use crate::rules::codec::RuleCodec;

    fn encoded(text: &str) -> String {
        RuleCodec::parse(DEFAULT_RULES).0.encode(text)
    }

    #[test]
    fn the_default_rules_word_by_word() {
        for (text, encoding) in [
            ("Hello world!", "Hll wrld!"),
            (
                "The quick brown fox jumps over the lazy dog",
                "θ qck brwn fox jmps vr θ lzy dog",
            ),
            ("A dog. A cat: THE end", "α dog. α cat: θ end"),
            ("where A=0, B=1", "whr A=0, B=1"),
            (
                "Over there, in Ireland, NASA knows",
                "Vr thr, ∈ Ireland, NASA knws",
            ),
            ("Xylem Qwertz. Every day", "Xylm Qwertz. Vry day"),
            ("aeae euoi eau", "aeae euoi eau"),
            (
                "We're isn't it\u{2019}s don\u{2019}t",
                "W'r sn't it\u{2019}s dn\u{2019}t",
            ),
            ("  a \t\n b  ", "α b"),
            ("a & b, a&b, 1&2, (=), |", "α |&| b, α|&|b, 1&2, (|=|), ||"),
            ("θ aθb xθy", "|θ| α|θ|b xθy"),
            ("'Stop it' said Bob", "'Stp it' sd Bob"),
            ("", ""),
            (" ", ""),
        ] {
            assert_eq!(encoded(text), encoding, "{text:?}");
        }
    }

    #[test]
    fn other_rules_word_by_word() {
        let code = |rules: &str, text: &str| RuleCodec::parse(rules).0.encode(text);
        assert_eq!(
            code("Drop words the, a", "The cat and a dog"),
            "cat and dog"
        );
        assert_eq!(
            code(
                "you -> u\n'for example' -> eg",
                "You, for  example, for example you"
            ),
            "u, for  example, eg u"
        );
        assert_eq!(code("Drop vowels", "A Tool  for us"), "A Tl  fr s");
        assert_eq!(code("'.'→';'", "Yes. No."), "Yes; No;");
    }
}
