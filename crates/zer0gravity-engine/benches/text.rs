//! Times of comparing, encoding, decoding and reading rules, on texts of 1,000 words.
//!
//! `cargo bench -p orrery-zer0gravity-engine --bench text`; `benches/metrics.py` measures the Python packages
//! on the same pair of texts. Atoms are found in English texts, because in others half of the work is left out.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::Value;
use zer0gravity_engine::metrics::{chrf_pp, compare_atoms, rouge_l};
use zer0gravity_engine::rules::codec::RuleCodec;
use zer0gravity_engine::rules::lint::lint;
use zer0gravity_engine::text::Lexicon;
use zer0gravity_engine::{DEFAULT_RULES, Tokenizers};

/// Words of a small linear congruence, the same as in `metrics.py`; the second text has every seventh word replaced.
fn pair_of_texts(words: usize) -> (String, String) {
    const SYLLABLES: [&str; 16] = [
        "ta", "re", "mi", "so", "lun", "der", "ka", "pol", "ist", "en", "ver", "gra", "tion",
        "ing", "com", "pre",
    ];
    let mut state: u64 = 1;
    let mut next = |below: u64| {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 8) % below
    };
    let (mut first, mut second) = (String::new(), String::new());
    for at in 0..words {
        let mut word = String::new();
        for _ in 0..=next(3) {
            word.push_str(SYLLABLES[next(16) as usize]);
        }
        let mark = if at % 12 == 11 { ". " } else { " " };
        let other = if at % 7 == 0 { "word" } else { &word };
        let _ = write!(first, "{word}{mark}");
        let _ = write!(second, "{other}{mark}");
    }
    (first, second)
}

fn metrics(criterion: &mut Criterion) {
    let (reference, hypothesis) = pair_of_texts(1_000);
    let mut group = criterion.benchmark_group("metrics");
    group.bench_function("chrf_pp", |bencher| {
        bencher.iter(|| chrf_pp(black_box(&reference), black_box(&hypothesis)));
    });
    group.bench_function("rouge_l", |bencher| {
        bencher.iter(|| rouge_l(black_box(&reference), black_box(&hypothesis)));
    });
    group.finish();

    let (texts, paraphrases) = english();
    let mut group = criterion.benchmark_group("english");
    group.bench_function("chrf_pp", |bencher| {
        bencher.iter(|| chrf_pp(black_box(&texts), black_box(&paraphrases)));
    });
    group.bench_function("atoms", |bencher| {
        bencher.iter(|| compare_atoms(black_box(&texts), black_box(&paraphrases)));
    });
    group.finish();
}

/// Texts of 1,000 words in all, and a paraphrase of each.
fn english() -> (String, String) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/zer0gravity/atoms/d.json"
    );
    let corpus = std::fs::read_to_string(path).expect("a fixture");
    let corpus: Value = serde_json::from_str(&corpus).expect("JSON");
    let (mut texts, mut paraphrases) = (String::new(), String::new());
    for text in corpus["texts"].as_array().expect("a list") {
        let of_text = corpus["paraphrases"].as_array().expect("a list").iter();
        let paraphrase = of_text.clone().find(|one| one["textId"] == text["id"]);
        if let Some(paraphrase) = paraphrase
            && texts.split_whitespace().count() < 1_000
        {
            let _ = writeln!(texts, "{}", text["text"].as_str().expect("a text"));
            let decoded = paraphrase["decoded"].as_str().expect("a text");
            let _ = writeln!(paraphrases, "{decoded}");
        }
    }
    (texts, paraphrases)
}

fn codec(criterion: &mut Criterion) {
    let text = "The quick brown fox jumps over the lazy dog, and nobody remembers why it did so. "
        .repeat(62);
    let (codec, _) = RuleCodec::parse(DEFAULT_RULES);
    let lexicon = Lexicon::english();
    let encoded = codec.encode(&text);
    let mut group = criterion.benchmark_group("codec");
    group.bench_function("encode", |bencher| {
        bencher.iter(|| codec.encode(black_box(&text)));
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| codec.decode(black_box(&encoded), lexicon));
    });
    group.bench_function("parse", |bencher| {
        bencher.iter(|| RuleCodec::parse(black_box(DEFAULT_RULES)));
    });
    group.bench_function("lexicon", |bencher| {
        bencher.iter(|| Lexicon::new(include_str!("../src/data/english_words.txt")));
    });
    group.finish();
}

fn rules(criterion: &mut Criterion) {
    let counter = Tokenizers::default();
    let mut group = criterion.benchmark_group("rules");
    group.bench_function("lint", |bencher| {
        bencher.iter(|| lint(black_box(DEFAULT_RULES), &counter));
    });
    group.finish();
}

/// Times for texts of 1 MiB, the largest that run without `--allow-long`.
fn large(criterion: &mut Criterion) {
    let (reference, hypothesis) = pair_of_texts(160_000);
    let letters = [
        "a b c d e f g ".repeat(74_898),
        "g f e d c b a ".repeat(74_898),
    ];
    let (codec, _) = RuleCodec::parse(DEFAULT_RULES);
    let encoded = codec.encode(&reference);
    let mut group = criterion.benchmark_group("large");
    group.sample_size(10);
    group.bench_function("chrf_pp", |bencher| {
        bencher.iter(|| chrf_pp(black_box(&reference), black_box(&hypothesis)));
    });
    group.bench_function("rouge_l", |bencher| {
        bencher.iter(|| rouge_l(black_box(&reference), black_box(&hypothesis)));
    });
    group.bench_function("rouge_l, one-letter words", |bencher| {
        bencher.iter(|| rouge_l(black_box(&letters[0]), black_box(&letters[1])));
    });
    group.bench_function("encode", |bencher| {
        bencher.iter(|| codec.encode(black_box(&reference)));
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| codec.decode(black_box(&encoded), Lexicon::english()));
    });
    group.finish();
}

criterion_group!(benches, metrics, codec, rules, large);
criterion_main!(benches);
