//! The terms that reveal something about the experiment.

use std::collections::BTreeSet;
use std::ops::Range;

use super::finding::LeakKind;
use crate::journal::ExperimentStart;

/// The terms of a run that a text must not contain.
#[derive(Debug, Default)]
pub(super) struct MetadataTerms {
    /// The run's id, and the names and paths of the experiment.
    names: Vec<String>,
    /// The same, and also names that may be ordinary words and the scripted mind, because headers contain no prose.
    header_names: Vec<String>,
    /// The model's id, whole and only the part after the last slash.
    models: Vec<String>,
    minds: u64,
    rounds: u64,
    samples: u64,
    active: u64,
    token_limit: u64,
    seeds: u64,
}

/// A run of letters or of digits.
#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    at: usize,
    /// The text between it and the token before it.
    gap: &'a str,
}

/// Words that HTTP or this program puts into headers. An experiment may have such a name.
const STANDARD: [&str; 10] = [
    "application",
    "br",
    "chunked",
    "close",
    "deflate",
    "gzip",
    "identity",
    "json",
    "keep-alive",
    "logosphere",
];

/// Words that may occur between a word and its number.
const FILLERS: [&str; 5] = ["no", "nr", "number", "id", "index"];

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

impl MetadataTerms {
    /// Returns the terms of a run; `names` are the names and paths of the experiment.
    pub fn new(start: &ExperimentStart, names: &[String]) -> Self {
        let settings = &start.effective.settings;
        let minds = settings.mind_names();
        let models = (minds.iter().copied().chain([settings.model.as_str()]))
            .flat_map(|name| [name, name.rsplit('/').next().unwrap_or_default()]);
        let models: Vec<&str> = models.collect();
        // An ordinary word is no name: only what has a digit or a mark in it can be told from talk.
        let telling =
            |name: &&str| name.chars().count() >= 6 && !name.chars().all(char::is_alphabetic);
        let all = |names: &[&str]| {
            let names: BTreeSet<_> = names.iter().copied().filter(telling).collect();
            names
                .into_iter()
                .map(str::to_ascii_lowercase)
                .collect::<Vec<_>>()
        };
        let mut given: Vec<&str> = names.iter().map(String::as_str).collect();
        given.extend([start.run_id.as_str(), start.software.as_str()]);
        let scripted = minds.iter().copied().filter(|_| settings.is_offline());
        let in_headers = (given.iter().copied().chain(scripted))
            .filter(|name| name.chars().count() >= 2 && !STANDARD.contains(name))
            .map(str::to_ascii_lowercase);
        Self {
            header_names: in_headers.collect::<BTreeSet<_>>().into_iter().collect(),
            names: all(&given),
            models: all(&models),
            minds: settings.n_minds.into(),
            rounds: settings.max_rounds.into(),
            samples: settings.k_samples as u64,
            active: settings.m_active_pool as u64,
            token_limit: settings.token_limit.into(),
            seeds: start.seeds.len() as u64,
        }
    }

    /// Finds the names and models in a text.
    pub fn in_text(&self, text: &str) -> Vec<(LeakKind, Range<usize>)> {
        self.named(text, &self.names)
    }

    /// Finds the names, models and numbers of the run in the system prompt, in order.
    pub fn in_system_prompt(&self, text: &str) -> Vec<(LeakKind, Range<usize>)> {
        let mut found = self.in_text(text);
        let tokens: Vec<_> = tokens(text).collect();
        for place in 0..tokens.len() {
            let token = tokens[place];
            if token.text.as_bytes()[0].is_ascii_digit() {
                let kind = self.numbered(&tokens, place);
                found.extend(kind.map(|kind| (kind, token.at..token.at + token.text.len())));
            }
        }
        found.sort_by_key(|(_, range)| range.start);
        found
    }

    /// Finds the names and models in the value of a header.
    pub fn in_header(&self, value: &str) -> Vec<(LeakKind, Range<usize>)> {
        self.named(value, &self.header_names)
    }

    /// Finds these names and the models as whole words, without alphanumeric neighbours.
    fn named(&self, text: &str, names: &[String]) -> Vec<(LeakKind, Range<usize>)> {
        // ASCII alone keeps every position.
        let text = &text.to_ascii_lowercase();
        let mut found = Vec::new();
        let kinds = [(LeakKind::Name, names), (LeakKind::Model, &self.models[..])];
        for (kind, names) in kinds {
            for name in names {
                let whole = |(at, _): &(usize, &str)| {
                    let neighbours = [
                        text[..*at].chars().next_back(),
                        text[at + name.len()..].chars().next(),
                    ];
                    !neighbours.into_iter().flatten().any(char::is_alphanumeric)
                };
                if let Some((at, _)) = text.match_indices(name.as_str()).find(whole) {
                    found.push((kind, at..at + name.len()));
                }
            }
        }
        found
    }

