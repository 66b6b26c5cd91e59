//! The volume of text, and the share of lost answers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::corpus::Corpus;
use super::scope::TextRange;
use super::series::Point;
use crate::format::Reason;
use crate::pool::Round;
use crate::verify::Transcript;

/// The volume of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Volume {
    /// The number of messages, including seed messages.
    pub messages: usize,
    /// The number of seed messages.
    pub seeds: usize,
    /// The number of messages without a visible character; they are in no other value.
    pub invisible: usize,
    /// The number of rounds that added no message.
    pub silent_rounds: usize,
    /// The number of calls by outcome.
    pub by_reason: BTreeMap<Reason, u64>,
}

impl Volume {
    /// Returns the volume of a run.
    pub(crate) fn of(run: &Transcript, corpus: &Corpus<'_>) -> Self {
        let mut by_reason = BTreeMap::new();
        for call in &run.calls {
            *by_reason.entry(call.reason).or_default() += 1;
        }
        let added = messages(run);
        Self {
            messages: run.messages.len(),
            seeds: run.seeds,
            invisible: run.messages.len() - corpus.texts().len(),
            silent_rounds: added[1..].iter().filter(|point| point.n == 0).count(),
            by_reason,
        }
    }
}

/// Returns the number of messages that each round added. The first item counts the seed messages.
pub(crate) fn messages(run: &Transcript) -> Vec<Point> {
    let ranges = super::window::round_ranges(run).into_iter();
    ranges
        .map(|range| Point::of(range.len(), Some(range.len() as f64)))
        .collect()
}

/// Returns the share of lost answers of each round. An answer is lost if it sent no message and is not a silence. Failed
/// calls do not count.
pub(crate) fn lost(run: &Transcript, rounds: usize) -> Vec<Point> {
    let mut counts = vec![[0_u32; 2]; rounds];
    let numbers = (run.rounds.iter()).map(|round| round.round);
    let places: BTreeMap<Round, usize> = numbers.zip(1..).collect();
    for call in &run.calls {
        let place = places.get(&call.round).copied();
        let Some(count) = place.and_then(|place| counts.get_mut(place)) else {
            continue;
        };
        match call.reason {
            Reason::CallFailed => {}
            Reason::Ok | Reason::Silence => count[0] += 1,
            _ => {
                count[0] += 1;
                count[1] += 1;
            }
        }
    }
    let points = counts.into_iter().map(|[answers, lost]| {
        let share = (answers > 0).then(|| f64::from(lost) / f64::from(answers));
        Point::of(answers as usize, share)
    });
    points.collect()
}

/// Returns the mean and the median length of each round's texts in characters.
pub(crate) fn lengths(corpus: &Corpus<'_>, rounds: &[TextRange]) -> [Vec<Point>; 2] {
    let mut means = Vec::with_capacity(rounds.len());
    let mut medians = Vec::with_capacity(rounds.len());
    for round in rounds {
        let mut lengths: Vec<usize> = round
            .texts(corpus)
            .map(|text| corpus.chars(text.kind))
            .collect();
        lengths.sort_unstable();
        let n = lengths.len();
        let mean = (n > 0).then(|| lengths.iter().sum::<usize>() as f64 / n as f64);
        let median = lengths.get(n / 2).map(|&upper| match n % 2 {
            1 => upper as f64,
            _ => f64::midpoint(lengths[n / 2 - 1] as f64, upper as f64),
        });
        means.push(Point::of(n, mean));
        medians.push(Point::of(n, median));
    }
    [means, medians]
}

/// Returns the volume of a run.
pub fn volume(run: &Transcript) -> Volume {
    Volume::of(run, &Corpus::of(run))
}
