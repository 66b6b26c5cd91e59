//! The diversity of word n-grams: how many are different, and how many repeat an earlier text.

use super::corpus::Corpus;
use super::grams::Grams;
use super::scope::TextRange;
use super::series::Point;

/// The largest number of tokens of a window that are counted.
const MOST_TOKENS: usize = 2000;

/// The smallest number of tokens that gives a value.
const LEAST_TOKENS: usize = 200;

/// The texts whose n-grams of one, two, three and five tokens are counted.
pub(crate) struct Runs {
    /// The indexes of texts with a token.
    worded: Vec<usize>,
}

impl Runs {
    /// Returns the texts of a corpus.
    pub(crate) fn of(corpus: &Corpus<'_>) -> Self {
        let places = 0..corpus.texts().len();
        let worded = places.filter(|&place| corpus.texts()[place].worded);
        Self {
            worded: worded.collect(),
        }
    }

    /// Returns the share of different n-grams of `length` (1 to 3) tokens in the first 2000 tokens of each window. No
    /// n-gram crosses the end of a text.
    pub(crate) fn distinct(
        &self,
        corpus: &Corpus<'_>,
        length: usize,
        windows: &[TextRange],
    ) -> Vec<Point> {
        let (ids, different) = match length {
            1 => (corpus.tokens(), corpus.vocabulary()),
            2 => (corpus.pairs().ids(), corpus.pairs().different()),
            _ => (corpus.triples().ids(), corpus.triples().different()),
        };
        // The last window that had each run.
        let mut last_in = vec![u32::MAX; different];
        let points = windows.iter().enumerate().map(|(window, places)| {
            let (mut tokens, mut runs, mut distinct, mut texts) = (0, 0_u64, 0_u64, 0);
            for place in self.worded_of(places, corpus) {
                if tokens == MOST_TOKENS {
                    break;
                }
                let span = corpus.span(corpus.texts()[place].kind);
                let taken = span.len().min(MOST_TOKENS - tokens);
                tokens += taken;
                texts += 1;
                for &run in &ids[span.start..span.start + (taken + 1).saturating_sub(length)] {
                    runs += 1;
                    let last = std::mem::replace(&mut last_in[run as usize], window as u32);
                    distinct += u64::from(last != window as u32);
                }
            }
            let enough = texts >= 2 && tokens >= LEAST_TOKENS && runs > 0;
            Point::of(texts, enough.then(|| distinct as f64 / runs as f64))
        });
        points.collect()
    }

    fn worded_of<'a>(
        &'a self,
        places: &'a TextRange,
        corpus: &'a Corpus<'_>,
    ) -> Box<dyn Iterator<Item = usize> + 'a> {
        match places {
            TextRange::Range(range) => {
                let place = |end| self.worded.partition_point(|&place| place < end);
                let inside = place(range.start)..place(range.end);
                Box::new(self.worded[inside].iter().copied())
            }
            TextRange::Picked(picked) => {
                let worded = |place: &usize| corpus.texts()[*place].worded;
                Box::new(picked.iter().copied().filter(worded))
            }
        }
    }

    /// Returns the mean share of 5-grams that an earlier text contains, over the texts of each round. Texts without a
    /// 5-gram and the first text are left out.
    pub(crate) fn reuse(corpus: &Corpus<'_>, rounds: &[TextRange]) -> Vec<Point> {
        let fives = Grams::fives(corpus);
        let mut known = vec![false; fives.different()];
        let mut shares = vec![None; corpus.texts().len()];
        let mut seen = vec![false; corpus.kinds()];
        for (place, text) in corpus.texts().iter().enumerate() {
            let runs = fives.of(corpus, text.kind);
            if runs.is_empty() {
                continue;
            }
            if std::mem::replace(&mut seen[text.kind], true) {
                shares[place] = Some(1.0);
                continue;
            }
            let old = runs.iter().filter(|&&run| known[run as usize]).count();
            shares[place] = (place > 0).then_some(old as f64 / runs.len() as f64);
            for &run in runs {
                known[run as usize] = true;
            }
        }
        let points = rounds.iter().map(|round| {
            let of_round: Vec<f64> = round.iter().filter_map(|place| shares[place]).collect();
            let n = of_round.len();
            let mean = (n > 0).then(|| of_round.iter().sum::<f64>() / n as f64);
            Point::of(n, mean)
        });
        points.collect()
    }
}
