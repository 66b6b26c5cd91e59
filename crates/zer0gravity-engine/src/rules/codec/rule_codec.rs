//! Rules that a program can follow, in both directions.

use std::collections::HashSet;

use crate::rules::codec::decoder::Decoding;
use crate::rules::codec::encoder::EncodedBuilder;
use crate::rules::codec::syntax::{Clause, Rule, is_default, rules};
use crate::rules::codec::table::Table;
use crate::rules::lint::LintFinding;
use crate::text::Lexicon;

/// An encoder and a decoder for rules in the written syntax ([`SYNTAX`](crate::rules::SYNTAX)).
///
/// The default rules, written for models, are recognised by their SHA-256 (of the text without white space at its ends, lines
/// ended by LF) and followed to the letter, their vague parts included.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a clause that rules have or have not"
)]
pub struct RuleCodec {
    pub(super) forth: Table,
    pub(super) back: Table,
    /// Letters that are targets by themselves: as signs, they do not occur as letters in a text.
    signs: HashSet<char>,
    pub(super) dropped: HashSet<String>,
    /// Words of more letters than this lose their vowels.
    pub(super) vowels: Option<usize>,
    pub(super) keeps_names: bool,
    pub(super) collapses_space: bool,
    /// Signs that are meant as such stand between bars.
    pub(super) bars: bool,
    mechanical: bool,
}

/// A decoded text, with the number of guesses it took.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded {
    /// The text.
    pub text: String,
    /// Words without vowels that the lexicon does not know; they stand in the text as they came.
    pub unresolved: usize,
}

impl RuleCodec {
    /// A codec for `rules`, and a finding `ZG005` for each line that needs a model, with the line as evidence. The default
    /// rules have no findings.
    ///
    /// ```
    /// use zer0gravity_engine::rules::codec::RuleCodec;
    /// let (codec, findings) = RuleCodec::parse("MAP 'you' -> 'u'\nBe brief.");
    /// assert!(!codec.is_mechanical());
    /// assert_eq!((findings[0].line, &*findings[0].evidence), (2, "Be brief."));
    /// ```
    pub fn parse(rules_text: &str) -> (Self, Vec<LintFinding>) {
        let default = is_default(rules_text);
        let rules = rules(rules_text);
        let mut codec = Self::of(&rules);
        if default {
            codec.bars = true;
            codec.mechanical = true;
            return (codec, Vec::new());
        }
        let mut findings: Vec<LintFinding> = rules.iter().filter_map(not_understood).collect();
        if rules.is_empty() {
            findings.push(LintFinding {
                code: "ZG005".to_owned(),
                line: 1,
                message: "there are no rules".to_owned(),
                evidence: String::new(),
            });
        }
        (codec, findings)
    }

