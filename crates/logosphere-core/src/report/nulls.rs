//! The null model of each measure.

use crate::measures::metrics::Metric;
use crate::measures::nulls::Null;
use crate::measures::{Analysis, AnalysisPlan};
use crate::verify::Transcript;

/// The number of messages with most descendants in a summary.
const TOP: usize = 20;

/// Returns the null model of a measure; `None` if no null model changes it.
pub(super) fn null_of(metric: Metric) -> Option<Null> {
    Null::of(metric)
}

/// Returns the analysis of a run with `null_runs` runs of the null model of each measure; 0 for none.
pub(super) fn analysed(run: &Transcript, null_runs: u32) -> Analysis {
    let plan = AnalysisPlan {
        null_runs,
        top: TOP,
        ..AnalysisPlan::default()
    };
    match null_runs {
        0 => Analysis::of(run, &plan),
        _ => Analysis::with_null_models(run, &plan),
    }
}
