//! Pieces of a text that a paraphrase must not change.

use std::collections::HashSet;

use crate::text::words::{is_apostrophe, words};

/// The share of `original`'s literals that `decoded` still has, 0 to 1; `None` if it has no literals.
///
/// Literals, each counted once and without regard to case, are numbers, words with a capital first letter that begin no
/// sentence, the words not, no, never, none and without (`n't` and `cannot` count as not), and spans between
/// back-ticks. One is kept if it occurs anywhere in `decoded` as a number, a word or such a span.
///
/// ```
/// use zer0gravity_engine::metrics::literal_recall;
/// assert_eq!(literal_recall("Give Ann 3 pears, not 4.", "Ann gets 3 pears."), Some(0.5));
/// assert_eq!(literal_recall("the lazy dog", "a lazy dog"), None);
/// ```
pub fn literal_recall(original: &str, decoded: &str) -> Option<f64> {
    let wanted = literals(original, false);
    if wanted.is_empty() {
        return None;
    }
    let present = literals(decoded, true);
    let kept = wanted.intersection(&present).count();
    Some(kept as f64 / wanted.len() as f64)
}

/// The literals of `text`; with `all_words` every word counts as one.
fn literals(text: &str, all_words: bool) -> HashSet<String> {
    let mut found = HashSet::new();
    for word in words(text, char::is_alphabetic) {
        let folded = folded(word.text);
        if is_negation(&folded) {
            found.insert("not".to_owned());
        }
        let name = word.text.starts_with(char::is_uppercase) && !word.starts_sentence;
        if all_words || name || matches!(&*folded, "not" | "no" | "never" | "none" | "without") {
            found.insert(folded);
        }
    }
    found.extend(numbers(text).map(str::to_owned));
    // In a span every odd piece; what no back-tick closes is none.
    let spans = text.split('`').collect::<Vec<_>>();
    let closed = spans.len().saturating_sub(1);
    found.extend(
        spans[..closed]
            .iter()
            .skip(1)
            .step_by(2)
            .map(|span| span.trim())
            .filter(|span| !span.is_empty())
            .map(folded),
    );
    found
}

fn folded(text: &str) -> String {
    text.chars()
        .map(|char| if is_apostrophe(char) { '\'' } else { char })
        .flat_map(char::to_lowercase)
        .collect()
}

fn is_negation(folded: &str) -> bool {
    folded.ends_with("n't") || folded == "cannot"
}

/// Runs of digits, with points and commas between digits.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !(char.is_numeric() || matches!(char, '.' | ',')))
        .map(|run| run.trim_matches(['.', ',']))
        .flat_map(|run| run.split("..").flat_map(|run| run.split(",,")))
        .map(|run| run.trim_matches(['.', ',']))
        .filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(text: &str) -> Vec<String> {
        let mut all: Vec<_> = literals(text, false).into_iter().collect();
        all.sort();
        all
    }

    #[test]
    fn numbers_names_negations_and_code_are_literals() {
        assert_eq!(
            sorted("Never ask Ann or ANN for `ls -L` 3 times. We don't pay 1,000.50, 7."),
            ["1,000.50", "3", "7", "ann", "l", "ls -l", "never", "not"]
        );
        assert_eq!(sorted("A=0, B=1"), ["0", "1", "b"]);
        assert_eq!(sorted("1...2 an open ` tick"), ["1", "2"]);
        assert!(sorted("The end. So what? 'Nothing' at all: quiet").is_empty());
    }

    #[test]
    fn a_kept_word_may_stand_elsewhere() {
        assert_eq!(literal_recall("I saw Ann", "Ann was seen"), Some(1.0));
        assert_eq!(literal_recall("do not go", "don\u{2019}t go"), Some(1.0));
        assert_eq!(literal_recall("do not go", "do go"), Some(0.0));
        assert_eq!(literal_recall("run `ls`", "run ls"), Some(1.0));
    }

    proptest::proptest! {
        #[test]
        fn a_text_keeps_its_own_literals(text in "\\PC*") {
            let recall = literal_recall(&text, &text);
            proptest::prop_assert!(recall.is_none_or(|recall| recall.to_bits() == 1_f64.to_bits()));
            proptest::prop_assert!(literal_recall(&text, "x").is_none_or(|recall| (0.0..=1.0).contains(&recall)));
        }
    }
}
