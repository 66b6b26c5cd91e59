//! Vectors of texts: the local encoder, the measures by vectors, and what they cannot be made without.

use logosphere_core::Transcript;
use logosphere_core::measures::embedding::{
    CHARGRAM, EmbedMeasure, EmbeddedRun, EmbeddingError, Embeddings, Encoder, PROBES, chargram,
    texts,
};
use logosphere_core::measures::lineage::{Lineage, Method, VectorRule};
use logosphere_core::measures::nulls::{Family, NullPlan};
use logosphere_core::measures::{Analysis, AnalysisPlan};

use crate::desk;
use logosphere_core::config::Scheduling;

fn run() -> Transcript {
    run_of("mutator:p=0.1", 12)
}

fn run_of(mind: &str, rounds: u32) -> Transcript {
    let settings = desk::settings(Scheduling::Sequential).with(|settings| {
        settings.mind = Some(mind.to_owned());
        settings.max_rounds = rounds;
    });
    Transcript::read(&desk::run(&settings, desk::mind(&settings)).1[..]).unwrap()
}

/// The vector of a text by `chargram/1`.
fn vector(text: &str) -> Vec<f32> {
    let found = chargram([text]);
    found.get(&Embeddings::hash(text)).unwrap().to_vec()
}

/// Known answers of an independent program: numbers that are not 0, the first two of them, and the sum of index times number.
#[test]
fn chargram_gives_the_numbers_of_an_independent_program() {
    for (text, filled, first, sum) in [
        (
            "The moon is stone.",
            45,
            [(4, -0.149_071), (8, 0.149_071)],
            -139.232_499,
        ),
        (
            "  Ice-9,\tnée\nICE-9! ",
            39,
            [(0, -0.137_87), (9, -0.137_87)],
            347.342_543,
        ),
        (
            "月は石でできている。",
            27,
            [(23, -0.192_45), (32, -0.192_45)],
            -370.081_523,
        ),
    ] {
        let found = vector(text);
        let places = || {
            found
                .iter()
                .enumerate()
                .filter(|(_, number)| number.abs() > 1e-9)
        };
        assert_eq!((found.len(), places().count()), (512, filled), "{text}");
        for ((at, number), (place, known)) in places().zip(first) {
            assert_eq!(at, place, "{text}");
            assert!(
                (f64::from(*number) - known).abs() < 1e-5,
                "{text}: {number}"
            );
        }
        let weighted = found
            .iter()
            .zip(1..)
            .map(|(number, at)| f64::from(*number) * f64::from(at));
        assert!((weighted.sum::<f64>() - sum).abs() < 1e-3, "{text}");
    }
    assert!(chargram(["", " \t"]).is_empty());
    let encoder = chargram([]).encoder().clone();
    assert_eq!((encoder.name.as_str(), encoder.dims), (CHARGRAM, 512));
    assert_eq!(encoder.sha256, SHA256);
}

/// The identity of the local encoder by the same program.
const SHA256: &str = "5fa46915bfa4e95b07003efd7d14da75aa0440317bfcf45d4c9a88e0ff6e350a";

#[test]
fn vectors_of_a_server_are_checked_and_scaled() {
    let encoder = Encoder::new("openai:m", "m-1", &[0, 1, 2, 3].map(|_| vec![0.5, 0.25]));
    let mut found = Embeddings::new(encoder);
    let text = Embeddings::hash("a");
    found.insert(text, vec![3.0, 4.0]).unwrap();
    assert_eq!(found.get(&text), Some(&[0.6, 0.8][..]));
    for (vector, error) in [
        (
            vec![1.0],
            EmbeddingError::OtherLength {
                expected: 2,
                found: 1,
            },
        ),
        (
            vec![1.0, f32::NAN],
            EmbeddingError::NotFinite {
                index: 1,
                found: "NaN".into(),
            },
        ),
        (vec![0.0, 0.0], EmbeddingError::Zero),
    ] {
        assert_eq!(found.insert(text, vector).unwrap_err(), error);
    }
    assert_eq!(
        found.get(&text),
        Some(&[0.6, 0.8][..]),
        "an error changes nothing"
    );
}

/// The mean cosine of all pairs of messages of the last window, one pair after another.
#[test]
fn the_similarity_is_the_mean_cosine_of_all_pairs() {
    let run = run();
    let vectors = chargram(texts(&run));
    let mut plan = AnalysisPlan::default();
    plan.embeddings = Some(&vectors);
    let analysis = Analysis::of(&run, &plan);
    let embedded = analysis.embedded.unwrap();
    assert_eq!(embedded.encoder, *vectors.encoder());
    assert_eq!((embedded.texts, embedded.without), (texts(&run).len(), 0));

    let last = run.messages.len() - run.active.min(run.messages.len())..run.messages.len();
    let of = |id: usize| {
        // A stamp follows the text.
        let stored = &run.messages[id].text;
        let text = texts(&run)
            .into_iter()
            .filter(|text| stored.starts_with(text));
        let text = text.max_by_key(|text| text.len()).unwrap();
        vectors.get(&Embeddings::hash(text)).unwrap()
    };
    let (mut sum, mut pairs) = (0.0, 0.0);
    for a in last.clone() {
        for b in a + 1..last.end {
            let products = of(a).iter().zip(of(b));
            sum += products
                .map(|(x, y)| f64::from(*x) * f64::from(*y))
                .sum::<f64>();
            pairs += 1.0;
        }
    }
    let similarity = embedded.measure(EmbedMeasure::Similarity).unwrap();
    let value = similarity.points.last().unwrap().value.unwrap();
    assert!(
        (value - sum / pairs).abs() < 1e-5,
        "{value} and {}",
        sum / pairs
    );
    for measure in EmbedMeasure::ALL {
        assert!(embedded.measure(measure).unwrap().n > 0, "{measure:?}");
    }
}

