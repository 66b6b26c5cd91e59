//! The result of a run in a sentence, the same on the page and in the terminal.

use crate::Analysis;
use crate::metrics::Metric;

/// Up to this p a trend is called one.
const SIGNIFICANT: f64 = 0.05;

impl Analysis {
    /// The result in a sentence; `None` if no round has enough texts.
    pub fn sentence(&self) -> Option<String> {
        let measure = self.metric(Metric::TfidfSimilarity)?;
        let mean = measure.mean?;
        let trend = match measure.trend {
            Some(trend) if trend.p <= SIGNIFICANT && trend.rho > 0.0 => {
                ", and rises with the rounds"
            }
            Some(trend) if trend.p <= SIGNIFICANT => ", and falls with the rounds",
            Some(_) => ", without a trend",
            None => "",
        };
        // The null model takes every variant of a text for a new one, so nothing follows from a distance to it.
        let compared = measure.null.map_or(
            "",
            |_| " Null model of copying: variants count as new texts; no verdict.",
        );
        Some(format!(
            "The similarity of the texts that can be read is {mean:.2} on average{trend}.{compared}"
        ))
    }
}
