//! The parts that work without a model: the metrics and the codec.

use serde::Deserialize;
use zer0gravity_engine::DEFAULT_RULES;
use zer0gravity_engine::metrics::{chrf_pp, rouge_l};
use zer0gravity_engine::rules::codec::{RuleCodec, lexical_semantic, rule_implementability};
use zer0gravity_engine::text::Lexicon;

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
}

#[test]
fn metrics_agree_with_the_python_packages() {
    let pairs = std::fs::read(test_support::fixture("zer0gravity/metrics.json")).unwrap();
    let pairs: Vec<Pair> = serde_json::from_slice(&pairs).unwrap();
    assert!(pairs.len() > 80);
    pairs.iter().for_each(Pair::check);
}

/// Two hundred English sentences, with numbers, names, signs of the rules and odd characters.
fn sentences() -> Vec<String> {
    let subjects = [
        "The agent",
        "My old neighbour",
        "We",
        "Alice and Bob from Berlin",
        "This is what nobody",
        "A=0, so it",
        "\u{201c}Every student\u{201d}",
        "In the year 1984 they",
        "NASA's chief",
        "The café's owner",
    ];
    let verbs = [
        "reads & encodes",
        "doesn't remember",
        "can count",
        "will never | ever repeat",
        "= (equals)",
    ];
    let objects = [
        "42 apples, 3.5 pears and the rest.",
        "that θ letter for this reason!",
        "a message with α sign: done?",
        "  the whole\tstory\nof it 👍🏽",
    ];
    let mut all = Vec::new();
    for subject in subjects {
        for verb in verbs {
            all.extend(
                objects
                    .iter()
                    .map(|object| format!("{subject} {verb} {object}")),
            );
        }
    }
    all
}

#[test]
fn codec_known_answers() {
    let (codec, findings) = RuleCodec::parse(DEFAULT_RULES);
    assert!(codec.is_mechanical() && findings.is_empty());
    for (text, encoding) in [
        ("Hello world!", "Hll wrld!"),
        (
            "The quick brown fox jumps over the lazy dog",
            "θ qck brwn fox jmps vr θ lzy dog",
        ),
    ] {
        assert_eq!(codec.encode(text), encoding);
        let decoded = codec.decode(encoding, Lexicon::english());
        assert_eq!((&*decoded.text, decoded.unresolved), (text, 0));
    }
}

