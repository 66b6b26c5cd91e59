//! The verdict of a comparison with neutral descent, in one sentence.

use serde::Serialize;

use super::nulls::{Feature, FeatureKind};

/// The largest corrected p that counts as a difference.
pub const ALPHA: f64 = 0.05;

/// The smallest numbers of contests and of messages with a parent, and the largest share of innovations, of a run that
/// is tested.
pub const LEAST_CONTESTS: usize = 30;
/// The smallest number of messages with a parent of a run that is tested.
pub const LEAST_PAIRS: usize = 30;
/// The largest share of messages without a parent of a run that is tested, 0 to 1.
pub const MOST_NEW: f64 = 0.8;

/// The length of a word in a sentence, in characters.
const SHOWN: usize = 40;

/// The result of a comparison with neutral descent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The case.
    pub case: VerdictCase,
    /// The result in words.
    pub sentence: String,
}

/// The cases of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum VerdictCase {
    /// Texts with a feature are passed on more often than others.
    Selection,
    /// The texts are more or less alike than in neutral descent, and no feature is favoured.
    Similarity,
    /// Neutral descent gives the same.
    Drift,
    /// The run is too small or too new for a test.
    NotTested,
}

/// The findings that a verdict is made from.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a run is tested or not")]
pub enum VerdictFindings {
    /// The run was tested.
    Tested(TestedRun),
    /// The run has too few contests, or too few messages with a parent.
    NotTested {
        /// The number of messages with a parent.
        pairs: usize,
        /// The number of messages of calls.
        messages: usize,
        /// The number of contests.
        contests: usize,
    },
    /// The run was not tested because reads are unknown.
    Unexposed,
}

/// The findings about a run that was tested. All p are corrected.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the numbers of a sentence")]
pub struct TestedRun {
    /// The p of the choice test.
    pub choice_p: f64,
    /// The feature with the z farthest from 0; `None` if no feature varies.
    pub first: Option<Feature>,
    /// The similarity of the texts; `None` if no round has two texts.
    pub similarity: Option<SimilarityTest>,
    /// Whether a word that doubles a text's chance would be found with a power of 80 %.
    pub would_find_double: bool,
}

/// The similarity of the texts of a run among that of null runs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the numbers of a sentence")]
pub struct SimilarityTest {
    /// The mean similarity of the run, 0 to 1.
    pub observed: f64,
    /// The median of the null runs.
    pub median: f64,
    /// Their quantile 0.025.
    pub low: f64,
    /// Their quantile 0.975.
    pub high: f64,
    /// The corrected p.
    pub p: f64,
}

impl Verdict {
    /// Returns the verdict of these findings.
    pub fn of(findings: &VerdictFindings) -> Self {
        let (case, sentence) = match findings {
            VerdictFindings::NotTested {
                pairs,
                messages,
                contests,
            } => (
                VerdictCase::NotTested,
                not_tested(*pairs, *messages, *contests),
            ),
            VerdictFindings::Tested(found) => tested(found),
            VerdictFindings::Unexposed => (
                VerdictCase::NotTested,
                "Not tested: it is not known which messages each author read.".to_owned(),
            ),
        };
        Self { case, sentence }
    }

    /// Returns the verdict of a run whose reads are assumed: of the similarity alone, since choice needs recorded reads.
    pub fn assumed(similarity: Option<SimilarityTest>, assumption: &str) -> Self {
        let (case, sentence) = match similarity {
            Some(texts) if texts.p <= ALPHA => (VerdictCase::Similarity, alike(&texts)),
            texts => (VerdictCase::Drift, format!("{}.", drift(texts, None))),
        };
        let sentence = format!("Under the assumption that {assumption}: {sentence}");
        Self { case, sentence }
    }
}

