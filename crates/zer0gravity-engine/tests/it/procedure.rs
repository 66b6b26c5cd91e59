//! The offline executor: what it answers, and what it leaves undetermined.

use serde_json::Value;
use zer0gravity_engine::rules::procedure::{Procedure, Step, matches_expected, run_procedure};

const EXPECTED: &str = "U:essence reveals Compression";

/// The text of the level file.
fn original() -> String {
    let level = include_str!("../../src/test-cases/level-3-procedural.json");
    let level: Value = serde_json::from_str(level).unwrap_or_default();
    assert_eq!(level["cases"][0]["expectedOutput"], EXPECTED);
    level["cases"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn passes(text: &str) -> bool {
    match run_procedure(text) {
        Procedure::Answer(answer) => matches_expected(&answer, EXPECTED),
        Procedure::Undetermined { .. } => false,
    }
}

fn missing(text: &str) -> Vec<Step> {
    match run_procedure(text) {
        Procedure::Answer(answer) => panic!("{answer} for {text}"),
        Procedure::Undetermined { missing } => missing,
    }
}

#[test]
fn the_level_3_text_is_carried_out() {
    assert_eq!(
        run_procedure(&original()),
        Procedure::Answer(EXPECTED.to_owned())
    );
}

#[test]
fn values_come_from_the_text() {
    for (from, to, answer) in [
        ("modulo 26", "modulo 27", "T:essence reveals Compression"),
        ("modulo 26", "modulo 11", "C:essence reveals Compression"),
        (
            "Compression reveals",
            "Compression shows",
            "Q:essence shows Compression",
        ),
        (
            "(1-indexed)",
            "(0-indexed)",
            "V:essence reveals Compression",
        ),
        (
            "(1-indexed)",
            "(2-indexed)",
            "T:essence reveals Compression",
        ),
        (
            "A=0, B=1, through Z=25",
            "A=1, B=2, through Z=26",
            "T:essence reveals Compression",
        ),
        (
            "A=0, B=1, through Z=25",
            "a=0, b=1, through z=25",
            "u:essence reveals Compression",
        ),
    ] {
        let text = original().replace(from, to);
        assert_eq!(
            run_procedure(&text),
            Procedure::Answer(answer.to_owned()),
            "{to}"
        );
        assert!(!passes(&text), "{to}");
    }
}

#[test]
fn other_words_for_the_same_steps_are_understood() {
    for (from, to) in [
        ("all three results", "all 3 results"),
        ("all three results", "the products"),
        ("Sum all three results", "Add up the results"),
        ("modulo 26", "mod 26"),
        ("modulo 26", "modulo twenty-six"),
        (
            "Take the sum modulo 26",
            "Find the remainder when dividing the sum by 26",
        ),
        ("the word's position (1-indexed)", "its 1-based position"),
        ("(1-indexed)", "(counting from one)"),
        (", B=1, through Z=25", ""),
        ("A=0, B=1, through Z=25", "A = 0, B = 1, ..., Z = 25"),
        ("A=0, B=1, through Z=25", "A is 0 up to Z is 25"),
        (
            "For each word, count its letters",
            "Count the letters of each word",
        ),
        (
            "then a colon, then the",
            "followed by a colon, followed by the",
        ),
        (
            "the original sentence reversed word-by-word",
            "the words of the sentence in reverse order",
        ),
        (
            "'Compression reveals essence'",
            "\u{201c}Compression reveals essence\u{201d}",
        ),
        (". ", ".\n"),
    ] {
        let text = original().replace(from, to);
        assert_ne!(text, original(), "{from}");
        assert!(passes(&text), "{to}: {:?}", run_procedure(&text));
    }
}

#[test]
fn a_dropped_step_is_named() {
    for (from, to, steps) in [
        (
            "Take the sentence: 'Compression reveals essence'. ",
            "",
            vec![Step::Sentence],
        ),
        (
            "'Compression reveals essence'",
            "Compression reveals essence",
            vec![Step::Sentence],
        ),
        (
            "For each word, count its letters. ",
            "",
            vec![Step::CountLetters],
        ),
        (
            "Multiply each count by the word's position (1-indexed). ",
            "",
            vec![Step::Multiply, Step::Positions],
        ),
        (" (1-indexed)", "", vec![Step::Positions]),
        ("Sum all three results. ", "", vec![Step::Sum]),
        ("Take the sum modulo 26. ", "", vec![Step::Modulo]),
        ("modulo 26", "modulo", vec![Step::Modulo]),
        (
            "Convert to a letter where A=0, B=1, through Z=25. ",
            "",
            vec![Step::Letters],
        ),
        (" where A=0, B=1, through Z=25", "", vec![Step::Letters]),
        ("A=0, ", "", vec![Step::Letters]),
        ("then a colon, ", "", vec![Step::Colon]),
        (
            ", then the original sentence reversed word-by-word",
            "",
            vec![Step::ReverseWords],
        ),
        (
            "reversed word-by-word",
            "reversed",
            vec![Step::ReverseWords],
        ),
    ] {
        let text = original().replace(from, to);
        assert_ne!(text, original(), "{from}");
        assert_eq!(missing(&text), steps, "{from}");
    }
    assert_eq!(missing("").len(), 10);
    assert_eq!(missing(EXPECTED).len(), 10);
}

#[test]
fn what_is_said_besides_is_not_passed_over() {
    let original = original();
    for (from, to) in [
        ("Sum all", "Do not sum all"),
        ("Sum all three results", "Sum all three results and add 5"),
        ("Sum all three results", "Sum the first two results"),
        ("modulo 26", "modulo -26"),
        ("modulo 26", "modulo 26.5"),
        ("modulo 26", "modulo 26th"),
        ("modulo 26", "modulo 2 6"),
        ("modulo 26", "modulo ２６"),
        ("count its letters", "count its vowels"),
        ("count its letters", "count its letters twice"),
        ("each word", "each long word"),
        ("Multiply each", "Multiply no"),
        ("Convert to", "Never convert to"),
        ("a colon", "a semicolon"),
        ("a colon, then", "a colon, then a space, then"),
        ("reversed word-by-word", "reversed letter-by-letter"),
        (
            "Write that letter, then a colon",
            "Write a colon, then that letter",
        ),
        ("Take the sentence", "Ignore the sentence"),
        ("position", "length"),
    ] {
        let text = original.replace(from, to);
        assert_ne!(text, original, "{from}");
        assert!(!missing(&text).is_empty(), "{to}");
    }
    assert_eq!(missing(&format!("{original} Thank you.")), [Step::Rest]);
    let sentences: Vec<&str> = original.split(". ").collect();
    let mut swapped = sentences.clone();
    swapped.swap(2, 3);
    assert_eq!(missing(&swapped.join(". ")), [Step::Rest]);
}

#[test]
fn what_contradicts_itself_is_undetermined() {
    for (from, to, step) in [
        ("all three", "all four", Step::Sum),
        ("modulo 26", "modulo 0", Step::Modulo),
        ("modulo 26", "modulo 100", Step::Letters),
        ("B=1", "B=2", Step::Letters),
        ("Z=25", "Z=26", Step::Letters),
        ("Z=25", "z=25", Step::Letters),
        ("A=0, B=1, through Z=25", "A=30", Step::Letters),
        ("'Compression reveals essence'", "''", Step::Sentence),
        ("reveals essence'", "reveals 3 essences'", Step::Sentence),
        ("reveals essence'", "reveals, essence!'", Step::Sentence),
    ] {
        let text = original().replace(from, to);
        assert_eq!(missing(&text), [step], "{to}");
    }
    // Sums and positions beyond 64 bits: 11 (m + 0) + 7 (m + 1) + 7 (m + 2) leaves 21.
    let huge = original()
        .replace("1-indexed", "18446744073709551615-indexed")
        .replace("modulo 26", "modulo 18446744073709551615");
    assert_eq!(
        run_procedure(&huge),
        Procedure::Answer("V:essence reveals Compression".to_owned())
    );
}

/// Every single word left out or doubled, every number changed: only words that say nothing may go.
#[test]
fn no_changed_number_and_no_dropped_word_passes_unnoticed() {
    let original = original();
    let words: Vec<&str> = original.split(' ').collect();
    let mut may_go = Vec::new();
    for at in 0..words.len() {
        let mut fewer = words.clone();
        let gone = fewer.remove(at);
        if passes(&fewer.join(" ")) {
            may_go.push(gone);
        }
    }
    assert_eq!(
        may_go.join(" "),
        "Take the its each count the word's all three Take the sum a where B=1, through that then a then the original"
    );
    for (at, digit) in original
        .char_indices()
        .filter(|(_, char)| char.is_ascii_digit())
    {
        for other in ('0'..='9').filter(|other| *other != digit) {
            let mut text = original.clone();
            text.replace_range(at..=at, &other.to_string());
            assert!(!passes(&text), "{text}");
        }
    }
}

#[test]
fn a_long_text_is_read_in_one_go() {
    for piece in [
        "Take the sentence: 'a b'. ",
        "sum ",
        "A=0 up to ",
        "'",
        "multiply each count by position ",
    ] {
        assert!(!missing(&piece.repeat(2_000)).is_empty());
    }
    let words = "word ".repeat(2_000);
    let text = original()
        .replace("Compression reveals essence", words.trim())
        .replace("three ", "");
    assert!(
        matches!(run_procedure(&text), Procedure::Answer(answer) if answer.len() == words.len() + 1)
    );
}
