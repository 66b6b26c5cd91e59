use std::collections::HashSet;

use regex::Regex;
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

use super::{
    CommandScorer, JudgeScorer, MetricName, MetricScorer, PatternScorer, PatternTarget,
    RUBRIC_SCHEMA_VERSION, Rubric, ScoredBy, Scorer,
};

/// The largest number of a scale: sums and spreads of scores stay finite.
const LARGEST: f64 = 1e9;

/// The names of built-in measures, which no scorer can have.
const BUILT_IN: [&str; 15] = [
    "total",
    "semantic",
    "semantic_preservation",
    "token_efficiency",
    "learnability",
    "implementability",
    "compression_percent",
    "compression_ratio",
    "chrf_pp",
    "rouge_l",
    "critical_recall",
    "invented",
    "length_ratio",
    "flags",
    "procedural",
];
const LONGEST_ID: usize = 40;
/// The highest score of a judge: points are read as whole numbers.
const MAX_JUDGE_SCALE: f64 = 100.0;
const TIMEOUT_S: u32 = 10;
const LONGEST_TIMEOUT_S: u32 = 600;

/// The reason why a file is not a rubric.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
#[non_exhaustive]
pub struct RubricError {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// The expected and the found value.
    pub message: String,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RubricFile {
    schema_version: Spanned<u32>,
    name: String,
    #[serde(default)]
    scorer: Vec<Spanned<ScorerTable>>,
}

/// A table `[[scorer]]` with the keys of all kinds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScorerTable {
    id: Spanned<String>,
    kind: Spanned<String>,
    scale: Option<Spanned<[f64; 2]>>,
    system: Option<Spanned<String>>,
    user: Option<Spanned<String>>,
    of: Option<Spanned<PatternTarget>>,
    pattern: Option<Spanned<String>>,
    name: Option<Spanned<MetricName>>,
    argv: Option<Spanned<Vec<String>>>,
    timeout_s: Option<Spanned<u32>>,
}

/// A fault at a byte of the file.
type RubricFault = (usize, String);

impl Rubric {
    /// Reads a rubric file, which is TOML.
    ///
    /// # Errors
    /// [`RubricError`]: the text is not TOML, a key is unknown, missing or of another kind of scorer, or a value is out of its range.
    pub fn read(toml: &str) -> Result<Self, RubricError> {
        let placed = |(at, message): RubricFault| {
            let before = toml.get(..at).unwrap_or(toml);
            RubricError {
                line: 1 + before.matches('\n').count(),
                column: before.len() - before.rfind('\n').map_or(0, |end| end + 1) + 1,
                message,
            }
        };
        let file: RubricFile = toml::from_str(toml).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            placed((at, error.message().trim().replace('\n', "; ")))
        })?;
        file.rubric().map_err(placed)
    }
}

impl RubricFile {
    fn rubric(self) -> Result<Rubric, RubricFault> {
        let version = self.schema_version;
        if *version.get_ref() != RUBRIC_SCHEMA_VERSION {
            let message = format!(
                "schema_version: expected {RUBRIC_SCHEMA_VERSION}, found {}",
                version.get_ref()
            );
            return Err((version.span().start, message));
        }
        if self.scorer.is_empty() {
            return Err((0, "expected at least one [[scorer]]".to_owned()));
        }
        let mut ids = HashSet::new();
        let scorers = self.scorer.into_iter().map(|table| {
            let at = table.span().start;
            let table = table.into_inner();
            let id = table.id.clone();
            let scorer = table.scorer(at)?;
            if ids.insert(scorer.id.clone()) {
                Ok(scorer)
            } else {
                Err((id.span().start, format!("id: {} occurs twice", scorer.id)))
            }
        });
        Ok(Rubric {
            name: self.name,
            scorers: scorers.collect::<Result<_, _>>()?,
        })
    }
}

impl ScorerTable {
    /// The scorer of the table that begins at `start`.
    fn scorer(mut self, start: usize) -> Result<Scorer, RubricFault> {
        let id = checked_id(&self.id)?;
        let kind = self.kind.clone();
        let (by, scale) = match kind.get_ref().as_str() {
            "judge" => {
                let is_points = |[low, high]: [f64; 2]| {
                    low == 0.0 && (1.0..=MAX_JUDGE_SCALE).contains(&high) && high.fract() == 0.0
                };
                let expected = "[0, N] with a whole number N from 1 to 100";
                let scale = self.scale(start, expected, is_points)?;
                let message = format!("scale: expected {expected}");
                let scale = scale.ok_or((start, message))?;
                (ScoredBy::Judge(self.judge(start)?), scale)
            }
            "exact" => (ScoredBy::Exact(self.pattern(start)?), self.ends(start)?),
            "contains" => (ScoredBy::Contains(self.pattern(start)?), self.ends(start)?),
            "regex" => (ScoredBy::Regex(self.regex(start)?), self.ends(start)?),
            "metric" => {
                let message = "name: expected chrf_pp, rouge_l, critical_recall or length_ratio";
                let name = taken(&mut self.name, start, message)?;
                (ScoredBy::Metric(MetricScorer { name }), name.scale())
            }
            "command" => (ScoredBy::Command(self.command(start)?), self.ends(start)?),
            other => {
                let message = format!(
                    "kind: expected judge, exact, contains, regex, metric or command, found {other}"
                );
                return Err((kind.span().start, message));
            }
        };
        self.nothing_left(kind.get_ref())?;
        Ok(Scorer { id, scale, by })
    }

