//! The measures of texts by the vectors of an encoder.

use serde::{Serialize, Serializer};

use super::dense::Dense;
use super::encoder::Encoder;
use super::vectors::Embeddings;
use crate::measures::metrics::corpus::Corpus;
use crate::measures::metrics::scope::Scopes;
use crate::measures::metrics::similarity::{ByDistance, in_windows, seed_echo, to_inputs};
use crate::measures::metrics::vectors::TextVectors as _;
use crate::measures::metrics::{Interval, Point, Trend, Window, block_interval, trend};
use crate::verify::Transcript;

/// A measure of texts by their vectors, with a value at the end of each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EmbedMeasure {
    /// The mean similarity of the texts of a window.
    Similarity,
    /// The mean similarity of the texts of a round.
    WithinRound,
    /// The mean similarity of the texts of a round to those of the ten rounds before it.
    Near,
    /// The mean similarity of texts to the nearest seed message.
    SeedEcho,
    /// The mean similarity of texts to the messages that their mind had read.
    ToInputs,
}

impl EmbedMeasure {
    /// All measures in the order of results.
    pub const ALL: [Self; 5] = [
        Self::Similarity,
        Self::WithinRound,
        Self::Near,
        Self::SeedEcho,
        Self::ToInputs,
    ];

    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Similarity => "embed_similarity",
            Self::WithinRound => "embed_within_round",
            Self::Near => "embed_near",
            Self::SeedEcho => "embed_seed_echo",
            Self::ToInputs => "embed_to_inputs",
        }
    }

    /// Returns the measure with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// Returns the title for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Similarity => "similarity of visible texts, by vectors",
            Self::WithinRound => "similarity within a round, by vectors",
            Self::Near => "similarity to ten rounds before, by vectors",
            Self::SeedEcho => "similarity to a seed, by vectors",
            Self::ToInputs => "similarity to what was read, by vectors",
        }
    }

    /// Returns the definition in words.
    pub fn definition(self) -> &'static str {
        match self {
            Self::Similarity => {
                "mean cosine of the vectors of all pairs of texts of the window; texts without a vector left out"
            }
            Self::WithinRound => "mean cosine of the vectors of all pairs of texts of the round",
            Self::Near => {
                "mean cosine of the vectors of each text of the round with each of the 10 rounds before it; without seeds"
            }
            Self::SeedEcho => {
                "mean over the window's texts, seeds left out, of the highest cosine of their vectors to one of the first 1 000 different seeds"
            }
            Self::ToInputs => {
                "mean over the round's texts of their mean cosine, by vectors, to the texts that their call read"
            }
        }
    }
}

impl Serialize for EmbedMeasure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The measures of a run by the vectors of an encoder.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EmbeddedRun {
    /// The encoder.
    pub encoder: Encoder,
    /// The number of different texts with a vector.
    pub texts: usize,
    /// The number of different texts without a vector, which are left out.
    pub without: usize,
    /// The measures.
    pub measures: Vec<EmbeddedSeries>,
}

/// A measure over the rounds, with its mean and trend.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EmbeddedSeries {
    /// The name of the measure.
    pub name: EmbedMeasure,
    /// The definition in words.
    pub definition: &'static str,
    /// The number of rounds with a value.
    pub n: usize,
    /// The mean of the rounds' values, -1 to 1.
    pub mean: Option<f64>,
    /// The 95 % interval of the mean, by a moving-block bootstrap over rounds.
    pub interval: Option<Interval>,
    /// The trend of the values over the rounds.
    pub trend: Option<Trend>,
    /// The value of each round.
    pub points: Vec<Point>,
}

impl EmbeddedSeries {
    fn of(name: EmbedMeasure, points: Vec<Point>, seed: u64) -> Self {
        let values: Vec<f64> = points.iter().filter_map(|point| point.value).collect();
        Self {
            name,
            definition: name.definition(),
            n: values.len(),
            mean: mean(&values),
            interval: block_interval(&values, seed, name.name()),
            trend: trend(&values, seed, name.name()),
            points,
        }
    }
}

impl EmbeddedRun {
    /// Measures a run with this corpus by these vectors.
    pub(crate) fn of(
        run: &Transcript,
        corpus: &Corpus<'_>,
        window: Window,
        embeddings: &Embeddings,
    ) -> Self {
        let dense = Dense::of(corpus, embeddings);
        let mut kinds: Vec<usize> = corpus.texts().iter().map(|text| text.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let texts = kinds.iter().filter(|kind| dense.has(**kind)).count();
        let series = points(run, corpus, window, &dense);
        let measures = EmbedMeasure::ALL.into_iter().zip(series);
        Self {
            encoder: embeddings.encoder().clone(),
            texts,
            without: kinds.len() - texts,
            measures: measures
                .map(|(name, points)| EmbeddedSeries::of(name, points, run.seed))
                .collect(),
        }
    }

    /// Returns the values of a measure.
    pub fn measure(&self, name: EmbedMeasure) -> Option<&EmbeddedSeries> {
        self.measures.iter().find(|measure| measure.name == name)
    }
}

/// Returns the mean over the rounds of each of [`EmbedMeasure::ALL`] for a run with these token lists, by `chargram/1`.
pub(crate) fn chargram_means(
    run: &Transcript,
    corpus: &Corpus<'_>,
    window: Window,
    words: &[String],
) -> [Option<f64>; EmbedMeasure::ALL.len()] {
    let series = points(run, corpus, window, &Dense::of_lists(corpus, words));
    series.map(|points| {
        let values: Vec<f64> = points.iter().filter_map(|point| point.value).collect();
        mean(&values)
    })
}

/// Returns the values of each of [`EmbedMeasure::ALL`] at the end of each round.
fn points(
    run: &Transcript,
    corpus: &Corpus<'_>,
    window: Window,
    dense: &Dense,
) -> [Vec<Point>; EmbedMeasure::ALL.len()] {
    let Scopes { windows, rounds } = Scopes::of(run, corpus, window);
    let by_distance = ByDistance::of(corpus, dense, &rounds);
    let samples: Vec<_> = run.calls.iter().map(|call| &call.sampled[..]).collect();
    let with_start = [
        in_windows(corpus, dense, &windows),
        by_distance.within,
        by_distance.near,
        seed_echo(corpus, dense, run.seeds, &windows),
        to_inputs(run, &samples, corpus, dense, &rounds),
    ];
    with_start.map(|points| Point::after_start(run, points))
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
