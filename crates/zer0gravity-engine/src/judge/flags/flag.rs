//! The flags of a result, and the rules that raise them.

use atoms::Comparison;
use serde::{Deserialize, Serialize};

use super::injection::{self, Original, Source};
use super::{atom_loss, echo, executed, hidden, leak, talk, words};
use crate::text::setters::setters;

/// A finding about a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Flag {
    /// The rule that raised the flag.
    pub id: FlagId,
    /// The severity of the finding if it is true.
    pub severity: Severity,
    /// The finding, in a few words.
    pub evidence: String,
}

/// The rules of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlagId {
    /// The encoding equals the text.
    IdentityEncoding,
    /// The encoding has more tokens than the text.
    Expansion,
    /// The instruction was carried out instead of encoded.
    ExecutedAnswer,
    /// The judge and the text metrics disagree.
    JudgeMetricDisagreement,
    /// The rules contain the text.
    RulesContainText,
    /// The encoding repeats the encoder's instructions.
    PromptEcho,
    /// The encoding or the decoded text repeats the rules.
    RulesEcho,
    /// The encoding or the decoded text talks about the task.
    SelfTalk,
    /// A text addresses the judge.
    JudgeInjection,
    /// The decoded text looks like a refusal.
    PossibleRefusalText,
    /// A text has invisible characters.
    HiddenCharacters,
    /// A commitment of the text is lost, changed or invented.
    #[serde(alias = "literal_loss")]
    AtomLoss,
    /// The encoding is too short for the information of the decoded text.
    ImplausibleCompression,
}

/// The severity of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// Information that does not affect the score.
    Info,
    /// The score may mislead.
    Warning,
    /// The score is meaningless if the finding is true.
    Critical,
}

/// The texts and numbers that the rules of flags check.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FlagInput<'a> {
    /// The rules of the encoding system.
    pub rules: &'a str,
    /// The complete prompt of the encoder, including the rules.
    pub encoder_prompt: &'a str,
    /// The text.
    pub original: &'a str,
    /// The encoded text.
    pub encoding: &'a str,
    /// The decoded text.
    pub decoded: &'a str,
    /// The result of carrying out the text.
    pub expected_output: Option<&'a str>,
    /// The number of tokens of the text.
    pub original_tokens: i64,
    /// The number of tokens of the encoding.
    pub encoded_tokens: i64,
    /// The judge's points for the meaning, 0 to 40.
    pub semantic: Option<u8>,
    /// The chrF++ of text and decoded text, 0 to 100.
    pub chrf_pp: f64,
    /// The commitments of the text that the decoded text lost, changed or invented.
    pub atoms: Option<&'a Comparison>,
}

impl<'a> FlagInput<'a> {
    /// Creates an input from texts alone, without prompt, tokens, points and metrics.
    pub fn new(rules: &'a str, original: &'a str, encoding: &'a str, decoded: &'a str) -> Self {
        Self {
            rules,
            encoder_prompt: "",
            original,
            encoding,
            decoded,
            expected_output: None,
            original_tokens: 0,
            encoded_tokens: 0,
            semantic: None,
            chrf_pp: 0.0,
            atoms: None,
        }
    }

    setters! {
        rules: &'a str,
        encoder_prompt: &'a str,
        original: &'a str,
        encoding: &'a str,
        decoded: &'a str,
        expected_output: Option<&'a str>,
        original_tokens: i64,
        encoded_tokens: i64,
        semantic: Option<u8>,
        chrf_pp: f64,
        atoms: Option<&'a Comparison>,
    }
}

