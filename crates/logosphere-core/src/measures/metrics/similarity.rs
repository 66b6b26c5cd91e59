//! The similarity of texts.

use std::collections::HashMap;

use super::corpus::Corpus;
use super::scope::{Sliding, TextRange};
use super::series::Point;
use super::vectors::{Sum, TextVectors};
use crate::pool::MessageId;
use crate::verify::Transcript;

/// The largest distance of rounds that count as near.
const NEAR: usize = 10;

/// The smallest distance of rounds that count as far.
const FAR: usize = 50;

/// The largest number of seed messages that texts are compared with, which bounds the time.
const MOST_SEEDS: usize = 1000;

/// Returns the mean cosine of all pairs in each window.
pub(crate) fn in_windows(
    corpus: &Corpus<'_>,
    vectors: &impl TextVectors,
    windows: &[TextRange],
) -> Vec<Point> {
    let mut sliding = Sliding::new(corpus, Sum::new(vectors));
    let points = windows.iter().map(|window| {
        let sum = sliding.at(window);
        Point::of(sum.texts(), sum.mean_cosine())
    });
    points.collect()
}

/// Mean cosines of pairs of texts by the distance of their rounds.
pub(crate) struct ByDistance {
    /// The pairs of the same round.
    pub(crate) within: Vec<Point>,
    /// The pairs one to ten rounds apart.
    pub(crate) near: Vec<Point>,
    /// The pairs fifty and more rounds apart.
    pub(crate) far: Vec<Point>,
}

impl ByDistance {
    /// Compares the texts of each round with those of the rounds before it. The first of `rounds`, the seed messages,
    /// has no value.
    pub(crate) fn of<V: TextVectors>(
        corpus: &Corpus<'_>,
        vectors: &V,
        rounds: &[TextRange],
    ) -> Self {
        let kinds = |round: usize| rounds[round].texts(corpus).map(|text| text.kind);
        let mut own = Sum::new(vectors);
        let mut near = Sum::new(vectors);
        let mut far = Sum::new(vectors);
        let mut result = Self {
            within: Vec::new(),
            near: Vec::new(),
            far: Vec::new(),
        };
        for round in 0..rounds.len() {
            if round > FAR {
                kinds(round - FAR).for_each(|kind| far.add(kind));
            }
            if round > NEAR + 1 {
                kinds(round - NEAR - 1).for_each(|kind| near.remove(kind));
            }
            kinds(round).for_each(|kind| own.add(kind));
            let across = |others: &Sum<'_, V>| {
                let pairs = (own.texts() * others.texts()) as f64;
                let sum: f64 = match others.texts() {
                    0 => 0.0,
                    _ => kinds(round).map(|kind| others.cosines(kind)).sum(),
                };
                let mean = (pairs > 0.0).then(|| (sum / pairs).clamp(V::LEAST, 1.0));
                Point::of(own.texts() + others.texts(), mean)
            };
            result.near.push(across(&near));
            result.far.push(across(&far));
            (result.within).push(Point::of(own.texts(), own.mean_cosine()));
            kinds(round).for_each(|kind| own.remove(kind));
            if round > 0 {
                kinds(round).for_each(|kind| near.add(kind));
            }
        }
        result
    }
}

/// Returns the mean cosine of the texts of each round to the messages of their call's sample.
pub(crate) fn to_inputs<T: AsRef<[MessageId]>, V: TextVectors>(
    run: &Transcript,
    samples: &[T],
    corpus: &Corpus<'_>,
    vectors: &V,
    rounds: &[TextRange],
) -> Vec<Point> {
    let mut of_message: Vec<Option<f64>> = vec![None; run.messages.len()];
    let mut inputs = Sum::new(vectors);
    for (call, sampled) in run.calls.iter().zip(samples) {
        let measured = |id: &MessageId| corpus.measured(*id).map(|text| text.kind);
        let read = || sampled.as_ref().iter().filter_map(measured);
        read().for_each(|kind| inputs.add(kind));
        for text in call.added.iter().filter_map(|id| corpus.measured(*id)) {
            let mean = inputs.cosines(text.kind) / inputs.texts() as f64;
            let comparable = vectors.has(text.kind) && inputs.texts() > 0;
            of_message[text.message] = comparable.then_some(mean);
        }
        inputs.clear(read());
    }
    let points = rounds.iter().map(|round| {
        let texts = round.texts(corpus);
        let cosines: Vec<f64> = texts.filter_map(|text| of_message[text.message]).collect();
        let n = cosines.len();
        let mean = (n > 0).then(|| (cosines.iter().sum::<f64>() / n as f64).clamp(V::LEAST, 1.0));
        Point::of(n, mean)
    });
    points.collect()
}

/// Returns the mean over the minds' texts in each window of the highest cosine to a seed message.
pub(crate) fn seed_echo<V: TextVectors>(
    corpus: &Corpus<'_>,
    vectors: &V,
    seeds: usize,
    windows: &[TextRange],
) -> Vec<Point> {
    let (echoes, any) = highest(corpus, vectors, seeds);
    // Prefix sums of echoes and numbers of texts, so that a range needs two look-ups.
    let mut sums = vec![(0.0, 0)];
    for text in corpus.texts() {
        let (echo, texts) = *sums.last().unwrap_or(&(0.0, 0));
        sums.push(if vectors.has(text.kind) && text.message >= seeds {
            (echo + echoes[text.kind], texts + 1)
        } else {
            (echo, texts)
        });
    }
    let points = windows.iter().map(|window| {
        let (echo, texts) = match window {
            TextRange::Range(range) => {
                let (start, end) = (sums[range.start], sums[range.end]);
                (end.0 - start.0, end.1 - start.1)
            }
            TextRange::Picked(picked) => picked.iter().fold((0.0, 0), |(echo, texts), &place| {
                let (start, end) = (sums[place], sums[place + 1]);
                (echo + (end.0 - start.0), texts + (end.1 - start.1))
            }),
        };
        let mean = (any && texts > 0).then(|| (echo / f64::from(texts)).clamp(V::LEAST, 1.0));
        Point::of(texts as usize, mean)
    });
    points.collect()
}

/// Returns the highest cosine of each different text to a seed message, and whether there is a seed message with a vector.
fn highest<V: TextVectors>(corpus: &Corpus<'_>, vectors: &V, seeds: usize) -> (Vec<f64>, bool) {
    let mut different: Vec<usize> = Vec::new();
    let of_seeds = corpus
        .texts()
        .iter()
        .take_while(|text| text.message < seeds);
    let mut known = vec![false; corpus.kinds()];
    for text in of_seeds.filter(|text| vectors.has(text.kind)) {
        if !std::mem::replace(&mut known[text.kind], true) && different.len() < MOST_SEEDS {
            different.push(text.kind);
        }
    }
    let mut holders: HashMap<usize, Vec<(usize, f64)>> = HashMap::new();
    for (seed, &kind) in different.iter().enumerate() {
        for (term, weight) in vectors.vector(kind) {
            holders.entry(term).or_default().push((seed, weight));
        }
    }
    let mut cosines = vec![0.0; different.len()];
    let echoes = (0..corpus.kinds()).map(|kind| {
        cosines.fill(0.0);
        for (term, weight) in vectors.vector(kind) {
            for &(seed, of_seed) in holders.get(&term).map_or(&[][..], Vec::as_slice) {
                cosines[seed] += weight * of_seed;
            }
        }
        cosines.iter().copied().fold(V::LEAST, f64::max)
    });
    (echoes.collect(), !different.is_empty())
}
