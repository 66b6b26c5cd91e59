use regex::Regex;

use super::{MetricName, PatternScorer, PatternTarget, ScoredBy, Scorer};
use crate::result::Metrics;
use crate::text::js_trim;

/// The texts of an experiment, and what is known of them.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ScoredTexts<'a> {
    /// The encoded text.
    pub encoded: &'a str,
    /// The decoded text.
    pub decoded: &'a str,
    /// The expected output of the text, if it has one.
    pub expected: Option<&'a str>,
    /// The metrics of the decoded text.
    pub metrics: &'a Metrics,
}

/// The score of a scorer that needs no model.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum TextScore {
    /// The score.
    Score(f64),
    /// The experiment lacks what is measured: an expected output, or critical commitments.
    NotApplicable,
}

impl Scorer {
    /// The score of texts; `None` for a judge and a program.
    pub fn of_texts(&self, texts: &ScoredTexts<'_>) -> Option<TextScore> {
        let [lowest, highest] = self.scale;
        let either = |holds: Option<bool>| {
            Some(match holds {
                Some(true) => TextScore::Score(highest),
                Some(false) => TextScore::Score(lowest),
                None => TextScore::NotApplicable,
            })
        };
        match &self.by {
            ScoredBy::Exact(by) => {
                either(by.holds(texts, |text, pattern| js_trim(text) == js_trim(pattern)))
            }
            ScoredBy::Contains(by) => {
                either(by.holds(texts, |text, pattern| text.contains(pattern)))
            }
            ScoredBy::Regex(by) => {
                // The pattern of a file was compiled when it was read.
                let regex = by.pattern.as_deref().and_then(|it| Regex::new(it).ok());
                either(regex.map(|regex| regex.is_match(by.text(texts))))
            }
            ScoredBy::Metric(metric) => {
                let score = metric.name.of(texts.metrics);
                Some(score.map_or(TextScore::NotApplicable, TextScore::Score))
            }
            ScoredBy::Judge(_) | ScoredBy::Command(_) => None,
        }
    }
}

impl PatternScorer {
    fn holds(&self, texts: &ScoredTexts<'_>, test: impl Fn(&str, &str) -> bool) -> Option<bool> {
        let pattern = self.pattern.as_deref().or(texts.expected)?;
        Some(test(self.text(texts), pattern))
    }

    fn text<'a>(&self, texts: &ScoredTexts<'a>) -> &'a str {
        match self.of {
            PatternTarget::Decoded => texts.decoded,
            PatternTarget::Encoded => texts.encoded,
        }
    }
}

impl MetricName {
    /// The metric of a result, if it has it.
    fn of(self, metrics: &Metrics) -> Option<f64> {
        match self {
            Self::ChrfPp => Some(metrics.chrf_pp),
            Self::RougeL => Some(metrics.rouge_l),
            Self::CriticalRecall => metrics.atoms.as_ref()?.critical_recall,
            Self::LengthRatio => Some(metrics.length_ratio),
        }
    }

    /// The ends of the metric.
    pub(super) fn scale(self) -> [f64; 2] {
        match self {
            Self::ChrfPp => [0.0, 100.0],
            Self::RougeL | Self::CriticalRecall => [0.0, 1.0],
            Self::LengthRatio => [0.0, 1e6],
        }
    }
}
