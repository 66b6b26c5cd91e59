//! The `diversity_metrics.json` of the Python program, to be shown next to our measures.

use serde::{Deserialize, Serialize};

/// The series of the Python program by round, from embeddings of another encoder.
///
/// Rounds with a single message are left out: that program writes 1 for the similarity of a text to itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReferenceMetrics {
    /// The rounds.
    pub rounds: Vec<u32>,
    /// The mean similarity of the messages of each round, cosine.
    pub mean_similarity: Vec<f64>,
    /// The mean distance of the messages of each round from the centre of the seeds, 1 - cosine.
    pub distance_from_seed: Vec<f64>,
    /// The number of rounds of a single message that were left out.
    pub singles: u64,
}

/// The form of the file.
#[derive(Deserialize)]
struct MetricsFile {
    rounds: Vec<u32>,
    mean_similarity: Vec<f64>,
    distance_from_seed: Vec<f64>,
    num_messages: Vec<u64>,
}

impl ReferenceMetrics {
    /// Reads the file; an error says what was expected.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file: MetricsFile = serde_json::from_slice(bytes).map_err(|error| {
            format!("expected the lists rounds, mean_similarity, distance_from_seed and num_messages: {error}")
        })?;
        let size = file.rounds.len();
        let sizes = [
            file.mean_similarity.len(),
            file.distance_from_seed.len(),
            file.num_messages.len(),
        ];
        if sizes != [size; 3] {
            return Err(format!(
                "expected lists of equal length, found {size} and {sizes:?}"
            ));
        }
        if !file.rounds.is_sorted_by(|a, b| a < b) {
            return Err("expected rounds in ascending order".to_owned());
        }
        let mut metrics = Self::default();
        for at in 0..size {
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