fn tested(found: &TestedRun) -> (VerdictCase, String) {
    if let (true, Some(first)) = (found.choice_p <= ALPHA, &found.first) {
        let sentence = selected(first, found.choice_p, "2 tests and all words");
        return (VerdictCase::Selection, sentence);
    }
    match found.similarity {
        Some(texts) if texts.p <= ALPHA => {
            let sentence = format!(
                "{} No word is favoured: this may be texts made of several others, changes that go one way, or a choice that words do not show.",
                alike(&texts)
            );
            (VerdictCase::Similarity, sentence)
        }
        texts => {
            let found_double = if found.would_find_double { "yes" } else { "no" };
            let sentence = format!(
                "{}. A word that doubles a text's chance would have been found with 80 % power: {found_double}.",
                drift(texts, Some(found.choice_p))
            );
            (VerdictCase::Drift, sentence)
        }
    }
}

fn alike(texts: &SimilarityTest) -> String {
    let how = if texts.observed > texts.median {
        "more"
    } else {
        "less"
    };
    format!(
        "The texts are {how} alike than neutral descent gives: {:.2} against {:.2} (95 % {:.2} to {:.2}; {}).",
        texts.observed,
        texts.median,
        texts.low,
        texts.high,
        p_value(texts.p)
    )
}

/// Returns the sentence of a run without a difference, without its point.
fn drift(texts: Option<SimilarityTest>, choice_p: Option<f64>) -> String {
    let choice = choice_p.map(|p| format!("choice {}", p_value(p)));
    let texts = texts.map(|texts| {
        format!(
            "similarity {:.2} against {:.2}, {}",
            texts.observed,
            texts.median,
            p_value(texts.p)
        )
    });
    let found: Vec<String> = choice.into_iter().chain(texts).collect();
    format!(
        "Drift is enough: copying at random, with the changes measured in this run, gives the same ({})",
        found.join(", ")
    )
}

/// Returns the sentence about a feature that is favoured; `corrected` is what the p is corrected for.
pub(crate) fn selected(first: &Feature, p: f64, corrected: &str) -> String {
    let is_more = first.weight >= 1.0;
    // A feature on a scale is named by the end that is passed on.
    let named = |more: &str, less: &str, unit: &str| {
        let name = if is_more { more } else { less };
        (name.to_owned(), format!(" per {unit}"), !is_more)
    };
    let (texts, unit, is_inverted) = match first.feature {
        FeatureKind::Word => {
            let word = first.value.as_deref().unwrap_or_default();
            (
                format!("texts with \"{}\"", shortened(word)),
                String::new(),
                false,
            )
        }
        FeatureKind::Length => named("longer texts", "shorter texts", "unit of ln(1 + words)"),
        FeatureKind::Age => named("newer texts", "older texts", "standard deviation of age"),
        FeatureKind::Centrality => named(
            "texts like the others",
            "texts unlike the others",
            "unit of similarity",
        ),
    };
    let [weight, low, high] = if is_inverted {
        [first.weight, first.high, first.low].map(f64::recip)
    } else {
        [first.weight, first.low, first.high]
    };
    format!(
        "Selection: {texts} are passed on {weight:.2} times as often{unit} as other texts that were read with them (95 % {low:.2} to {high:.2}; {}, corrected for {corrected}).",
        p_value(p)
    )
}

fn not_tested(pairs: usize, messages: usize, contests: usize) -> String {
    let is_new = (messages - pairs) as f64 > MOST_NEW * messages as f64;
    if is_new || 2 * pairs < messages {
        return format!(
            "Not tested: only {pairs} of {messages} messages come recognisably from a text that was read."
        );
    }
    format!(
        "Not tested: only {contests} calls read two different texts and passed one on; {LEAST_CONTESTS} are needed."
    )
}

fn shortened(word: &str) -> String {
    if word.chars().count() <= SHOWN {
        return word.to_owned();
    }
    word.chars().take(SHOWN).chain(['…']).collect()
}

/// Returns `p = ` with two digits, or `p < 0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 {
        return "p < 0.001".to_owned();
    }
    // Digits after the point for two that count.
    let digits = (1.0 - p.log10().floor()).clamp(0.0, 4.0) as usize;
    let shown = format!("{p:.digits$}");
    let shown = if shown.contains('.') {
        shown.trim_end_matches('0').trim_end_matches('.')
    } else {
        &shown
    };
    format!("p = {shown}")
}