impl FlagId {
    /// Every rule, in order.
    pub const ALL: &'static [Self] = &[
        Self::IdentityEncoding,
        Self::Expansion,
        Self::ExecutedAnswer,
        Self::JudgeMetricDisagreement,
        Self::RulesContainText,
        Self::PromptEcho,
        Self::RulesEcho,
        Self::SelfTalk,
        Self::JudgeInjection,
        Self::PossibleRefusalText,
        Self::HiddenCharacters,
        Self::AtomLoss,
        Self::ImplausibleCompression,
    ];

    /// Returns the word in results, such as `executed_answer`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IdentityEncoding => "identity_encoding",
            Self::Expansion => "expansion",
            Self::ExecutedAnswer => "executed_answer",
            Self::JudgeMetricDisagreement => "judge_metric_disagreement",
            Self::RulesContainText => "rules_contain_text",
            Self::PromptEcho => "prompt_echo",
            Self::RulesEcho => "rules_echo",
            Self::SelfTalk => "self_talk",
            Self::JudgeInjection => "judge_injection",
            Self::PossibleRefusalText => "possible_refusal_text",
            Self::HiddenCharacters => "hidden_characters",
            Self::AtomLoss => "atom_loss",
            Self::ImplausibleCompression => "implausible_compression",
        }
    }

    /// Returns the severity of this rule's findings.
    pub fn severity(self) -> Severity {
        match self {
            Self::Expansion => Severity::Info,
            Self::ExecutedAnswer
            | Self::RulesContainText
            | Self::JudgeInjection
            | Self::ImplausibleCompression => Severity::Critical,
            _ => Severity::Warning,
        }
    }

    /// Returns the evidence, if the rule raises a flag.
    fn evidence(self, input: &FlagInput<'_>) -> Option<String> {
        let FlagInput {
            rules,
            original,
            encoding,
            decoded,
            ..
        } = *input;
        let carried = [("encoding", encoding), ("decoded text", decoded)];
        // The finding in the first of the two texts that has one, with the name of the text.
        let quoted = |find: &dyn Fn(&str) -> Option<String>| {
            carried
                .iter()
                .find_map(|(name, text)| Some(format!("{name}: \"{}\"", find(text)?)))
        };
        match self {
            Self::IdentityEncoding => {
                same_words(encoding, original).then(|| "the encoding is the text".to_owned())
            }
            Self::Expansion => (input.encoded_tokens > input.original_tokens).then(|| {
                format!(
                    "{} tokens became {}",
                    input.original_tokens, input.encoded_tokens
                )
            }),
            Self::ExecutedAnswer => {
                let expected = input.expected_output?;
                // If the instruction was restored, its encoding is not an answer, whatever words it has.
                let carried: &[_] = if same_words(decoded, original) {
                    &[]
                } else {
                    &carried
                };
                carried.iter().find_map(|(name, text)| {
                    let piece = executed::executed_answer(text, original, expected)?;
                    Some(format!("{name}: \"{piece}\""))
                })
            }
            Self::JudgeMetricDisagreement => disagreement(input),
            Self::RulesContainText => leak::rules_contain_text(rules, original),
            Self::PromptEcho => echo::prompt_echo(encoding, input.encoder_prompt, original)
                .map(|run| format!("encoding: \"{run}\"")),
            Self::RulesEcho => quoted(&|text| echo::rules_echo(text, rules, original)),
            Self::SelfTalk => quoted(&|text| talk::self_talk(text, original)),
            Self::JudgeInjection => {
                let original = Original::new(original);
                injection::judge_injection(rules, Source::Rules, &original)
                    .map(|said| format!("rules: \"{said}\""))
                    .or_else(|| {
                        quoted(&|text| injection::judge_injection(text, Source::Carried, &original))
                    })
            }
            Self::PossibleRefusalText => {
                talk::refusal(decoded, original).map(|phrase| format!("decoded text: \"{phrase}\""))
            }
            Self::HiddenCharacters => {
                [("rules", rules)]
                    .iter()
                    .chain(&carried)
                    .find_map(|(name, text)| {
                        let char = hidden::hidden_character(text, original)?;
                        Some(format!("{name}: U+{:04X}", u32::from(char)))
                    })
            }
            Self::AtomLoss => atom_loss::atom_loss(input.atoms?, original, decoded),
            Self::ImplausibleCompression => implausible(input),
        }
    }
}

/// Returns every flag that is raised, in the order of [`FlagId`].
///
/// ```
/// use zer0gravity_engine::judge::flags::{FlagId, FlagInput, detect};
/// let texts = ["Close the door.", "Here is the encoded text: Close door.", "Close the door."];
/// let [original, encoding, decoded] = texts;
/// let input = FlagInput::new("Drop articles.", original, encoding, decoded)
///     .original_tokens(5)
///     .encoded_tokens(9)
///     .semantic(Some(40))
///     .chrf_pp(100.0);
/// let flags = detect(&input);
/// let ids: Vec<_> = flags.iter().map(|flag| flag.id).collect();
/// assert_eq!(ids, [FlagId::Expansion, FlagId::SelfTalk]);
/// ```
pub fn detect(input: &FlagInput<'_>) -> Vec<Flag> {
    FlagId::ALL
        .iter()
        .filter_map(|&id| {
            Some(Flag {
                id,
                severity: id.severity(),
                evidence: id.evidence(input)?,
            })
        })
        .collect()
}

/// Whether two texts differ in white space at most.
fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Returns the evidence if the encoding has less than one bit per character of a restored text, whose information then came from
/// elsewhere.
fn implausible(input: &FlagInput<'_>) -> Option<String> {
    // A word that encoder and decoder know may replace a shorter text.
    const CHARACTERS: usize = 24;
    const SAME: f64 = 50.0;
    let characters = input.original.chars().count();
    let bits = 8 * input.encoding.len();
    (characters >= CHARACTERS && input.chrf_pp >= SAME && bits < characters).then(|| {
        let chrf = crate::judge::number::rounded(input.chrf_pp, 1);
        format!("{bits} bits for {characters} characters, chrF++ {chrf}")
    })
}

fn disagreement(input: &FlagInput<'_>) -> Option<String> {
    // For fewer words chrF++ is not reliable.
    const WORDS: usize = 8;
    let semantic = input.semantic?;
    let chrf = input.chrf_pp;
    let lenient =
        semantic >= 30 && chrf < 30.0 && words::words(input.original).nth(WORDS - 1).is_some();
    let recall = input.atoms.and_then(Comparison::critical_recall);
    let strict = semantic <= 10 && chrf >= 45.0 && recall.is_some_and(|recall| recall >= 0.8);
    let lost = input.atoms.map_or(0, |atoms| atoms.critical().count());
    let blind = semantic >= 36 && lost > 0;
    let findings = if blind {
        format!(", critical findings: {lost}")
    } else {
        String::new()
    };
    (lenient || strict || blind)
        .then(|| format!("{semantic} of 40 points, chrF++ {chrf:.1}{findings}"))
}