/// With vectors that are the opposite of each other, cosines below 0 are not cut off.
#[test]
fn cosines_can_be_negative() {
    let run = run();
    let encoder = Encoder::new("generic:m", "m", &[0, 1, 2, 3].map(|_| vec![1.0, 0.0]));
    let mut vectors = Embeddings::new(encoder);
    for (at, text) in texts(&run).into_iter().enumerate() {
        let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
        vectors
            .insert(Embeddings::hash(text), vec![sign, 0.0])
            .unwrap();
    }
    let mut plan = AnalysisPlan::default();
    plan.embeddings = Some(&vectors);
    let embedded = Analysis::of(&run, &plan).embedded.unwrap();
    let values = embedded.measures.iter().flat_map(|measure| &measure.points);
    let least = values.filter_map(|point| point.value).fold(1.0, f64::min);
    assert!((-1.0..0.0).contains(&least), "{least}");
}

#[test]
fn only_the_local_encoder_has_bands_and_no_measure_by_vectors_has_a_p() {
    let run = run_of("copier:mu=0.1", 40);
    let local = chargram(texts(&run));
    let mut other = Encoder::new("openai:m", "m", &[0, 1, 2, 3].map(|_| vec![1.0, 0.0]));
    other.dims = 512;
    let mut of_server = Embeddings::new(other);
    for text in texts(&run) {
        let hash = Embeddings::hash(text);
        of_server
            .insert(hash, local.get(&hash).unwrap().to_vec())
            .unwrap();
    }
    let banded = |vectors: &Embeddings, threads: usize| {
        let mut plan = AnalysisPlan::default();
        plan.embeddings = Some(vectors);
        plan.null = Some(NullPlan {
            runs: 199,
            threads,
            ..NullPlan::default()
        });
        Analysis::of(&run, &plan).comparison.unwrap()
    };
    let found = banded(&local, 1);
    assert_eq!(found, banded(&local, 4));
    for measure in EmbedMeasure::ALL {
        let test = found.test(measure.name()).unwrap();
        assert_eq!(
            (test.family, test.p, test.p_holm),
            (Family::Band, None, None)
        );
        assert!(
            test.low <= test.median && test.median <= test.high,
            "{test:?}"
        );
        // This run is neutral, and its own number is computed from words as theirs are.
        assert!(
            (test.low - 0.1..test.high + 0.1).contains(&test.observed),
            "{test:?}"
        );
    }
    let found = banded(&of_server, 1);
    let named = |measure: EmbedMeasure| found.test(measure.name()).is_some();
    assert!(!EmbedMeasure::ALL.into_iter().any(named));
}

#[test]
fn parents_by_vectors_are_marked_as_such() {
    let run = run();
    let vectors = chargram(texts(&run));
    let by_words = Lineage::of(&run).summary(&run, 0);
    let by_vectors = Lineage::by_vectors(&run, VectorRule::new(&vectors, 0.6)).summary(&run, 0);
    assert_eq!(by_words.exact, by_vectors.exact);
    assert_eq!((by_words.embed, by_vectors.lcs), (0, 0));
    assert!(by_vectors.embed > 0, "{by_vectors:?}");
    let none = Lineage::by_vectors(&run, VectorRule::new(&vectors, 1.1)).summary(&run, 0);
    assert_eq!((none.exact, none.embed), (by_words.exact, 0));
    let lineage = Lineage::by_vectors(&run, VectorRule::new(&vectors, 0.6));
    let methods = lineage.nodes().iter().filter_map(|node| node.parent());
    for parent in methods.filter(|parent| parent.method == Method::Embed) {
        assert!((0.6..=1.0).contains(&parent.confidence), "{parent:?}");
    }
}

/// A text without a vector is left out and counted.
#[test]
fn a_text_without_a_vector_is_left_out() {
    let run = run();
    let all = chargram(texts(&run));
    let mut vectors = Embeddings::new(all.encoder().clone());
    for text in texts(&run).into_iter().skip(1) {
        let hash = Embeddings::hash(text);
        vectors
            .insert(hash, all.get(&hash).unwrap().to_vec())
            .unwrap();
    }
    let mut plan = AnalysisPlan::default();
    plan.embeddings = Some(&vectors);
    let embedded: EmbeddedRun = Analysis::of(&run, &plan).embedded.unwrap();
    assert_eq!(embedded.without, 1);
    assert_eq!(PROBES.len(), 4);
}
