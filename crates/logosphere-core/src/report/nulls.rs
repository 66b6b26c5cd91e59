//! The null model of each measure.

use crate::measures::AnalysisPlan;
use crate::measures::metrics::Metric;
use crate::measures::nulls::Null;

/// The number of messages with most descendants in a summary.
const TOP: usize = 20;

/// Returns the null model of a measure; `None` if no null model changes it.
pub(super) fn null_of(metric: Metric) -> Option<Null> {
    Null::of(metric)
}

/// Returns the plan of a page with `null_runs` runs of the null model of each measure; 0 for none.
pub(super) fn plan(null_runs: u32, threads: usize) -> AnalysisPlan {
    AnalysisPlan {
        own_nulls: null_runs > 0,
        null_runs,
        threads,
        top: TOP,
        ..AnalysisPlan::default()
    }
}
