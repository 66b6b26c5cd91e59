//! Words for the judge in what is judged.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::phrases::Phrases;
use super::words::folded_words;

static PHRASES: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::read(include_str!("../data/injection_phrases.txt")));

/// How to wave instructions aside; an original that does so with one of them may do so with another after decoding.
const DISMISS: [&str; 5] = ["ignore", "disregard", "forget", "override", "bypass"];

/// The two maxima that judges may give, in digits and in words.
const POINTS: [[&str; 2]; 2] = [["40", "forty"], ["5", "five"]];

/// Where a text comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// They are written before any text.
    Rules,
    /// An encoding or a decoded text, which says what the original says.
    Carried,
}

/// What in `text` is said to the judge. What the original says itself is not.
pub(super) fn judge_injection(text: &str, source: Source, original: &Original) -> Option<String> {
    let is_rules = source == Source::Rules;
    // A phrase may be broken over lines; words and points that stand near each other by chance must not meet there.
    let words = folded_words(text);
    let phrase = PHRASES
        .within(&words)
        .find(|phrase| is_rules || !original.says(phrase))
        .map(|phrase| phrase.join(" "));
    let asked = || {
        text.lines().find_map(|line| {
            let words = folded_words(line);
            points_asked_for(&words)
                .find(|(_, points)| is_rules || !original.scores(points))
                .map(|(near, _)| near.join(" "))
        })
    };
    phrase.or_else(asked).or_else(|| {
        let key = score_key(text)?;
        // A list of substitutions in JSON may have this word too.
        let own = match source {
            Source::Rules => key.holds_text,
            Source::Carried => original.has("score") || original.has("scores"),
        };
        (!own).then_some(key.quote)
    })
}

/// The text before it was encoded, as far as it matters here.
pub(super) struct Original {
    words: HashSet<String>,
    /// It speaks of scores.
    of_scores: bool,
}

impl Original {
    pub(super) fn new(text: &str) -> Self {
        let words: HashSet<String> = folded_words(text).into_iter().collect();
        let topic = |word: &String| {
            ["scor", "rate", "rati", "grad"]
                .iter()
                .any(|stem| word.starts_with(stem))
        };
        Self {
            of_scores: words.iter().any(topic),
            words,
        }
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Whether it has half of the phrase's words that mean something.
    fn says(&self, phrase: &[String]) -> bool {
        let dismisses = |word: &String| DISMISS.contains(&word.as_str());
        if phrase.iter().any(dismisses) && DISMISS.iter().any(|word| self.has(word)) {
            return true;
        }
        let strong: Vec<_> = phrase
            .iter()
            .filter(|word| word.chars().count() > 3)
            .collect();
        let known = strong.iter().filter(|word| self.has(word)).count();
        2 * known >= strong.len() && known > 0
    }

    /// Whether it speaks of scores and of these points.
    fn scores(&self, points: &[&str; 2]) -> bool {
        self.of_scores && points.iter().any(|word| self.has(word))
    }
}

/// "score" or "rate" with one of the maxima a few words apart, and which of them it is.
fn points_asked_for(
    words: &[String],
) -> impl Iterator<Item = (&[String], &'static [&'static str; 2])> {
    const BEHIND: usize = 4;
    const BEFORE: usize = 3;
    words.iter().enumerate().filter_map(|(at, word)| {
        let before = match word.as_str() {
            "score" | "scores" | "scored" | "rating" => BEFORE,
            "rate" => 0,
            _ => return None,
        };
        let start = at.saturating_sub(before);
        let near = &words[start..words.len().min(at + BEHIND + 1)];
        let points = POINTS
            .iter()
            .find(|points| near.iter().any(|word| points.contains(&word.as_str())))?;
        Some((near, points))
    })
}

struct ScoreKey {
    quote: String,
    holds_text: bool,
}

/// The first key `score` of JSON, its quotation marks escaped or not. One that does not hold a text comes first.
fn score_key(text: &str) -> Option<ScoreKey> {
    const KEY: &str = "score";
    let mut first = None;
    for (at, _) in text.match_indices(KEY) {
        let quoted = text[..at].ends_with(['"', '\'']);
        let rest = text[at + KEY.len()..].trim_start_matches('\\');
        let Some(rest) = rest.strip_prefix(['"', '\'']).filter(|_| quoted) else {
            continue;
        };
        let Some(value) = rest.trim_start().strip_prefix(':') else {
            continue;
        };
        let value = value.trim_start().trim_start_matches('\\');
        let holds_text = value
            .strip_prefix(['"', '\''])
            .is_some_and(|inner| !inner.starts_with(|char: char| char.is_ascii_digit()));
        let quote = format!("\"{KEY}\": {}", value.chars().take(8).collect::<String>());
        let key = ScoreKey { quote, holds_text };
        if !holds_text {
            return Some(key);
        }
        first = first.or(Some(key));
    }
    first
}
