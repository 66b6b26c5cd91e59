//! The lists of words and phrases, parsed once.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::atom::Kind;

const OPERATORS: &str = include_str!("data/operators.txt");
const UNITS: &str = include_str!("data/units.txt");
const OPPOSITES: &str = include_str!("data/opposites.txt");
const FUNCTION_WORDS: &str = include_str!("data/function_words.txt");
const IMPLIED_NEGATIONS: &str = include_str!("data/implied_negations.txt");

/// The lists with their names, for results that say with which lists they were made.
pub const LISTS: [(&str, &str); 5] = [
    ("operators", OPERATORS),
    ("units", UNITS),
    ("opposites", OPPOSITES),
    ("function_words", FUNCTION_WORDS),
    ("implied_negations", IMPLIED_NEGATIONS),
];

/// Phrases by their first word, each as its words and its value.
pub(crate) type Phrases<T> = HashMap<&'static str, Vec<(Vec<&'static str>, T)>>;

/// The atoms of a phrase: none, one or two.
pub(crate) type Operator = &'static [(Kind, &'static str)];

/// A unit: its dimension, and its size in the base of the dimension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) dimension: &'static str,
    pub(crate) factor: f64,
}

pub(crate) static PHRASES: LazyLock<Phrases<Operator>> = LazyLock::new(|| {
    let mut phrases: Phrases<Operator> = HashMap::new();
    for (head, phrase) in entries(OPERATORS) {
        add(&mut phrases, phrase, operator(head));
    }
    phrases
});

/// Units by their first word in lower case, and symbols whose case counts by themselves.
pub(crate) static SPELLINGS: LazyLock<Phrases<Unit>> = LazyLock::new(|| {
    let mut spellings: Phrases<Unit> = HashMap::new();
    for (head, spelling) in entries(UNITS) {
        let (dimension, factor) = pair(head);
        let unit = Unit {
            dimension,
            factor: factor.parse().unwrap_or(1.0),
        };
        add(&mut spellings, spelling, unit);
    }
    spellings
});

/// The opposites of a word.
pub(crate) static OPPOSITE: LazyLock<HashMap<&'static str, Vec<&'static str>>> =
    LazyLock::new(|| {
        let mut opposites = HashMap::<_, Vec<_>>::new();
        for (one, other) in lines(OPPOSITES).map(pair) {
            opposites.entry(one).or_default().push(other);
            opposites.entry(other).or_default().push(one);
        }
        opposites
    });

pub(crate) static FUNCTION: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    lines(FUNCTION_WORDS)
        .flat_map(str::split_whitespace)
        .collect()
});

pub(crate) static IMPLIED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    lines(IMPLIED_NEGATIONS)
        .flat_map(str::split_whitespace)
        .collect()
});

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.starts_with('#'))
}

/// The phrases of a list, each with the head of its line.
fn entries(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    lines(list).flat_map(|line| {
        let (head, phrases) = line.split_once(": ").unwrap_or((line, ""));
        phrases.split(" | ").map(move |phrase| (head, phrase))
    })
}

fn pair(text: &'static str) -> (&'static str, &'static str) {
    text.split_once(' ').unwrap_or((text, ""))
}

fn add<T>(phrases: &mut Phrases<T>, phrase: &'static str, value: T) {
    let words: Vec<_> = phrase.split(' ').collect();
    phrases.entry(words[0]).or_default().push((words, value));
}

fn operator(head: &'static str) -> Operator {
    macro_rules! one {
        ($kind:ident, $class:literal) => {
            &[(Kind::$kind, $class)]
        };
    }
    match head {
        "negation not" => one!(Negation, "not"),
        "prohibition -" => &[(Kind::Negation, "not"), (Kind::Modality, "must")],
        "modality must" => one!(Modality, "must"),
        "modality should" => one!(Modality, "should"),
        "modality will" => one!(Modality, "will"),
        "modality may" => one!(Modality, "may"),
        "condition only_if" => one!(Condition, "only_if"),
        "condition provided" => one!(Condition, "provided"),
        "condition unless" => one!(Condition, "unless"),
        "condition even_if" => one!(Condition, "even_if"),
        "condition if" => one!(Condition, "if"),
        "order before" => one!(Order, "before"),
        "order after" => one!(Order, "after"),
        "order first" => one!(Order, "first"),
        "order last" => one!(Order, "last"),
        "order then" => one!(Order, "then"),
        "quantifier all" => one!(Quantifier, "all"),
        "quantifier most" => one!(Quantifier, "most"),
        "quantifier few" => one!(Quantifier, "few"),
        "quantifier some" => one!(Quantifier, "some"),
        "comparison >=" => one!(Comparison, ">="),
        "comparison <=" => one!(Comparison, "<="),
        "comparison >" => one!(Comparison, ">"),
        "comparison <" => one!(Comparison, "<"),
        _ => &[],
    }
}

/// The stem by which words of scopes are compared; `None` for a word without content.
pub(crate) fn stem(word: &str) -> Option<String> {
    let is_content = word.chars().count() > 2 && !FUNCTION.contains(word);
    is_content.then(|| base(word).chars().take(6).collect())
}

/// A word without its ending.
pub(crate) fn base(word: &str) -> &str {
    let mut base = word;
    for ending in ["ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s"] {
        if let Some(short) = word.strip_suffix(ending)
            && short.chars().count() >= 3
        {
            base = short;
            break;
        }
    }
    base.strip_suffix(['e', 'y', 'i']).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lists_is_understood() {
        for (head, phrase) in entries(OPERATORS) {
            assert!(!phrase.is_empty(), "{head}");
            assert!(
                head == "- -" || !operator(head).is_empty(),
                "{head}: {phrase}"
            );
        }
        for (head, spelling) in entries(UNITS) {
            let (_, factor) = pair(head);
            assert!(
                factor.parse::<f64>().is_ok_and(|factor| factor > 0.0),
                "{head}"
            );
            assert!(!spelling.is_empty(), "{head}");
        }
        for line in lines(OPPOSITES) {
            assert_eq!(line.split(' ').count(), 2, "{line}");
        }
    }

    #[test]
    fn no_phrase_is_there_twice() {
        for phrases in PHRASES.values() {
            for (index, (phrase, _)) in phrases.iter().enumerate() {
                assert!(
                    phrases[..index].iter().all(|(other, _)| other != phrase),
                    "{phrase:?}"
                );
            }
        }
        for spellings in SPELLINGS.values() {
            for (index, (spelling, _)) in spellings.iter().enumerate() {
                assert!(
                    spellings[..index]
                        .iter()
                        .all(|(other, _)| other != spelling),
                    "{spelling:?}"
                );
            }
        }
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (one, other) in [
            ("open", "opened"),
            ("valves", "valve"),
            ("carry", "carried"),
            ("storing", "stored"),
        ] {
            assert_eq!(stem(one), stem(other));
        }
        assert_eq!(stem("the"), None);
    }
}
