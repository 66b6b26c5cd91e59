//! What works without a model: the metrics and the codec.

use serde::Deserialize;
use zer0gravity_engine::{chrf_pp, literal_recall, rouge_l};

/// A pair of texts with what the Python packages say of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pair {
    reference: String,
    hypothesis: String,
    chrf_pp: f64,
    rouge_l: f64,
}

impl Pair {
    fn check(&self) {
        let Self {
            reference,
            hypothesis,
            ..
        } = self;
        let ours = (
            chrf_pp(reference, hypothesis),
            rouge_l(reference, hypothesis),
        );
        assert!(
            (ours.0 - self.chrf_pp).abs() < 1e-9 && (ours.1 - self.rouge_l).abs() < 1e-12,
            "{reference:?} | {hypothesis:?}: {ours:?} for {:?}",
            (self.chrf_pp, self.rouge_l)
        );
    }
}

#[test]
fn metrics_known_answers() {
    let fox = "The quick brown fox jumps over the lazy dog";
    let known = [
        (
            fox,
            "The quick brown fox jumped over a lazy dog",
            70.8406,
            0.777_778,
        ),
        (
            "Take 3 apples, not 4.",
            "Take 3 pears, not 5.",
            40.4911,
            0.6,
        ),
        ("Hello world!", "Hello, world", 47.8517, 1.0),
        ("naïve café déjà vu", "naive cafe deja vu", 23.7531, 0.2),
        (
            "Write that letter, then a colon.",
            "Then a colon; write that letter.",
            66.4839,
            0.5,
        ),
        ("a", "", 0.0, 0.0),
        (fox, fox, 100.0, 1.0),
    ];
    for (reference, hypothesis, chrf, rouge) in known {
        assert!(
            (chrf_pp(reference, hypothesis) - chrf).abs() < 1e-4,
            "{reference}"
        );
        assert!(
            (rouge_l(reference, hypothesis) - rouge).abs() < 1e-4,
            "{reference}"
        );
    }
    assert_eq!(
        literal_recall("Take 3 apples, not 4.", "Take 3 pears, not 5."),
        Some(2.0 / 3.0)
    );
}

#[test]
fn metrics_agree_with_the_python_packages() {
    let pairs: Vec<Pair> = serde_json::from_str(include_str!(
        "../../../../fixtures/zer0gravity/metrics.json"
    ))
    .unwrap();
    assert!(pairs.len() > 80);
    pairs.iter().for_each(Pair::check);
}
