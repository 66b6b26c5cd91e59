//! Properties that hold for any text.

use atoms::{Coverage, compare, cover};
use proptest::prelude::*;

use crate::english;

/// Texts of pieces that begin and end atoms, with odd characters between them.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "not",
        "n't",
        "must",
        "unless",
        "before",
        "all",
        "at least",
        "5",
        "-5",
        "°C",
        "kg",
        "5 mg",
        "£",
        "1/2",
        "½",
        "12 May",
        "8 a.m.",
        ":",
        ",",
        ". ",
        "—",
        "`",
        "'",
        "\u{2019}",
        "\u{ad}",
        "\u{a0}",
        "\n\n",
        "- ",
        "PX-204",
        "/etc",
        "http://a.b",
        "Ann",
        "İ",
        "ß",
        "日本",
        "\u{301}",
        "🙂",
        "twenty-",
        "hundred",
        "and",
        "a",
        "half",
        "of an hour",
        "to 10 kg",
        "1,000,000.5",
        "1e999",
        "00:60",
        "99/99/9999",
    ]);
    prop::collection::vec((pieces, prop::sample::select(vec!["", " "])), 0..30).prop_map(|parts| {
        let pieces = parts.into_iter().flat_map(|(piece, gap)| [piece, gap]);
        pieces.collect()
    })
}

proptest! {
    #[test]
    fn spans_are_in_order_and_a_text_keeps_itself(text in prop_oneof![texts(), any::<String>()]) {
        let atoms = english(&text);
        let mut last = 0;
        for atom in atoms.all() {
            prop_assert!(atom.span.start >= last && atom.span.start < atom.span.end);
            prop_assert!(!text[atom.span.clone()].is_empty());
            prop_assert!(text.get(atom.scope.clone()).is_some());
            last = atom.span.start;
        }
        let comparison = compare(&atoms, &atoms);
        prop_assert_eq!(comparison.findings(), &[]);
    }

    #[test]
    fn any_two_texts_are_compared(one in texts(), other in texts()) {
        let (original, decoded) = (english(&one), english(&other));
        let comparison = compare(&original, &decoded);
        if let Some(recall) = comparison.critical_recall() {
            prop_assert!((0.0..=1.0).contains(&recall));
        }
        prop_assert_eq!(&compare(&original, &decoded), &comparison);
    }

    #[test]
    fn facts_of_any_texts_have_their_place(
        parts in prop::collection::vec(prop_oneof![texts(), any::<String>()], 0..4),
        whole in prop_oneof![texts(), any::<String>()],
    ) {
        let known = |_: &str| true;
        let parts: Vec<_> = parts.iter().map(String::as_str).collect();
        let covered = cover(&parts, &whole, &known);
        let Coverage { kept, lost, .. } = &covered;
        for (part, fact) in kept.iter().chain(lost) {
            prop_assert!(parts[*part].get(fact.span.clone()).is_some_and(|text| !text.is_empty()));
        }
        let mut last = 0;
        for fact in &covered.added {
            prop_assert!(whole.get(fact.span.clone()).is_some() && fact.span.start >= last);
            last = fact.span.start;
        }
        // A text keeps itself, and adds nothing to what it was joined from.
        let own = cover(&[&whole], &whole, &known);
        prop_assert!(own.lost.is_empty() && own.added.is_empty(), "{:?}", own);
    }
}

/// A look at all that was read so far for each piece would take minutes.
#[test]
fn long_texts_without_white_space_are_read_once() {
    for piece in [
        ")", ".)", "XQ;", "May;", "Sun;", ";2024", "a.b/", "`x`", "5-", "not,",
    ] {
        let text = piece.repeat(50_000);
        let atoms = english(&text);
        compare(&atoms, &english("Open it."));
    }
    // One clause of 2,000 negations among 2,000 words.
    let clause = |start: usize| {
        (start..start + 2_000)
            .map(|word| format!("not w{word}a "))
            .collect::<Vec<_>>()
    };
    let comparison = compare(
        &english(&clause(0).concat()),
        &english(&clause(5_000).concat()),
    );
    assert!(comparison.is_truncated());
    // Sentences without an end, whose words would be compared each with each.
    let words = |stem: &str, link: &str| {
        let words = (0..21_000).map(|word| match word % 5 {
            0 => link.to_owned(),
            _ => format!(" {stem}{word}a"),
        });
        words.collect::<String>()
    };
    for (old, new) in [
        (
            format!("not open {}", words("w", " the")),
            format!("open {}", words("v", " the")),
        ),
        (
            format!("alpha {} beta", " and x".repeat(5_000)),
            format!("beta {} alpha", " and x".repeat(5_000)),
        ),
        (words("w", " 7"), words("v", " the")),
    ] {
        assert!(compare(&english(&old), &english(&new)).is_truncated());
    }
    let numbers = |start: u32| {
        (start..start + 4_000)
            .map(|number| format!("{number} mm. "))
            .collect::<Vec<_>>()
            .concat()
    };
    assert!(compare(&english(&numbers(1_000_000)), &english(&numbers(2_000_000))).is_truncated());
}

#[test]
fn long_parts_and_wholes_are_read_once() {
    let known = |_: &str| true;
    for piece in ["not ", "not w, ", "May;", "a.b/", "XQ;", "Ann "] {
        let text = piece.repeat(3_000);
        cover(&[&text], "Open it.", &known);
        cover(&["Open it."], &text, &known);
    }
    // Distinct facts, of which no part has one.
    let facts = |start: u32| -> String {
        let facts = (start..start + 1_000)
            .map(|number| format!("PX-{number}a costs {number} and is not w{number}a. "));
        facts.collect()
    };
    let covered = cover(&[&facts(100_000)], &facts(200_000), &known);
    assert!(
        covered.added.len() >= 2_000 && covered.lost.len() >= 2_000,
        "{}",
        covered.added.len()
    );
}
