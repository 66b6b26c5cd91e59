//! The `diversity_metrics.json` of the Python program, to be shown next to our measures.

use serde::{Deserialize, Deserializer, Serialize};

/// The series of the Python program by round, from embeddings of another encoder.
///
/// Rounds with a single message are left out: that program writes 1 for the similarity of a text to itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReferenceMetrics {
    /// The rounds.
    pub rounds: Vec<u32>,
    /// The mean similarity of the messages of each round, cosine.
    #[serde(deserialize_with = "similarities")]
    pub mean_similarity: Vec<f64>,
    /// The mean distance of the messages of each round from the centre of the seeds, 1 - cosine.
    #[serde(deserialize_with = "distances")]
    pub distance_from_seed: Vec<f64>,
    /// The number of rounds of a single message that were left out.
    pub singles: u64,
}

/// The form of the file.
#[derive(Deserialize)]
struct MetricsFile {
    rounds: Vec<u32>,
    #[serde(deserialize_with = "similarities")]
    mean_similarity: Vec<f64>,
    #[serde(deserialize_with = "distances")]
    distance_from_seed: Vec<f64>,
    num_messages: Vec<u64>,
}

/// The largest error of a cosine that is computed in numbers of 32 bits.
const ROUNDING: f64 = 1e-5;

/// A number from `LOW` to `HIGH`.
struct Bounded<const LOW: i8, const HIGH: i8>(f64);

impl<'de, const LOW: i8, const HIGH: i8> Deserialize<'de> for Bounded<LOW, HIGH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = f64::deserialize(deserializer)?;
        if (f64::from(LOW) - ROUNDING..=f64::from(HIGH) + ROUNDING).contains(&found) {
            return Ok(Self(found));
        }
        let problem = format!("{found:e} is not a number from {LOW} to {HIGH}");
        Err(serde::de::Error::custom(problem))
    }
}

fn similarities<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Bounded<-1, 1>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.0).collect())
}

fn distances<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Bounded<0, 2>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.0).collect())
}

/// Returns the problem with rounds and with the lengths of the lists over them.
fn check_lists(rounds: &[u32], sizes: &[usize]) -> Result<(), String> {
    let size = rounds.len();
    if sizes.iter().any(|other| *other != size) {
        return Err(format!(
            "expected lists of equal length, found {size} and {sizes:?}"
        ));
    }
    if !rounds.is_sorted_by(|a, b| a < b) {
        return Err("expected rounds in ascending order".to_owned());
    }
    Ok(())
}

impl ReferenceMetrics {
    /// Reads the file; an error has the line and says what was expected.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, (u64, String)> {
        let file: MetricsFile = serde_json::from_slice(bytes).map_err(|error| {
            let problem = format!("expected the lists rounds, mean_similarity, distance_from_seed and num_messages: {error}");
            (error.line() as u64, problem)
        })?;
        let sizes = [
            file.mean_similarity.len(),
            file.distance_from_seed.len(),
            file.num_messages.len(),
        ];
        check_lists(&file.rounds, &sizes).map_err(|problem| (1, problem))?;
        let mut metrics = Self::default();
        for at in 0..file.rounds.len() {
            if file.num_messages[at] < 2 {
                metrics.singles += 1;
                continue;
            }
            metrics.rounds.push(file.rounds[at]);
            metrics.mean_similarity.push(file.mean_similarity[at]);
            metrics.distance_from_seed.push(file.distance_from_seed[at]);
        }
        Ok(metrics)
    }

    /// Returns the problem with lists that were not written by [`Imported::write`](super::Imported::write).
    pub(super) fn check(&self) -> Result<(), String> {
        let sizes = [self.mean_similarity.len(), self.distance_from_seed.len()];
        check_lists(&self.rounds, &sizes)
    }

    /// Returns the mean of a series over each quarter of its values; `None` below four values.
    pub fn quarters(series: &[f64]) -> Option<[f64; 4]> {
        let size = series.len();
        let mean = |quarter: usize| {
            let part = &series[quarter * size / 4..(quarter + 1) * size / 4];
            part.iter().sum::<f64>() / part.len() as f64
        };
        (size >= 4).then(|| [mean(0), mean(1), mean(2), mean(3)])
    }
}
