//! The measures of a cell by the vectors of an encoder.

use serde::Serialize;

use super::super::interval::interval;
use crate::measures::Analysis;
use crate::measures::embedding::{EmbedMeasure, Embeddings, Encoder};

/// The measures of a cell by the vectors of an encoder. They are not compared with the first cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EmbeddedCell {
    /// The encoder.
    pub encoder: Encoder,
    /// The measures.
    pub effects: Vec<EmbeddedEffect>,
}

/// A measure by vectors over the repeats of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EmbeddedEffect {
    /// The measure: its mean over the rounds of a run.
    pub measure: EmbedMeasure,
    /// The number of runs that have it.
    pub repeats: usize,
    /// The mean over the runs, -1 to 1.
    pub mean: f64,
    /// The lower end of the 95 % interval of the mean by Student's distribution; the mean itself for one run.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl EmbeddedCell {
    /// Returns the measures of a cell with these analyses of its runs.
    pub(super) fn of(analyses: &[Analysis], embeddings: &Embeddings) -> Self {
        let effect = |measure: EmbedMeasure| {
            let runs = analyses.iter().filter_map(|found| found.embedded.as_ref());
            let means = runs.filter_map(|run| run.measure(measure)?.mean);
            let values: Vec<f64> = means.collect();
            let [mean, low, high] = interval(&values)?;
            Some(EmbeddedEffect {
                measure,
                repeats: values.len(),
                mean,
                low,
                high,
            })
        };
        Self {
            encoder: embeddings.encoder().clone(),
            effects: EmbedMeasure::ALL.into_iter().filter_map(effect).collect(),
        }
    }
}
