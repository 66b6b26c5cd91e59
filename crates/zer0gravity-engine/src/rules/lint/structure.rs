//! Rules that repeat others, are ambiguous or lose text: `ZG001`, `ZG002`, `ZG007` and `ZG009`.

use std::collections::{BTreeSet, HashMap, hash_map::Entry};

use super::finding::{LintFinding, finding};
use super::wording;
use crate::rules::codec::clipped;
use crate::rules::codec::syntax::{Clause, Mapping, Rule};
use crate::text::Lexicon;

pub(super) fn findings(rules: &[Rule<'_>], lexicon: &Lexicon) -> Vec<LintFinding> {
    let mut all = repeated(rules);
    all.extend(mappings(rules, lexicon));
    // Counted once for each limit: a long text may drop vowels in every line.
    let mut ambiguous = HashMap::new();
    for rule in rules {
        all.extend(
            rule.clauses
                .iter()
                .filter_map(|clause| lost(rule.line, clause, lexicon, &mut ambiguous)),
        );
    }
    all
}

/// The lines that can be decoded or understood in more than one way.
pub(crate) fn ambiguous_lines(rules: &[Rule<'_>]) -> BTreeSet<usize> {
    let mappings = mappings(rules, Lexicon::english());
    let ambiguous = mappings
        .iter()
        .filter(|finding| matches!(&*finding.code, "ZG001" | "ZG002"))
        .map(|finding| finding.line);
    let vague = rules
        .iter()
        .filter(|rule| !wording::vague_phrases(rule.body).is_empty())
        .map(|rule| rule.line);
    ambiguous.chain(vague).collect()
}

/// Empty rules, and rules that repeat an earlier one.
fn repeated(rules: &[Rule<'_>]) -> Vec<LintFinding> {
    let mut first = HashMap::new();
    let mut all = Vec::new();
    for rule in rules {
        if rule.body.is_empty() {
            all.push(finding("ZG009", rule.line, "the rule is empty", ""));
            continue;
        }
        let words: Vec<&str> = rule.body.split_whitespace().collect();
        match first.entry(words.join(" ").to_lowercase()) {
            Entry::Vacant(entry) => {
                entry.insert(rule.line);
            }
            Entry::Occupied(entry) => {
                let message = format!("the rule repeats line {}", entry.get());
                all.push(finding("ZG009", rule.line, message, clipped(rule.body)));
            }
        }
    }
    all
}

fn mappings(rules: &[Rule<'_>], lexicon: &Lexicon) -> Vec<LintFinding> {
    let mut by_target: HashMap<String, &Mapping> = HashMap::new();
    let mut by_source: HashMap<String, &Mapping> = HashMap::new();
    let mut all = Vec::new();
    for (line, mapping) in rules
        .iter()
        .flat_map(|rule| rule.mappings().map(|mapping| (rule.line, mapping)))
    {
        let shown = shown(mapping);
        let source = mapping.source.to_lowercase();
        match by_source.entry(source.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(mapping);
            }
            Entry::Occupied(_) => {
                let message = "the source already has a target";
                all.push(finding("ZG009", line, message, &*shown));
            }
        }
        if mapping.target.is_empty() {
            continue;
        }
        match by_target.entry(mapping.target.to_lowercase()) {
            Entry::Vacant(entry) => {
                entry.insert(mapping);
            }
            Entry::Occupied(entry) if entry.get().source.to_lowercase() == source => {}
            Entry::Occupied(entry) => {
                let evidence = format!("{}, {shown}", self::shown(entry.get()));
                all.push(finding(
                    "ZG001",
                    line,
                    "two sources have one target",
                    evidence,
                ));
            }
        }
        if is_natural(&mapping.target, lexicon) {
            let message = "the target is also normal text, so decoding is ambiguous";
            all.push(finding("ZG002", line, message, shown));
        }
    }
    all
}

fn shown(mapping: &Mapping) -> String {
    format!("'{}'→'{}'", mapping.source, mapping.target)
}

/// Whether texts hold `target` anyway: a character of the keyboard, a run of them without letters, a word.
fn is_natural(target: &str, lexicon: &Lexicon) -> bool {
    let keyboard = target.is_ascii();
    let single = target.chars().nth(1).is_none();
    let letters = target.chars().any(char::is_alphabetic);
    keyboard && (single || !letters || lexicon.contains(target))
}

/// The rules after which a decoder has to guess.
fn lost(
    line: usize,
    clause: &Clause,
    lexicon: &Lexicon,
    ambiguous: &mut HashMap<usize, usize>,
) -> Option<LintFinding> {
    const LONGEST_WORD: usize = 64;
    match clause {
        Clause::DropVowels { longer_than } => {
            let longer_than = (*longer_than).min(LONGEST_WORD);
            let count = ambiguous
                .entry(longer_than)
                .or_insert_with(|| lexicon.ambiguous_words(longer_than));
            let evidence = format!(
                "{count} of {} words of the lexicon equal another one without vowels",
                lexicon.len()
            );
            Some(finding(
                "ZG007",
                line,
                "words become equal without their vowels",
                evidence,
            ))
        }
        Clause::DropWords(words) => Some(finding(
            "ZG007",
            line,
            "words are dropped without a replacement",
            clipped(&words.join(", ")),
        )),
        Clause::Map(mapping) if mapping.target.is_empty() => Some(finding(
            "ZG007",
            line,
            "a piece is dropped without a replacement",
            shown(mapping),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::codec::syntax::rules;

    fn codes(text: &str) -> Vec<(usize, String)> {
        findings(&rules(text), Lexicon::english())
            .into_iter()
            .map(|finding| (finding.line, finding.code))
            .collect()
    }

    #[test]
    fn each_code_has_its_cause() {
        for (text, expected) in [
            ("'you'→'ü'\n'your'→'Ü'", vec![(2, "ZG001")]),
            ("'you'→'ü'\nA: 'YOU'→'ü', 'we'→'ẅ'", vec![(2, "ZG009")]),
            ("'you'→'ü'\n'you'→'ÿ'", vec![(2, "ZG009")]),
            ("'and'→'&'", vec![(1, "ZG002")]),
            ("'example'→'eg'", vec![(1, "ZG002")]),
            ("'soon'→'xqz', 'with'→'w/'", vec![]),
            ("'so'→'->', 'four'→'4'", vec![(1, "ZG002"), (1, "ZG002")]),
            ("Drop vowels", vec![(1, "ZG007")]),
            ("Drop words the, a", vec![(1, "ZG007")]),
            ("'!'→''", vec![(1, "ZG007")]),
            (
                "A:\nB_C:\nKeep numbers\nN: keep  Numbers",
                vec![(1, "ZG009"), (2, "ZG009"), (4, "ZG009")],
            ),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(line, code)| (line, code.to_owned()))
                .collect();
            assert_eq!(codes(text), expected, "{text}");
        }
    }
}
