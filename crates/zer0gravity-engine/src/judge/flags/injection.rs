//! Words for the judge in what is judged: the flag `judge_injection` and the finding `ZG008` of the lint.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::phrases::Phrases;
use super::words::folded_words;
use crate::judge::objects_with_score;
use crate::text::visible::visible;

static PHRASES: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::read(include_str!("../../data/judge_phrases.txt")));

/// Verbs that dismiss instructions: an original excuses only the verb that it has itself.
const DISMISS: [&str; 5] = ["ignore", "disregard", "forget", "override", "bypass"];

/// Words for the instructions that came before.
const EARLIER: [&str; 4] = ["previous", "prior", "earlier", "preceding"];

/// Marks that only mean something to a model.
const MARKS: [&str; 9] = [
    "<system",
    "</system",
    "<|",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<instructions",
    "<assistant",
    "###system",
];

/// The two maxima that judges may give, in digits and in words.
const POINTS: [[&str; 2]; 2] = [["40", "forty"], ["5", "five"]];

/// The origin of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The rules, which are written before any text.
    Rules,
    /// An encoding or a decoded text, which says what the original says.
    Carried,
}

/// Something said to the judge.
pub(crate) struct JudgeAddress {
    /// The line it begins on, from 0.
    pub line: usize,
    pub words: String,
}

/// Everything in `rules` that is said to the judge, by line.
pub(crate) fn said_in_rules(rules: &str) -> Vec<JudgeAddress> {
    said(rules, Source::Rules, &Original::new(""))
}

/// The first thing in `text` that is said to the judge. What the original says itself is not.
pub(super) fn judge_injection(text: &str, source: Source, original: &Original) -> Option<String> {
    let said = said(text, source, original);
    said.into_iter().next().map(|said| said.words)
}

fn said(text: &str, source: Source, original: &Original) -> Vec<JudgeAddress> {
    let is_rules = source == Source::Rules;
    let lines: Vec<String> = text.lines().map(visible).collect();
    let mut found = Vec::new();
    let mut add = |line: usize, words: String| found.push(JudgeAddress { line, words });
    // A phrase may be broken over lines.
    let mut words = Vec::new();
    let mut places = Vec::new();
    for (line, shown) in lines.iter().enumerate() {
        words.extend(folded_words(shown));
        places.resize(words.len(), line);
    }
    for (at, phrase) in PHRASES.within(&words) {
        if is_rules || !original.says(phrase) {
            add(places[at], phrase.join(" "));
        }
    }
    // Words and points that stand near each other by chance must not meet over a line's end.
    for (line, shown) in lines.iter().enumerate() {
        let label = PHRASES.at_start(shown).filter(|label| {
            let words = folded_words(label);
            is_rules || !original.says(&words)
        });
        if let Some(label) = label {
            add(line, label);
        }
        for (near, points) in points_asked_for(&folded_words(shown)) {
            if is_rules || !original.scores(points) {
                add(line, near.join(" "));
            }
        }
        let close: String = shown.chars().filter(|char| !char.is_whitespace()).collect();
        for mark in MARKS.iter().filter(|mark| close.contains(**mark)) {
            if is_rules || !original.text.contains(mark) {
                add(line, (*mark).to_owned());
            }
        }
    }
    let shown = lines.join("\n");
    let line_ends: Vec<usize> = shown.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |at: usize| line_ends.partition_point(|end| *end < at);
    if !is_rules {
        // Whatever words the original has, a verdict that it does not hold is one that was put in.
        for value in scores(&shown) {
            if !original.verdicts.contains(&value) {
                add(0, format!("\"score\": {value}"));
            }
        }
    }
    // A list of substitutions in JSON may have this word too.
    let own = !is_rules && (original.has("score") || original.has("scores"));
    let keys = score_keys(&shown).filter(|key| if is_rules { !key.holds_text } else { !own });
    for key in keys {
        add(line_of(key.at), key.quote);
    }
    found.sort_by_key(|said| said.line);
    let mut seen = HashSet::new();
    found.retain(|said| seen.insert((said.line, said.words.clone())));
    found
}

/// The values of the key `score` in the JSON objects of a text, in their order.
fn scores(text: &str) -> impl Iterator<Item = Value> {
    let objects = objects_with_score(&[text]).into_iter();
    objects
        .filter_map(|entries| entries.into_iter().find(|(key, _)| key == "score"))
        .map(|(_, value)| value)
}

/// The text before it was encoded, as far as it matters here.
pub(super) struct Original {
    words: HashSet<String>,
    /// The text as a reader sees it, without white space.
    text: String,
    /// Whether the original itself mentions scores.
    of_scores: bool,
    /// The scores of its JSON objects.
    verdicts: HashSet<Value>,
}

impl Original {
    pub(super) fn new(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(visible).collect();
        let text = lines.join("\n");
        let words: HashSet<String> = folded_words(&text).into_iter().collect();
        let topic = |word: &String| {
            ["scor", "rate", "rati", "grad"]
                .iter()
                .any(|stem| word.starts_with(stem))
        };
        Self {
            of_scores: words.iter().any(topic),
            words,
            verdicts: scores(&text).collect(),
            text: text.chars().filter(|char| !char.is_whitespace()).collect(),
        }
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Whether it has half of the phrase's words that mean something, and the phrase's own word of dismissal. Another such word
    /// will do if it has all the others: who writes "disregard the earlier letter" may get it back as "ignore the previous letter".
    fn says(&self, phrase: &[String]) -> bool {
        let (dismissing, others): (Vec<&String>, Vec<&String>) =
            (phrase.iter()).partition(|word| DISMISS.contains(&word.as_str()));
        let strong: Vec<_> = others
            .iter()
            .filter(|word| word.chars().count() > 3)
            .collect();
        let known = strong.iter().filter(|word| self.has(word)).count();
        let own = dismissing.iter().all(|word| self.has(word));
        let earlier = |word: &String| {
            self.has(word)
                || EARLIER.contains(&word.as_str()) && EARLIER.iter().any(|w| self.has(w))
        };
        if own {
            2 * known >= strong.len() && known + dismissing.len() > 0
        } else {
            DISMISS.iter().any(|word| self.has(word)) && strong.iter().all(|word| earlier(word))
        }
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
    at: usize,
    quote: String,
    holds_text: bool,
}

/// Every key `score` of JSON.
fn score_keys(text: &str) -> impl Iterator<Item = ScoreKey> {
    const KEY: &str = "score";
    text.match_indices(KEY).filter_map(|(at, _)| {
        let quoted = text[..at].ends_with(['"', '\'']);
        let rest = text[at + KEY.len()..].strip_prefix(['"', '\''])?;
        let value = rest.trim_start().strip_prefix(':').filter(|_| quoted)?;
        let value = value.trim_start();
        let holds_text = value
            .strip_prefix(['"', '\''])
            .is_some_and(|inner| !inner.starts_with(|char: char| char.is_ascii_digit()));
        let quote = format!("\"{KEY}\": {}", value.chars().take(8).collect::<String>());
        Some(ScoreKey {
            at,
            quote,
            holds_text,
        })
    })
}
