use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use crate::ExperimentResult;
use crate::metrics::stats::mean;
use crate::result::AtomFinding;
use crate::text::hash::{canonical_sha256, sha256_hex};

/// An original text and what a decoder made of it. The same texts of two encoding systems are one pair.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextPair {
    /// The first 16 hex digits of the SHA-256 of the original text, a zero byte and the decoded text.
    pub id: String,
    /// The original text.
    pub original: Arc<str>,
    /// The decoded text.
    pub decoded: String,
    /// The judge's points for the meaning, 0 to 40, as a mean over the results with these texts; `None` if no judge scored it.
    pub judge: Option<f64>,
    /// The number of results of that mean.
    pub results: usize,
    /// The chrF++ of the texts, 0 to 100.
    pub chrf_pp: Option<f64>,
    /// Whether the atoms of the texts have a critical finding; `None` for results of earlier versions.
    pub has_critical: Option<bool>,
}

impl TextPair {
    /// The id of a pair.
    ///
    /// ```
    /// use zer0gravity_engine::calibration::TextPair;
    /// assert_eq!(TextPair::id_of("Hello world!", "Hello"), "2a94797484e16d88");
    /// ```
    pub fn id_of(original: &str, decoded: &str) -> String {
        let mut id = sha256_hex(format!("{original}\0{decoded}").as_bytes());
        id.truncate(16);
        id
    }
}

/// The judge's points for the meaning of a scored result. Points that came with the texts are not a judge's.
pub(crate) fn judged(result: &ExperimentResult) -> Option<f64> {
    let is_judged = result.outcome.is_ok() && result.details.semantic_judge.is_some();
    let scores = result.scores.filter(|_| is_judged)?;
    Some(f64::from(scores.semantic_preservation))
}

/// The pairs of the scored results, in the order of their first occurrence.
pub fn pairs<'a>(results: impl IntoIterator<Item = &'a ExperimentResult>) -> Vec<TextPair> {
    let mut pairs: Vec<(TextPair, Vec<f64>)> = Vec::new();
    let mut places = HashMap::new();
    for result in results {
        let is_scored = result.outcome.is_ok() && result.scores.is_some();
        let Some(decoded) = result.decoded_text.as_ref().filter(|_| is_scored) else {
            continue;
        };
        let id = TextPair::id_of(&result.original_text, decoded);
        let place = *places.entry(id.clone()).or_insert_with(|| {
            let metrics = result.metrics.as_ref();
            let atoms = metrics.and_then(|metrics| metrics.atoms.as_ref());
            let is_critical = |finding: &AtomFinding| finding.critical;
            let pair = TextPair {
                id,
                original: result.original_text.clone(),
                decoded: decoded.clone(),
                judge: None,
                results: 0,
                chrf_pp: metrics.map(|metrics| metrics.chrf_pp),
                has_critical: atoms.map(|atoms| atoms.findings.iter().any(is_critical)),
            };
            pairs.push((pair, Vec::new()));
            pairs.len() - 1
        });
        pairs[place].1.extend(judged(result));
    }
    let with_mean = |(mut pair, points): (TextPair, Vec<f64>)| {
        (pair.judge, pair.results) = (mean(&points), points.len());
        pair
    };
    pairs.into_iter().map(with_mean).collect()
}

/// The places of `pairs` in a random order, drawn by `ChaCha20` from `seed`, without replacement. Every text has one decoded text in the
/// order before a text has its second one. The order of `pairs` changes nothing but the places.
pub fn draw(pairs: &[TextPair], seed: u64) -> Vec<usize> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut places: Vec<usize> = (0..pairs.len()).collect();
    places.sort_by(|&a, &b| pairs[a].id.cmp(&pairs[b].id));
    let mut drawn: Vec<(u64, usize)> = (places.into_iter())
        .map(|place| (rng.next_u64(), place))
        .collect();
    drawn.sort_unstable();
    // The second number of a pair is new: texts with many decoded texts come no earlier than others.
    let mut decodes: HashMap<&str, usize> = HashMap::new();
    let rounds = drawn.into_iter().map(|(_, place)| {
        let round = decodes.entry(&pairs[place].original).or_default();
        *round += 1;
        (*round, rng.next_u64(), place)
    });
    let mut order: Vec<(usize, u64, usize)> = rounds.collect();
    order.sort_unstable();
    order.into_iter().map(|(.., place)| place).collect()
}

/// The points of one text and the properties that a judge may be biased by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextPoints<'a> {
    pub text: &'a str,
    /// The number of its judged pairs.
    pub pairs: usize,
    pub judge: f64,
    pub people: Option<f64>,
    pub length: f64,
    pub chrf_pp: Option<f64>,
    pub has_critical: Option<bool>,
}

impl TextPoints<'_> {
    pub(super) fn difference(&self) -> Option<f64> {
        Some(self.judge - self.people?)
    }

    /// The points of judge and people of a labelled text.
    pub(crate) fn labelled(&self) -> Option<(f64, f64)> {
        Some((self.judge, self.people?))
    }
}

/// The judged pairs as texts: the pairs of a text are averaged, and of a text with points of `people` only the pairs that have them. A
/// text has a critical finding if one of these pairs has it.
pub(crate) fn texts(
    pairs: &[TextPair],
    people: impl Fn(&TextPair) -> Option<f64>,
) -> Vec<TextPoints<'_>> {
    let mut by_text: BTreeMap<&str, Vec<(&TextPair, Option<f64>)>> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| pair.judge.is_some()) {
        let text = by_text.entry(&pair.original).or_default();
        text.push((pair, people(pair)));
    }
    let texts = by_text.into_iter().filter_map(|(text, mut pairs)| {
        let count = pairs.len();
        if pairs.iter().any(|(_, people)| people.is_some()) {
            pairs.retain(|(_, people)| people.is_some());
        }
        // A pair counts once for each of its results.
        let mean_of = |value: fn(&(&TextPair, Option<f64>)) -> Option<f64>| {
            let repeated = |one| value(one).map(|value| std::iter::repeat_n(value, one.0.results));
            mean(
                &pairs
                    .iter()
                    .filter_map(repeated)
                    .flatten()
                    .collect::<Vec<_>>(),
            )
        };
        Some(TextPoints {
            text,
            pairs: count,
            judge: mean_of(|(pair, _)| pair.judge)?,
            people: mean_of(|(_, people)| *people),
            length: text.chars().count() as f64,
            chrf_pp: mean_of(|(pair, _)| pair.chrf_pp),
            has_critical: pairs.iter().filter_map(|(pair, _)| pair.has_critical).max(),
        })
    });
    texts.collect()
}

/// The SHA-256 of the distinct original texts of a run in hex. It does not depend on their order.
pub fn dataset_sha256(results: &[ExperimentResult]) -> String {
    let texts: BTreeSet<&str> = results.iter().map(|one| &*one.original_text).collect();
    canonical_sha256(texts.into_iter().collect())
}