    /// The ends of the scale, if the table has them.
    fn scale(
        &mut self,
        start: usize,
        expected: &str,
        is_fine: impl Fn([f64; 2]) -> bool,
    ) -> Result<Option<[f64; 2]>, RubricFault> {
        let scale = self.scale.take();
        let at = scale.as_ref().map_or(start, |scale| scale.span().start);
        match scale.map(Spanned::into_inner) {
            Some(scale) if !is_fine(scale) => Err((at, format!("scale: expected {expected}"))),
            scale => Ok(scale),
        }
    }

    /// The scores of a pattern that is missing and of one that is there.
    fn ends(&mut self, start: usize) -> Result<[f64; 2], RubricFault> {
        let is_fine = |[low, high]: [f64; 2]| low < high && low >= -LARGEST && high <= LARGEST;
        let expected = "[lowest, highest], the lower number first, from -1e9 to 1e9";
        let scale = self.scale(start, expected, is_fine)?;
        Ok(scale.unwrap_or([0.0, 1.0]))
    }

    fn regex(&mut self, start: usize) -> Result<PatternScorer, RubricFault> {
        let at = self.pattern.as_ref();
        let at = at.map_or(start, |pattern| pattern.span().start);
        let by = self.pattern(start)?;
        let message = "pattern: expected a regular expression".to_owned();
        let pattern = by.pattern.as_deref().ok_or((start, message))?;
        Regex::new(pattern).map_err(|error| {
            let error = error.to_string();
            let last = error.lines().last().unwrap_or_default();
            (at, format!("pattern: {last}"))
        })?;
        Ok(by)
    }

    fn judge(&mut self, start: usize) -> Result<JudgeScorer, RubricFault> {
        let system = taken(
            &mut self.system,
            start,
            "system: expected the judge's system prompt",
        )?;
        let user = taken(
            &mut self.user,
            start,
            "user: expected the judge's prompt, with {decoded}",
        )?;
        let has = |word: &str| system.contains(word) || user.contains(word);
        if !has("{decoded}") && !has("{encoded}") {
            let message =
                "user: expected {decoded} or {encoded}, so that the judge sees what it scores";
            return Err((start, message.to_owned()));
        }
        if !has("score") {
            let message = "system: expected a prompt that asks for JSON with the key \"score\"";
            return Err((start, message.to_owned()));
        }
        Ok(JudgeScorer { system, user })
    }

    fn pattern(&mut self, start: usize) -> Result<PatternScorer, RubricFault> {
        let of = taken(
            &mut self.of,
            start,
            "of: expected \"decoded\" or \"encoded\"",
        )?;
        let pattern = self.pattern.take().map(Spanned::into_inner);
        Ok(PatternScorer { of, pattern })
    }

    fn command(&mut self, start: usize) -> Result<CommandScorer, RubricFault> {
        let message = "argv: expected a program and its arguments";
        let argv = taken(&mut self.argv, start, message)?;
        let is_program = argv.first().is_some_and(|name| !name.is_empty());
        if !is_program || argv.iter().any(|word| word.contains('\0')) {
            return Err((start, message.to_owned()));
        }
        let timeout = self.timeout_s.take();
        let at = timeout
            .as_ref()
            .map_or(start, |timeout| timeout.span().start);
        let timeout_s = timeout.map_or(TIMEOUT_S, Spanned::into_inner);
        if (1..=LONGEST_TIMEOUT_S).contains(&timeout_s) {
            return Ok(CommandScorer { argv, timeout_s });
        }
        let message = format!("timeout_s: expected 1 to {LONGEST_TIMEOUT_S} seconds");
        Err((at, message))
    }

    /// Refuses keys that are not of this kind.
    fn nothing_left(&self, kind: &str) -> Result<(), RubricFault> {
        fn at<T>(key: Option<&Spanned<T>>) -> Option<usize> {
            key.map(|key| key.span().start)
        }
        let left = [
            ("scale", at(self.scale.as_ref())),
            ("system", at(self.system.as_ref())),
            ("user", at(self.user.as_ref())),
            ("of", at(self.of.as_ref())),
            ("pattern", at(self.pattern.as_ref())),
            ("name", at(self.name.as_ref())),
            ("argv", at(self.argv.as_ref())),
            ("timeout_s", at(self.timeout_s.as_ref())),
        ];
        let first = left.into_iter().find_map(|(key, at)| Some((key, at?)));
        first.map_or(Ok(()), |(key, at)| {
            Err((at, format!("{key}: not a key of the kind {kind}")))
        })
    }
}

/// The value of a key that must be there.
fn taken<T>(key: &mut Option<Spanned<T>>, start: usize, expected: &str) -> Result<T, RubricFault> {
    let value = key.take().map(Spanned::into_inner);
    value.ok_or_else(|| (start, expected.to_owned()))
}

fn checked_id(id: &Spanned<String>) -> Result<String, RubricFault> {
    let text = id.get_ref();
    let is_sign = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let message = if text.is_empty() || text.len() > LONGEST_ID || !text.bytes().all(is_sign) {
        format!("id: expected 1 to {LONGEST_ID} of a-z, 0-9 and _, found {text:?}")
    } else if BUILT_IN.contains(&text.as_str()) {
        format!("id: {text} is a built-in measure")
    } else {
        return Ok(text.clone());
    };
    Err((id.span().start, message))
}