    fn of(rules: &[Rule<'_>]) -> Self {
        let mut codec = Self {
            forth: Table::default(),
            back: Table::default(),
            signs: HashSet::new(),
            dropped: HashSet::new(),
            vowels: None,
            keeps_names: false,
            collapses_space: false,
            bars: false,
            mechanical: !rules.is_empty() && rules.iter().all(Rule::is_mechanical),
        };
        for clause in rules.iter().flat_map(|rule| &rule.clauses) {
            match clause {
                Clause::Map(mapping) => {
                    codec.forth.insert(&mapping.source, &mapping.target);
                    if !mapping.target.is_empty() {
                        codec.back.insert(&mapping.target, &mapping.source);
                    }
                    let mut target = mapping.target.chars();
                    if let (Some(sign), None) = (target.next(), target.next())
                        && !sign.is_ascii_alphanumeric()
                    {
                        // With their capitals, which the table takes for the same.
                        codec.signs.insert(sign);
                        codec.signs.extend(sign.to_uppercase());
                    }
                }
                Clause::DropVowels { longer_than } => {
                    let least = codec
                        .vowels
                        .map_or(*longer_than, |own| own.min(*longer_than));
                    codec.vowels = Some(least);
                }
                Clause::DropWords(words) => codec.dropped.extend(words.iter().cloned()),
                Clause::CollapseSpace => codec.collapses_space = true,
                Clause::Keep { names } => codec.keeps_names |= names,
            }
        }
        codec
    }

    /// Whether a program can follow every line.
    pub fn is_mechanical(&self) -> bool {
        self.mechanical
    }

    /// `text`, encoded.
    ///
    /// ```
    /// use zer0gravity_engine::DEFAULT_RULES;
    /// use zer0gravity_engine::rules::codec::RuleCodec;
    /// let (codec, _) = RuleCodec::parse(DEFAULT_RULES);
    /// assert_eq!(codec.encode("Hello world!"), "Hll wrld!");
    /// ```
    pub fn encode(&self, text: &str) -> String {
        EncodedBuilder::new(self, text).finish()
    }

    /// An encoding, decoded from these rules and `lexicon` alone.
    ///
    /// ```
    /// use zer0gravity_engine::DEFAULT_RULES;
    /// use zer0gravity_engine::rules::codec::RuleCodec;
    /// use zer0gravity_engine::text::Lexicon;
    /// let (codec, _) = RuleCodec::parse(DEFAULT_RULES);
    /// let decoded = codec.decode("θ qck brwn fox", Lexicon::english());
    /// assert_eq!((&*decoded.text, decoded.unresolved), ("The quick brown fox", 0));
    /// ```
    pub fn decode(&self, encoded: &str, lexicon: &Lexicon) -> Decoded {
        Decoding::new(self, encoded, lexicon).finish()
    }

    pub(super) fn is_letter(&self, char: char) -> bool {
        char.is_alphabetic() && (char.is_ascii() || !self.signs.contains(&char))
    }

    pub(super) fn is_sign(&self, char: char) -> bool {
        self.signs.contains(&char)
    }
}

/// The finding for a line that needs a model.
pub(crate) fn not_understood(rule: &Rule<'_>) -> Option<LintFinding> {
    if rule.is_mechanical() {
        return None;
    }
    Some(LintFinding {
        code: "ZG005".to_owned(),
        line: rule.line,
        message: "info: only a model can follow this".to_owned(),
        evidence: clipped(rule.unread.unwrap_or(rule.body)),
    })
}

/// `text`, or its beginning if it is long.
pub(crate) fn clipped(text: &str) -> String {
    const LONGEST: usize = 160;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::DEFAULT_RULES;

    #[test]
    fn the_default_rules_are_known_by_their_text() {
        for (rules, known) in [
            (DEFAULT_RULES.to_owned(), true),
            (format!("\u{feff}{DEFAULT_RULES}\n"), true),
            (DEFAULT_RULES.replace('\n', "\r\n"), true),
            (
                DEFAULT_RULES.replace("longer than 3", "longer than 4"),
                false,
            ),
            (format!("{DEFAULT_RULES}\nKeep numbers"), false),
        ] {
            let (codec, findings) = RuleCodec::parse(&rules);
            assert_eq!((codec.is_mechanical(), findings.is_empty()), (known, known));
        }
    }

    #[test]
    fn long_evidence_is_cut() {
        let (_, findings) = RuleCodec::parse(&"é".repeat(1_000));
        assert_eq!(findings[0].evidence.chars().count(), 161);
    }

    proptest! {
        #[test]
        fn any_text_is_encoded_and_decoded(text in "\\PC*", other in "[a-zA-Z'’=&|θΘαΑ∈ .\n0-9]{0,60}") {
            let (codec, _) = RuleCodec::parse(DEFAULT_RULES);
            for text in [text, other] {
                let encoded = codec.encode(&text);
                prop_assert_eq!(codec.encode(&text), &*encoded);
                let decoded = codec.decode(&encoded, Lexicon::english());
                prop_assert_eq!(codec.decode(&encoded, Lexicon::english()), decoded);
                codec.decode(&text, Lexicon::english());
            }
        }

        #[test]
        fn any_rules_are_followed(
            rules in proptest::collection::vec(
                "'(the|a|is|=|go on|é)'→'(x|=|θ|w/|go on|)'\n|Drop vowels\n|Drop words the, go\n|Collapse space\n|Keep names\n",
                0..6,
            ),
            text in "(the|The|a|A|is|=|θ|Θ|w/|go on|é|hello|\\||'|’|1| |\t){0,20}",
        ) {
            let (codec, _) = RuleCodec::parse(&rules.concat());
            let encoded = codec.encode(&text);
            codec.decode(&encoded, Lexicon::english());
            codec.decode(&text, Lexicon::english());
        }

        /// Short words, numbers, signs and bars come back, but for capitals and white space.
        #[test]
        fn what_is_not_shortened_comes_back(
            pieces in proptest::collection::vec("(fox|dog|is|a|A|The|to|42|)[=&→θΘ∘αΑ| .,(]{1,3}", 0..20),
        ) {
            let text = pieces.concat();
            let (codec, _) = RuleCodec::parse(DEFAULT_RULES);
            let decoded = codec.decode(&codec.encode(&text), Lexicon::english());
            let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(decoded.text.to_lowercase(), plain.to_lowercase());
        }
    }
}