#[test]
fn codec_round_trip_of_200_sentences() {
    let (codec, _) = RuleCodec::parse(DEFAULT_RULES);
    let sentences = sentences();
    assert_eq!(sentences.len(), 200);
    for sentence in sentences {
        let encoded = codec.encode(&sentence);
        let decoded = codec.decode(&encoded, Lexicon::english());
        assert_eq!(codec.decode(&encoded, Lexicon::english()), decoded);
        // What is no word is kept: numbers, marks, signs, single spaces.
        let marks = |text: &str| -> Vec<String> {
            let marks: String = text
                .chars()
                .map(|char| {
                    if char.is_alphabetic() && char.is_ascii() {
                        ' '
                    } else {
                        char
                    }
                })
                .collect();
            marks.split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(marks(&decoded.text), marks(&sentence), "{encoded}");
        assert_eq!(
            decoded.text.split_whitespace().count(),
            sentence.split_whitespace().count(),
            "{encoded}"
        );
        assert!(
            rouge_l(&sentence, &decoded.text) > 0.6,
            "{sentence} | {encoded} | {}",
            decoded.text
        );
        assert!(encoded.chars().count() < sentence.chars().count());
    }
}

#[test]
fn codec_names_the_lines_it_does_not_understand() {
    let (codec, findings) =
        RuleCodec::parse("SUBS: 'you'→'u'\n\nMake it short.\nDrop vowels. Be kind.");
    let lines: Vec<_> = findings
        .iter()
        .map(|finding| (finding.line, &*finding.code, &*finding.evidence))
        .collect();
    assert!(!codec.is_mechanical());
    assert_eq!(
        lines,
        [
            (3, "ZG005", "Make it short."),
            (4, "ZG005", "Drop vowels. Be kind.")
        ]
    );
    for nothing in ["", " \n"] {
        let (codec, findings) = RuleCodec::parse(nothing);
        assert!(!codec.is_mechanical());
        assert_eq!(findings.len(), 1);
    }
}

#[test]
fn codec_follows_other_rules() {
    let rules = "MAP 'you' -> 'ü'\nDROP WORDS please, just\nDROP VOWELS LONGER THAN 4\n# names too\nKEEP NUMBERS, NAMES, PUNCTUATION\nCOLLAPSE SPACE";
    let (codec, findings) = RuleCodec::parse(rules);
    assert!(codec.is_mechanical(), "{findings:?}");
    let encoded = codec.encode("Could you  please send Anna 3 letters, maybe you?");
    assert_eq!(encoded, "Cld ü send Anna 3 lttrs, myb ü?");
    let decoded = codec.decode(&encoded, Lexicon::english());
    assert_eq!(decoded.text, "Could you send Anna 3 letters, maybe you?");
}

#[test]
fn codec_takes_large_texts() {
    let (codec, _) = RuleCodec::parse(DEFAULT_RULES);
    for piece in [
        "|",
        "=",
        "θ ",
        "'",
        "a'",
        "A. ",
        "\u{2019}\u{301}",
        "b",
        "=|",
    ] {
        let text = piece.repeat(20_000);
        let encoded = codec.encode(&text);
        let decoded = codec.decode(&encoded, Lexicon::english());
        assert!(decoded.text.len() < 10 * text.len() + 10);
    }
}

#[test]
fn judges_known_answers() {
    assert_eq!(rule_implementability(DEFAULT_RULES).score, 3);
    assert_eq!(lexical_semantic("Hello world!", "Hello  world! ").score, 40);
    let verdict = lexical_semantic("Take 3 apples, not 4.", "Take 3 pears, not 5.");
    assert_eq!(verdict.score, 15);
    assert!(verdict.reasoning.starts_with("offline: "));
}

/// A corpus of planted changes, as `fixtures/zer0gravity/atoms/*.json` has them.
#[derive(Deserialize)]
struct Corpus {
    texts: Vec<CorpusText>,
    corruptions: Vec<CorpusPair>,
    paraphrases: Vec<CorpusPair>,
}

#[derive(Deserialize)]
struct CorpusText {
    id: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CorpusPair {
    text_id: String,
    decoded: String,
}

#[test]
fn z11_n6_a_planted_change_costs_most_points_and_a_paraphrase_fewer() {
    assert!(lexical_semantic("It was -5 degrees.", "It was 5 degrees.").score <= 15);
    for name in ["a", "b", "c"] {
        let path = test_support::fixture(format!("zer0gravity/atoms/{name}.json"));
        let corpus: Corpus = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let points = |pair: &CorpusPair| {
            let text = corpus.texts.iter().find(|text| text.id == pair.text_id);
            f64::from(lexical_semantic(&text.unwrap().text, &pair.decoded).score)
        };
        let mean =
            |pairs: &[CorpusPair]| pairs.iter().map(points).sum::<f64>() / pairs.len() as f64;
        let (wrong, faithful) = (mean(&corpus.corruptions), mean(&corpus.paraphrases));
        assert!(wrong < faithful - 5.0, "{name}: {wrong} {faithful}");
        // Of nearly every text each of the twelve planted changes is found.
        let is_low = |text: &&CorpusText| {
            let of_text = corpus.corruptions.iter().filter(|it| it.text_id == text.id);
            let points: Vec<_> = of_text.map(points).collect();
            points.len() == 12 && points.iter().all(|points| *points <= 15.0)
        };
        let low = corpus.texts.iter().filter(is_low).count();
        assert!(low >= 18, "{name}: {low} of {}", corpus.texts.len());
    }
}
