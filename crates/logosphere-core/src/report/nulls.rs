//! The null model of each measure.

use crate::measures::metrics::Metric;
use crate::measures::nulls::Null;
use crate::measures::{Analysis, AnalysisPlan, NullFacts, compare};
use crate::verify::Transcript;

/// The number of messages with most descendants in a summary.
const TOP: usize = 20;

/// The null models of a page. Most measures use the first one.
const NULLS: [Null; 3] = [
    Null::RandomCopy { mu: None },
    Null::Shuffle,
    Null::Permutation,
];

/// Returns the null model of a measure; `None` if no null model changes it.
pub(super) fn null_of(metric: Metric) -> Option<Null> {
    match metric {
        // These measures depend on the frequency of each text, which drifts under random copying.
        Metric::TfidfSimilarity
        | Metric::CompressionRatio
        | Metric::Distinct1
        | Metric::Distinct2
        | Metric::Distinct3
        | Metric::Reuse5gram
        | Metric::PairIdentity
        | Metric::Turnover
        | Metric::SeedEcho => Some(Null::RandomCopy { mu: None }),
        // This measure compares texts with the messages that were read, which the shuffle exchanges.
        Metric::InputSimilarity => Some(Null::Shuffle),
        // These measures compare rounds, which do not differ after a permutation.
        Metric::WithinRoundSimilarity | Metric::NearSimilarity | Metric::FarSimilarity => {
            Some(Null::Permutation)
        }
        Metric::Messages | Metric::CharsMean | Metric::CharsMedian | Metric::LostShare => None,
    }
}

/// Returns the analysis of a run with `null_runs` runs of the null model of each measure; 0 for none.
pub(super) fn analysed(run: &Transcript, null_runs: u32) -> Analysis {
    let plan = AnalysisPlan {
        null_runs,
        top: TOP,
        ..AnalysisPlan::default()
    };
    let mut analysis = Analysis::of(run, &plan);
    if null_runs == 0 {
        return analysis;
    }
    for null in NULLS {
        let metrics = analysis.metrics.iter_mut();
        let compared = metrics.filter(|measured| null_of(measured.name) == Some(null));
        compare(run, &plan, null, None, compared.collect());
    }
    analysis.null = Some(NullFacts::of(run, &plan, NULLS[0]));
    analysis
}