    /// Returns the kind of information that the number at `place` reveals; `None` if it reveals nothing.
    fn numbered(&self, tokens: &[Token<'_>], place: usize) -> Option<LeakKind> {
        let number = tokens[place].text.parse::<u64>().ok()?;
        if is_time(tokens, place) {
            return Some(LeakKind::Time);
        }
        let is_set = tokens[place].gap.contains('=');
        let named = match before(tokens, place).as_str() {
            "round" | "rounds" => Some(LeakKind::Round),
            "mind" | "agent" => Some(LeakKind::Mind),
            "message" | "msg" if number <= self.seeds => Some(LeakKind::Message),
            "attempt" | "retry" if number <= 100 => Some(LeakKind::Retry),
            "token" | "tokens" if number == self.token_limit => Some(LeakKind::Cost),
            "n" if is_set && number == self.minds => Some(LeakKind::Count),
            "k" if is_set && number == self.samples => Some(LeakKind::Count),
            "m" if is_set && number == self.active => Some(LeakKind::Count),
            _ => None,
        };
        let counted = || match after(tokens, place).as_str() {
            "minds" | "agents" if number == self.minds => Some(LeakKind::Count),
            "messages" if [self.samples, self.active].contains(&number) => Some(LeakKind::Amount),
            "rounds" if number == self.rounds => Some(LeakKind::Round),
            "token" | "tokens" if number == self.token_limit => Some(LeakKind::Cost),
            _ => None,
        };
        // `[12]` or `#12` at the beginning of a line.
        let labelled = || {
            let gap = tokens[place].gap;
            let line = gap.rsplit('\n').next().unwrap_or_default().trim_start();
            let begins = place == 0 || gap.contains('\n');
            let label = begins && matches!(line, "[" | "#" | "(#");
            label.then_some(LeakKind::Message)
        };
        named.or_else(counted).or_else(labelled)
    }
}

/// Returns whether a number is part of a date or a time.
fn is_time(tokens: &[Token<'_>], place: usize) -> bool {
    let token = tokens[place];
    let digits = |at: usize, gap: &str, count: usize| {
        tokens.get(at).is_some_and(|next| {
            next.gap == gap && next.text.len() == count && next.text.parse::<u64>().is_ok()
        })
    };
    let month = |at: Option<usize>| {
        let word = at.and_then(|at| tokens.get(at));
        let word = word.map(|token| token.text.to_lowercase());
        word.is_some_and(|word| MONTHS.iter().any(|month| word.starts_with(month)))
    };
    let year = |at: usize| {
        let token = tokens.get(at).filter(|token| token.text.len() == 4);
        token.is_some_and(|token| token.text.parse::<u64>().is_ok())
    };
    // 2026-01-02
    let date = token.text.len() == 4 && digits(place + 1, "-", 2) && digits(place + 2, "-", 2);
    // 3:04
    let clock = token.text.len() <= 2 && digits(place + 1, ":", 2) && token.gap != ":";
    // 2 January 2026, January 2, 2026
    let written = match (month(place.checked_sub(1)), month(Some(place + 1))) {
        (true, _) => year(place + 1),
        (_, true) => year(place + 2),
        _ => false,
    };
    // Seconds or milliseconds since 1970: 2017 to 2033.
    let epoch = matches!(token.text.len(), 10 | 13) && ("15".."20").contains(&&token.text[..2]);
    date || clock || (written && token.text.len() <= 2) || epoch
}

/// Returns the runs of letters and of digits.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let class = |char: char| {
        if char.is_ascii_digit() {
            1
        } else {
            2 * u8::from(char.is_alphabetic())
        }
    };
    let mut behind = 0;
    std::iter::from_fn(move || {
        let start = behind + text[behind..].find(|char| class(char) > 0)?;
        let kind = class(text[start..].chars().next()?);
        let length = text[start..].find(|char| class(char) != kind);
        let end = length.map_or(text.len(), |length| start + length);
        let token = Token {
            text: &text[start..end],
            at: start,
            gap: &text[behind..start],
        };
        behind = end;
        Some(token)
    })
}

/// Returns whether two tokens belong together.
fn is_near(gap: &str) -> bool {
    gap.len() <= 3 && !gap.contains(['\n', '.', ';', '!', '?'])
}

/// Returns the word that a number belongs to, in lower case: `round` in `Round no. 3`.
fn before(tokens: &[Token<'_>], place: usize) -> String {
    let mut place = place;
    while let Some(earlier) = place.checked_sub(1) {
        if !is_near(tokens[place].gap) {
            break;
        }
        let word = tokens[earlier].text.to_lowercase();
        if !FILLERS.contains(&word.as_str()) {
            return word;
        }
        place = earlier;
    }
    String::new()
}

/// Returns the word after a number, in lower case.
fn after(tokens: &[Token<'_>], place: usize) -> String {
    let next = tokens.get(place + 1).filter(|next| is_near(next.gap));
    next.map(|next| next.text.to_lowercase())
        .unwrap_or_default()
}

/// Returns a range of a text with some of its surroundings.
pub(super) fn around(text: &str, place: Range<usize>) -> String {
    let before = text[..place.start].char_indices().rev().take(20).last();
    let behind = text[place.end..].char_indices().nth(20);
    let start = before.map_or(place.start, |(at, _)| at);
    let end = behind.map_or(text.len(), |(at, _)| place.end + at);
    format!("{:?}", &text[start..end])
}
