//! The decoder of encoded texts, by the rules and a lexicon.

use crate::rules::codec::rule_codec::{Decoded, RuleCodec};
use crate::text::Lexicon;
use crate::text::lexicon::{folded, is_vowel, letters};
use crate::text::words::{SentenceStart, word_length};

pub(super) struct Decoding<'a> {
    codec: &'a RuleCodec,
    lexicon: &'a Lexicon,
    encoded: &'a str,
    at: usize,
    start: SentenceStart,
    decoded: Decoded,
}

impl<'a> Decoding<'a> {
    pub fn new(codec: &'a RuleCodec, encoded: &'a str, lexicon: &'a Lexicon) -> Self {
        Self {
            codec,
            lexicon,
            encoded,
            at: 0,
            start: SentenceStart::default(),
            decoded: Decoded {
                text: String::with_capacity(encoded.len() * 2),
                unresolved: 0,
            },
        }
    }

    pub fn finish(mut self) -> Decoded {
        while let Some(char) = self.encoded[self.at..].chars().next() {
            self.step(char);
        }
        self.decoded
    }

    fn step(&mut self, char: char) {
        let codec = self.codec;
        let is_letter = |char| codec.is_letter(char);
        let rest = &self.encoded[self.at..];
        if codec.bars && char == '|' {
            self.bar(rest);
        } else if let Some((length, source)) =
            codec.back.longest_at(self.encoded, self.at, is_letter)
            && !self.is_lone_capital(&rest[..length])
        {
            self.push(
                source,
                self.start.is_here() && source.starts_with(is_letter),
            );
            self.at += length;
        } else if is_letter(char) {
            let length = word_length(rest, is_letter);
            self.word(&rest[..length]);
            self.at += length;
        } else {
            self.literal(char);
            self.at += char.len_utf8();
        }
    }

    /// `|&|` is a sign as such, `||` a bar, and any other bar parts two words.
    fn bar(&mut self, rest: &str) {
        let mut chars = rest.chars().skip(1);
        match (chars.next(), chars.next()) {
            (Some(sign), Some('|')) if self.codec.is_sign(sign) => {
                self.literal(sign);
                self.at += 2 + sign.len_utf8();
            }
            (Some('|'), _) => {
                self.literal('|');
                self.at += 2;
            }
            _ => {
                self.literal(' ');
                self.at += 1;
            }
        }
    }

    fn literal(&mut self, char: char) {
        self.decoded.text.push(char);
        self.start.pass(char);
    }

    fn is_lone_capital(&self, piece: &str) -> bool {
        let mut chars = piece.chars();
        let lone =
            matches!((chars.next(), chars.next()), (Some(char), None) if char.is_uppercase());
        lone && !self.start.is_here()
    }

    fn push(&mut self, word: &str, capital: bool) {
        let mut chars = word.chars();
        if let Some(first) = chars.next().filter(|_| capital) {
            self.decoded.text.extend(first.to_uppercase());
            self.decoded.text.push_str(chars.as_str());
        } else {
            self.decoded.text.push_str(word);
        }
        self.start.pass_word();
    }

    fn word(&mut self, word: &str) {
        let Some(longer_than) = self.codec.vowels.filter(|_| !self.stays(word)) else {
            self.push(word, false);
            return;
        };
        if let Some(restored) = self.lexicon.restored(word, longer_than) {
            let typographic = word.contains('\u{2019}');
            let restored = if typographic {
                restored.replace('\'', "\u{2019}")
            } else {
                restored
            };
            self.push(&restored, word.starts_with(char::is_uppercase));
        } else {
            self.decoded.unresolved += 1;
            self.push(word, false);
        }
    }

    /// Whether an encoder has left `word` as it was: it has a vowel, it is a word too short to lose any, or it is a name
    /// by its capitals.
    fn stays(&self, word: &str) -> bool {
        let short = self
            .codec
            .vowels
            .is_some_and(|longer_than| letters(word) <= longer_than);
        let mut chars = word.chars();
        let first = chars.next().is_some_and(char::is_uppercase);
        let name = chars.any(char::is_uppercase) || (first && !self.start.is_here());
        word.contains(is_vowel)
            || (short && self.lexicon.contains(&folded(word)))
            || (self.codec.keeps_names && name)
    }
}

#[cfg(test)]
mod tests {
    use crate::DEFAULT_RULES;
    use crate::rules::codec::RuleCodec;
    use crate::text::Lexicon;

    fn decoded(encoded: &str) -> (String, usize) {
        let decoded = RuleCodec::parse(DEFAULT_RULES)
            .0
            .decode(encoded, Lexicon::english());
        (decoded.text, decoded.unresolved)
    }

    #[test]
    fn the_default_rules_word_by_word() {
        for (encoded, text, unresolved) in [
            ("Hll wrld!", "Hello world!", 0),
            (
                "θ qck brwn fox jmps vr θ lzy dog",
                "The quick brown fox jumps over the lazy dog",
                0,
            ),
            ("whr A=0, B=1", "where A=0, B=1", 0),
            ("it =. = it?", "it is. Is it?", 0),
            (
                "α |&| wrd, α|&|wrd, 1&2, (|=|), ||",
                "A & word, a&word, 1&2, (=), |",
                0,
            ),
            ("xqz by Xqz NSA", "xqz by Xqz NSA", 1),
            ("W\u{2019}r wrld\u{2019}s", "We\u{2019}re world\u{2019}s", 0),
            ("tk|cr", "take care", 0),
            ("", "", 0),
        ] {
            let actual = decoded(encoded);
            assert_eq!((&*actual.0, actual.1), (text, unresolved), "{encoded:?}");
        }
    }

    #[test]
    fn other_rules_word_by_word() {
        let code = |rules: &str, text: &str| {
            RuleCodec::parse(rules)
                .0
                .decode(text, Lexicon::english())
                .text
        };
        assert_eq!(code("you -> u, with = w/", "U go w/ u"), "You go with you");
        assert_eq!(code("Drop words the, a", "cat and dog"), "cat and dog");
    }
}
