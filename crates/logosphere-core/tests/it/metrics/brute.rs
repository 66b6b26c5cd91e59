//! The metrics by their definitions: all pairs, computed from the start for each window.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use flate2::Compression;
use flate2::read::DeflateEncoder;
use logosphere_core::Transcript;
use logosphere_core::measures::metrics::{Metric, Window};

/// A text that is measured.
#[derive(Clone, PartialEq)]
struct Measured {
    id: usize,
    round: u32,
    text: String,
    words: Vec<String>,
    /// The weight of each word, by word; together of length 1.
    vector: Vec<(String, f64)>,
}

/// The values of one metric, round by round.
pub fn values(run: &Transcript, window: Window, metric: Metric) -> Vec<Option<f64>> {
    let texts = texts(run);
    let ends = run.rounds.iter().map(|round| round.pool_size);
    let sizes: Vec<usize> = std::iter::once(run.seeds).chain(ends).collect();
    let at = |place: usize| -> Vec<Measured> {
        let start = match window {
            Window::Active => sizes[place].saturating_sub(run.active),
            Window::Rounds(rounds) => match place.checked_sub(rounds.get() as usize) {
                Some(before) => sizes[before],
                None => 0,
            },
        };
        let inside = |text: &&Measured| (start..sizes[place]).contains(&text.id);
        texts.iter().filter(inside).cloned().collect()
    };
    let rounds = 1..sizes.len();
    rounds
        .map(|round| {
            let own = |text: &&Measured| text.round == round as u32;
            let own: Vec<Measured> = texts.iter().filter(own).cloned().collect();
            let apart = |range: std::ops::RangeInclusive<u32>| {
                let others = texts.iter().filter(|other| {
                    other.round > 0
                        && (round as u32)
                            .checked_sub(other.round)
                            .is_some_and(|rounds| range.contains(&rounds))
                });
                let others: Vec<&Measured> = others.collect();
                let mut cosines = Vec::new();
                for text in &own {
                    cosines.extend(others.iter().filter_map(|other| cosine(text, other)));
                }
                mean(&cosines)
            };
            match metric {
                Metric::TfidfSimilarity => pairs(&at(round)),
                Metric::WithinRoundSimilarity => pairs(&own),
                Metric::NearSimilarity => apart(1..=10),
                Metric::FarSimilarity => apart(50..=u32::MAX),
                Metric::InputSimilarity => inputs(run, &texts, &own),
                Metric::CompressionRatio => compression(&at(round)),
                Metric::Distinct1 => distinct(&at(round), 1),
                Metric::Distinct2 => distinct(&at(round), 2),
                Metric::Distinct3 => distinct(&at(round), 3),
                Metric::Reuse5gram => reuse(&texts, &own),
                Metric::PairIdentity => identity(&at(round)),
                Metric::Turnover => turnover(&at(round - 1), &at(round)),
                Metric::SeedEcho => echo(&texts, run.seeds, &at(round)),
                Metric::Messages => Some((sizes[round] - sizes[round - 1]) as f64),
                Metric::CharsMean => mean(&lengths(&own)),
                Metric::CharsMedian => median(lengths(&own)),
                Metric::LostShare => Some(0.0),
            }
        })
        .collect()
}

fn texts(run: &Transcript) -> Vec<Measured> {
    let mut texts = Vec::new();
    for (id, message) in run.messages.iter().enumerate() {
        // Stamps of the runs of these tests: `~` and letters or spaces.
        let mut lines: Vec<&str> = message.text.split('\n').collect();
        let count = lines.len();
        if count >= 3 && lines[count - 2].is_empty() && lines[count - 1].len() >= 2 {
            assert!(lines[count - 1].starts_with('~'));
            lines.truncate(count - 2);
        }
        let text = lines.join("\n");
        if text
            .chars()
            .any(|char| !matches!(char, ' ' | '\u{200b}' | '\u{feff}'))
        {
            texts.push(Measured {
                id,
                round: message.round.0,
                words: words(&text),
                text,
                vector: Vec::new(),
            });
        }
    }
    let vectors: Vec<_> = texts.iter().map(|text| vector(&texts, text)).collect();
    for (text, vector) in texts.iter_mut().zip(vectors) {
        text.vector = vector;
    }
    texts
}

fn words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    for char in text.chars() {
        match char {
            '漢' | '字' => spaced.extend([' ', char, ' ']),
            _ if char.is_alphanumeric() => spaced.extend(char.to_lowercase()),
            _ => spaced.push(' '),
        }
    }
    spaced
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn vector(all: &[Measured], text: &Measured) -> Vec<(String, f64)> {
    let mut vector = BTreeMap::new();
    for word in &text.words {
        let holders = all.iter().filter(|other| other.words.contains(word));
        let rarity = ((1.0 + all.len() as f64) / (1.0 + holders.count() as f64)).ln() + 1.0;
        *vector.entry(word.clone()).or_insert(0.0) += rarity;
    }
    let length = vector.values().map(|w| w * w).sum::<f64>().sqrt();
    vector
        .into_iter()
        .map(|(word, w)| (word, w / length))
        .collect()
}

