//! The computation of metrics from a run.

use std::cell::OnceCell;

use super::compression::ratios;
use super::corpus::Corpus;
use super::diversity::Runs;
use super::identity::{duplicate_rate, turnover};
use super::matching::Match;
use super::metric::{Metric, Unit};
use super::scope::Scopes;
use super::series::{Point, Series};
use super::similarity::{ByDistance, in_windows, seed_echo, to_inputs};
use super::tfidf::Tfidf;
use super::volume;
use super::window::Window;
use crate::pool::MessageId;
use crate::verify::Transcript;

/// Returns the values of these metrics at the end of each round, in the order of `metrics`.
///
/// With `matched`, the metrics that [`Metric::can_match`] are computed from samples of equal number and length.
pub fn measure(
    run: &Transcript,
    window: Window,
    metrics: &[Metric],
    matched: Option<Match>,
) -> Vec<Series> {
    measure_in(run, &Corpus::of(run), window, metrics, matched)
}

/// Returns the values as [`measure`] does, for a run with this corpus.
pub(crate) fn measure_in(
    run: &Transcript,
    whole: &Corpus<'_>,
    window: Window,
    metrics: &[Metric],
    matched: Option<Match>,
) -> Vec<Series> {
    let on_whole = MetricInputs::new(run, whole, Scopes::of(run, whole, window));
    let cut = matched.map(|sizes| (sizes, Corpus::cut(run, sizes.tokens)));
    let on_cut = cut.as_ref().map(|(sizes, cut)| {
        let mut scopes = Scopes::of(run, cut, window);
        scopes.thin(run.seed, sizes.window_texts, sizes.round_texts);
        MetricInputs::new(run, cut, scopes)
    });
    let series = metrics.iter().map(|&metric| {
        let on_cut = on_cut.as_ref().filter(|_| metric.can_match());
        let matched = on_cut.is_some();
        let points = on_cut.unwrap_or(&on_whole).measure(metric);
        Series {
            metric,
            window: match metric.unit() {
                Unit::Window => window.to_string(),
                Unit::Round => "round".to_owned(),
            },
            matched,
            points,
        }
    });
    series.collect()
}

/// Returns the mean over the rounds of the similarity to what was read, as a function of the samples of the calls.
pub(crate) fn input_similarity(
    run: &Transcript,
    corpus: &Corpus<'_>,
) -> impl Fn(&[Vec<MessageId>]) -> Option<f64> {
    let tfidf = Tfidf::of(corpus);
    let rounds = Scopes::of(run, corpus, Window::Active).rounds;
    move |samples| {
        let points = to_inputs(run, samples, corpus, &tfidf, &rounds);
        let values: Vec<f64> = points.iter().skip(1).filter_map(|at| at.value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// The texts, the windows and rounds, and intermediate results that several metrics share.
struct MetricInputs<'a, 'b> {
    run: &'a Transcript,
    corpus: &'a Corpus<'b>,
    scopes: Scopes,
    tfidf: OnceCell<Tfidf>,
    by_distance: OnceCell<ByDistance>,
    runs: OnceCell<Runs>,
    lengths: OnceCell<[Vec<Point>; 2]>,
}

impl<'a, 'b> MetricInputs<'a, 'b> {
    fn new(run: &'a Transcript, corpus: &'a Corpus<'b>, scopes: Scopes) -> Self {
        Self {
            run,
            corpus,
            scopes,
            tfidf: OnceCell::new(),
            by_distance: OnceCell::new(),
            runs: OnceCell::new(),
            lengths: OnceCell::new(),
        }
    }

    /// Returns a value for each round that ended.
    fn measure(&self, metric: Metric) -> Vec<Point> {
        Point::after_start(self.run, self.with_start(metric))
    }

    /// Returns a value for the time before round 1 and for each round that ended.
    fn with_start(&self, metric: Metric) -> Vec<Point> {
        let (corpus, windows, rounds) = (self.corpus, &self.scopes.windows, &self.scopes.rounds);
        let lengths = || self.lengths.get_or_init(|| volume::lengths(corpus, rounds));
        match metric {
            Metric::TfidfSimilarity => in_windows(corpus, self.tfidf(), windows),
            Metric::WithinRoundSimilarity => self.by_distance().within.clone(),
            Metric::NearSimilarity => self.by_distance().near.clone(),
            Metric::FarSimilarity => self.by_distance().far.clone(),
            Metric::InputSimilarity => {
                let calls = self.run.calls.iter();
                let samples: Vec<_> = calls.map(|call| &call.sampled[..]).collect();
                to_inputs(self.run, &samples, corpus, self.tfidf(), rounds)
            }
            Metric::CompressionRatio => ratios(corpus, windows),
            Metric::Distinct1 => self.runs().distinct(corpus, 1, windows),
            Metric::Distinct2 => self.runs().distinct(corpus, 2, windows),
            Metric::Distinct3 => self.runs().distinct(corpus, 3, windows),
            Metric::Reuse5gram => Runs::reuse(corpus, rounds),
            Metric::PairIdentity => duplicate_rate(corpus, windows),
            Metric::Turnover => turnover(corpus, windows),
            Metric::SeedEcho => seed_echo(corpus, self.tfidf(), self.run.seeds, windows),
            Metric::Messages => volume::messages(self.run),
            Metric::CharsMean => lengths()[0].clone(),
            Metric::CharsMedian => lengths()[1].clone(),
            Metric::LostShare => volume::lost(self.run, rounds.len()),
        }
    }

    fn tfidf(&self) -> &Tfidf {
        self.tfidf.get_or_init(|| Tfidf::of(self.corpus))
    }

    fn by_distance(&self) -> &ByDistance {
        let of_rounds = || ByDistance::of(self.corpus, self.tfidf(), &self.scopes.rounds);
        self.by_distance.get_or_init(of_rounds)
    }

    fn runs(&self) -> &Runs {
        self.runs.get_or_init(|| Runs::of(self.corpus))
    }
}
