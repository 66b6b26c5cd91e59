//! A judge compared with people.

mod canaries;
mod labels;
mod reports;
mod simulated;
mod values;

use std::collections::HashSet;

use serde_json::json;
use zer0gravity_engine::calibration::{Label, TextPair, draw, pairs};

use crate::report::sample::{item, judged, numbered, read};

/// A label of `rater` for a pair, with the seed 0.
fn label(pair: &TextPair, rater: &str, score: Option<u8>) -> Label {
    read(json!({
        "schema_version": 1, "pairId": pair.id, "rater": rater, "score": score,
        "skipped": score.is_none(), "seed": 0, "ordinal": 1,
        "at": "2026-02-03T04:05:06.000Z",
    }))
}

#[test]
fn the_same_texts_of_two_encoding_systems_are_one_pair() {
    let text = "Hello world!";
    let mut other = item("b", "1a", text);
    other.decoded_text = Some("Hello".into());
    let results = [
        judged(item("a", "1a", text), 30, 4),
        judged(item("b", "1a", text), 36, 4),
        other,
    ];
    let pairs = pairs(&results);
    assert_eq!(pairs.len(), 2);
    assert_eq!(pairs[0].judge, Some(33.0));
    assert_eq!(pairs[1].id, "2a94797484e16d88");
}

#[test]
fn results_without_a_score_give_no_pair_and_given_scores_have_no_judge() {
    let mut given = item("a", "1a", "Hello world!");
    given.details.semantic_judge = None;
    let mut failed = item("a", "1b", "another text");
    failed.scores = None;
    let pairs = pairs(&[given, failed]);
    assert_eq!(pairs.len(), 1);
    assert_eq!(pairs[0].judge, None);
}

/// The pairs of 30 texts with two decoded texts each.
fn sixty() -> Vec<TextPair> {
    let texts = (0..30).flat_map(|text| {
        (1..=2).map(move |decode| {
            let id = format!("t{text}");
            let mut item = numbered(item("a", &id, &format!("text {text}")), 1, decode);
            item.decoded_text = Some(format!("decoded {decode} of {text}"));
            item
        })
    });
    pairs(&texts.collect::<Vec<_>>())
}

#[test]
fn every_text_is_drawn_once_before_any_is_drawn_twice() {
    let pairs = sixty();
    let order = draw(&pairs, 3);
    let all: HashSet<usize> = order.iter().copied().collect();
    assert_eq!((order.len(), all.len()), (60, 60));
    let first = order[..30].iter().map(|place| &*pairs[*place].original);
    assert_eq!(first.collect::<HashSet<_>>().len(), 30);
    assert_ne!(order, draw(&pairs, 4));
    let mut turned = pairs.clone();
    turned.reverse();
    let ids = |pairs: &[TextPair]| -> Vec<String> {
        let order = draw(pairs, 3).into_iter();
        order.map(|place| pairs[place].id.clone()).collect()
    };
    assert_eq!(
        ids(&pairs),
        ids(&turned),
        "the order of results says nothing"
    );
}

#[test]
fn the_draw_prefers_no_place() {
    let pairs = sixty();
    let mut first = vec![0_u32; pairs.len()];
    for seed in 0..3_000 {
        first[draw(&pairs, seed)[0]] += 1;
    }
    // 50 each are expected; 5 standard deviations are 35.
    assert!(
        first.iter().all(|count| (15..=85).contains(count)),
        "{first:?}"
    );
}
