//! The duplicate rate of a window, and its turnover.

use super::corpus::Corpus;
use super::scope::{Sliding, SlidingMeasure, TextRange};
use super::series::Point;

/// The number of copies of each text in a window.
struct Copies {
    of_kind: Vec<u64>,
    texts: u64,
    different: usize,
    /// The number of pairs of equal texts, each counted twice.
    equal: u64,
}

impl Copies {
    fn new(corpus: &Corpus<'_>) -> Self {
        Self {
            of_kind: vec![0; corpus.kinds()],
            texts: 0,
            different: 0,
            equal: 0,
        }
    }
}

impl SlidingMeasure for Copies {
    fn add(&mut self, kind: usize) {
        let copies = &mut self.of_kind[kind];
        self.different += usize::from(*copies == 0);
        self.equal += 2 * *copies;
        *copies += 1;
        self.texts += 1;
    }

    fn remove(&mut self, kind: usize) {
        let copies = &mut self.of_kind[kind];
        *copies -= 1;
        self.equal -= 2 * *copies;
        self.different -= usize::from(*copies == 0);
        self.texts -= 1;
    }
}

/// Returns the share of pairs of equal texts in each window.
pub(crate) fn duplicate_rate(corpus: &Corpus<'_>, windows: &[TextRange]) -> Vec<Point> {
    let mut sliding = Sliding::new(corpus, Copies::new(corpus));
    let points = windows.iter().map(|window| {
        let copies = sliding.at(window);
        let texts = copies.texts as f64;
        let share = copies.equal as f64 / (texts * (texts - 1.0));
        Point::of(window.len(), (copies.texts >= 2).then_some(share))
    });
    points.collect()
}

/// Returns the share of the different texts of each window that the window before it did not contain. The first window
/// has no value.
pub(crate) fn turnover(corpus: &Corpus<'_>, windows: &[TextRange]) -> Vec<Point> {
    let mut sliding = Sliding::new(corpus, Copies::new(corpus));
    let mut counted = vec![0; corpus.kinds()];
    let mut before = &TextRange::Range(0..0);
    let points = windows.iter().enumerate().map(|(at, window)| {
        let old = &sliding.at(before).of_kind;
        let mut new = 0;
        let entered = match (before, window) {
            (TextRange::Range(before), TextRange::Range(now)) => {
                TextRange::Range(before.end.max(now.start)..now.end)
            }
            _ => window.clone(),
        };
        for kind in entered.texts(corpus).map(|text| text.kind) {
            if old[kind] == 0 && std::mem::replace(&mut counted[kind], at + 1) != at + 1 {
                new += 1;
            }
        }
        before = window;
        let different = sliding.at(window).different;
        let enough = at > 0 && window.len() >= 2;
        Point::of(
            window.len(),
            enough.then(|| f64::from(new) / different as f64),
        )
    });
    points.collect()
}
