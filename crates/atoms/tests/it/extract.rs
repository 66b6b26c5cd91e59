//! Tests of the atoms of a text.

use atoms::Kind;

use crate::english;

/// Two lines a case: a text, and its atoms with their canonical forms.
const CASES: &str = include_str!("cases.txt");

#[test]
fn each_spelling_is_found() {
    let lines: Vec<_> = CASES.lines().collect();
    assert!(lines.len() >= 400, "{}", lines.len());
    for case in lines.chunks(2) {
        let [text, expected] = case else {
            panic!("{case:?}")
        };
        let atoms = english(text);
        let found = atoms
            .all()
            .iter()
            .map(|atom| format!("{} {}", atom.kind.name(), atom.canonical));
        let found = found.collect::<Vec<_>>().join(" | ");
        assert_eq!(found, expected.trim(), "{text}");
    }
}

#[test]
fn spans_are_those_of_the_text_as_given() {
    let text = "Don\u{2019}t heat\u{ad} it above 40\u{a0}\u{b0}C, \u{201c}Valve V\u{2011}12\u{201d} stays at \u{2212}5 \u{b0}C.";
    let atoms = english(text);
    let found: Vec<_> = atoms
        .all()
        .iter()
        .map(|atom| (atom.kind, &text[atom.span.clone()]))
        .collect();
    let expected = [
        (Kind::Negation, "n\u{2019}t"),
        (Kind::Comparison, "above"),
        (Kind::Number, "40\u{a0}\u{b0}C"),
        (Kind::Identifier, "V\u{2011}12"),
        (Kind::Number, "\u{2212}5 \u{b0}C"),
    ];
    // `Don't heat above 40` bounds the heat: the negation belongs to the comparison.
    assert_eq!(found, expected[1..].to_vec());
    assert_eq!(
        &text[atoms.all()[0].scope.clone()],
        "Don\u{2019}t heat\u{ad} it above 40\u{a0}\u{b0}C,"
    );
}

#[test]
fn a_sentence_ends_after_a_time_a_path_and_a_month() {
    for text in [
        "It opens at 8 a.m. Water and a cat stay.",
        "It is in /etc/hosts. Water and a cat stay.",
        "It opens in May. Water and a cat stay.",
    ] {
        let atoms = english(text);
        assert!(
            atoms.all().iter().all(|atom| atom.kind != Kind::Name),
            "{text}"
        );
        let scope = &text[atoms.all()[0].scope.clone()];
        assert!(!scope.contains("cat"), "{scope}");
    }
}
