//! The result of a run in a sentence, the same on the page and in the terminal.

use super::analysis::Analysis;
use crate::measures::metrics::Metric;

impl Analysis {
    /// The result in a sentence; `None` if no round has enough texts. It names no trend: rounds share messages, so runs in which
    /// nothing is selected have one too often.
    pub fn sentence(&self) -> Option<String> {
        let measure = self.metric(Metric::TfidfSimilarity)?;
        let mean = measure.mean?;
        // The null model takes every variant of a text for a new one, so nothing follows from a distance to it.
        let compared = measure.null.map_or(
            "",
            |_| " Null model of copying: variants count as new texts; no verdict.",
        );
        Some(format!(
            "The similarity of the texts that can be read is {mean:.2} on average.{compared}"
        ))
    }
}