/// The result is `None` if one of them has no word.
fn cosine(a: &Measured, b: &Measured) -> Option<f64> {
    let mut product = 0.0;
    for (word, weight) in &a.vector {
        let same = b.vector.iter().find(|(other, _)| other == word);
        product += weight * same.map_or(0.0, |(_, weight)| *weight);
    }
    (!a.vector.is_empty() && !b.vector.is_empty()).then_some(product)
}

fn pairs(texts: &[Measured]) -> Option<f64> {
    let mut cosines = Vec::new();
    for (at, a) in texts.iter().enumerate() {
        cosines.extend(texts[at + 1..].iter().filter_map(|b| cosine(a, b)));
    }
    mean(&cosines)
}

fn inputs(run: &Transcript, all: &[Measured], own: &[Measured]) -> Option<f64> {
    let mut means = Vec::new();
    for text in own {
        let call = run.messages[text.id].call.unwrap();
        let read = run.calls[call].sampled.iter();
        let read = read.filter_map(|id| all.iter().find(|other| other.id == id.index()));
        let cosines: Vec<f64> = read.filter_map(|other| cosine(text, other)).collect();
        means.extend(mean(&cosines));
    }
    mean(&means)
}

fn compression(texts: &[Measured]) -> Option<f64> {
    let texts: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
    let joined = texts.join("\n");
    let joined = &joined.as_bytes()[..joined.len().min(20_000)];
    let mut packed = Vec::new();
    let mut encoder = DeflateEncoder::new(joined, Compression::new(6));
    encoder.read_to_end(&mut packed).unwrap();
    (texts.len() >= 2 && joined.len() >= 2000).then(|| joined.len() as f64 / packed.len() as f64)
}

fn distinct(texts: &[Measured], length: usize) -> Option<f64> {
    let (mut tokens, mut worded, mut runs) = (0, 0, Vec::new());
    for text in texts.iter().filter(|text| !text.words.is_empty()) {
        let taken = text.words.len().min(2000 - tokens);
        tokens += taken;
        worded += 1;
        runs.extend(text.words[..taken].windows(length).map(<[String]>::to_vec));
    }
    let different: BTreeSet<_> = runs.iter().collect();
    let share = different.len() as f64 / runs.len() as f64;
    (worded >= 2 && tokens >= 200 && !runs.is_empty()).then_some(share)
}

fn reuse(all: &[Measured], own: &[Measured]) -> Option<f64> {
    let mut shares = Vec::new();
    for text in own.iter().filter(|text| text.words.len() >= 5) {
        let earlier: Vec<&Measured> = all.iter().filter(|other| other.id < text.id).collect();
        let old = text.words.windows(5).filter(|run| {
            let has = |other: &&Measured| other.words.windows(5).any(|theirs| theirs == *run);
            earlier.iter().any(has)
        });
        if !earlier.is_empty() {
            shares.push(old.count() as f64 / (text.words.len() - 4) as f64);
        }
    }
    mean(&shares)
}

fn identity(texts: &[Measured]) -> Option<f64> {
    let mut equal = Vec::new();
    for (at, a) in texts.iter().enumerate() {
        let others = texts[at + 1..].iter();
        equal.extend(others.map(|b| f64::from(u8::from(a.text == b.text))));
    }
    mean(&equal)
}

fn turnover(before: &[Measured], now: &[Measured]) -> Option<f64> {
    let different = |texts: &[Measured]| -> BTreeSet<String> {
        texts.iter().map(|text| text.text.clone()).collect()
    };
    let (before, different) = (different(before), different(now));
    let new = different.difference(&before).count();
    (now.len() >= 2).then_some(new as f64 / different.len() as f64)
}

fn echo(all: &[Measured], seeds: usize, texts: &[Measured]) -> Option<f64> {
    let seeds: Vec<&Measured> = all.iter().filter(|text| text.id < seeds).collect();
    let minds = texts.iter().filter(|text| text.round > 0);
    let echoes = minds.filter_map(|text| {
        let cosines = seeds.iter().filter_map(|seed| cosine(text, seed));
        cosines.reduce(f64::max)
    });
    mean(&echoes.collect::<Vec<f64>>())
}

fn lengths(texts: &[Measured]) -> Vec<f64> {
    texts
        .iter()
        .map(|text| text.text.chars().count() as f64)
        .collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (n > 0).then(|| f64::midpoint(values[(n - 1) / 2], values[n / 2]))
}
