//! Lists of phrases, as files that people can read.

use std::collections::HashMap;

use super::words::folded_words;

/// Phrases as a tree of words: to find one takes no longer than it is.
///
/// A file has a pattern a line. Words are divided by spaces and lower case; `a|b` is either word, and a `?` after a word
/// says that it may be missing. A colon at the end of the line makes the phrase a label: it must be alone before a colon.
/// Lines with `#` are for readers.
#[derive(Default)]
pub(crate) struct Phrases {
    next: HashMap<&'static str, Phrases>,
    is_phrase: bool,
    is_label: bool,
}

impl Phrases {
    pub(crate) fn read(file: &'static str) -> Self {
        let mut phrases = Self::default();
        for line in file.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (pattern, is_label) = match line.strip_suffix(':') {
                Some(pattern) => (pattern, true),
                None => (line, false),
            };
            for words in expanded(pattern) {
                let end = words.into_iter().fold(&mut phrases, |node, word| {
                    node.next.entry(word).or_default()
                });
                end.is_label |= is_label;
                end.is_phrase |= !is_label;
            }
        }
        phrases
    }

    /// The words of the longest phrase that these words begin with. A label has as many as there are before the colon.
    fn begins(&self, words: &[String], label: Option<usize>) -> Option<usize> {
        let (mut node, mut longest) = (self, None);
        for (index, word) in words.iter().enumerate() {
            let Some(next) = node.next.get(word.as_str()) else {
                break;
            };
            node = next;
            if node.is_phrase || node.is_label && label == Some(index + 1) {
                longest = Some(index + 1);
            }
        }
        longest
    }

    /// The phrase that a line begins with.
    pub(super) fn at_start(&self, line: &str) -> Option<String> {
        // More than the longest phrase needs; the rest of a long line does not matter.
        const ENOUGH: usize = 200;
        let start = match line.char_indices().nth(ENOUGH) {
            Some((end, _)) => &line[..end],
            None => line,
        };
        let label = start.split_once([':', '：']);
        let label = label.map(|(label, _)| folded_words(label).len());
        let words = folded_words(start);
        let length = self.begins(&words, label)?;
        Some(words[..length].join(" "))
    }

    /// Every phrase among these words with its place, without labels.
    pub(crate) fn within<'a>(
        &self,
        words: &'a [String],
    ) -> impl Iterator<Item = (usize, &'a [String])> {
        (0..words.len()).filter_map(|at| {
            let length = self.begins(&words[at..], None)?;
            Some((at, &words[at..at + length]))
        })
    }
}

/// Every sequence of words that a pattern means.
fn expanded(pattern: &'static str) -> Vec<Vec<&'static str>> {
    pattern
        .split_whitespace()
        .fold(vec![Vec::new()], |phrases, word| {
            let (words, is_optional) = match word.strip_suffix('?') {
                Some(words) => (words, true),
                None => (word, false),
            };
            let mut longer = if is_optional {
                phrases.clone()
            } else {
                Vec::new()
            };
            for phrase in phrases {
                longer.extend(words.split('|').map(|word| {
                    let mut phrase = phrase.clone();
                    phrase.push(word);
                    phrase
                }));
            }
            longer
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_phrases() {
        let phrases = Phrases::read("# comment\n\nhere is|s the? text\nencoded text?:\n");
        for (line, found) in [
            ("Here's the TEXT: x", Some("here s the text")),
            ("**Here is text**", Some("here is text")),
            ("Here is my text", None),
            ("and here is the text", None),
            ("Encoded: x", Some("encoded")),
            ("*Encoded text*: x", Some("encoded text")),
            ("Encoded text follows: x", None),
            ("Encoded text", None),
        ] {
            assert_eq!(phrases.at_start(line).as_deref(), found, "{line}");
        }
        let words = folded_words("and here is the text, here's text");
        let found: Vec<_> = phrases
            .within(&words)
            .map(|(at, phrase)| (at, phrase.len()))
            .collect();
        assert_eq!(found, [(1, 4), (5, 3)]);
        assert_eq!(phrases.within(&folded_words("encoded: x")).count(), 0);
    }
}
