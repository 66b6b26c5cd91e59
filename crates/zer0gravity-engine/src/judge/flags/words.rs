//! Texts as sequences of case-folded words, and the runs that two of them share.

use std::collections::{HashMap, HashSet};

/// The words of a run that are quoted, so that a repetition of a megabyte is not quoted in full.
const SHOWN: usize = 12;

/// The words of a text as they stand: maximal runs of letters and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// A word without regard to case.
pub(super) fn folded(word: &str) -> String {
    word.to_lowercase()
}

/// The case-folded words of a text.
pub(crate) fn folded_words(text: &str) -> Vec<String> {
    words(text).map(folded).collect()
}

/// The letters of a folded word without its vowels.
pub(super) fn skeleton(word: &str) -> String {
    word.replace(['a', 'e', 'i', 'o', 'u'], "")
}

/// Words as numbers, the same for the same word in every text that was read with it.
#[derive(Default)]
pub(super) struct Vocabulary {
    numbers: HashMap<String, u32>,
}

impl Vocabulary {
    fn number(&mut self, word: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(word).or_insert(next)
    }

    /// The words of a text.
    pub(super) fn read(&mut self, text: &str) -> Vec<u32> {
        words(text).map(|word| self.number(folded(word))).collect()
    }

    /// The words of a text without their vowels, those that are nothing else left out.
    pub(super) fn read_skeletons(&mut self, text: &str) -> Vec<u32> {
        words(text)
            .map(|word| skeleton(&folded(word)))
            .filter(|word| !word.is_empty())
            .map(|word| self.number(word))
            .collect()
    }

    /// A run as text.
    pub(super) fn spell(&self, run: &[u32]) -> String {
        let names: HashMap<u32, &str> = self
            .numbers
            .iter()
            .filter(|(_, number)| run.contains(number))
            .map(|(word, number)| (*number, word.as_str()))
            .collect();
        let words: Vec<&str> = run
            .iter()
            .filter_map(|number| names.get(number).copied())
            .collect();
        words.join(" ")
    }
}

/// A run of at least `least` words that occurs in `a` and in `b`, and not in `except`; a long one is cut.
///
/// Only runs of `least` words are looked up, which is all that a threshold needs: the longest run of two long texts that repeat
/// themselves is dear.
pub(super) fn common_run<'a>(
    a: &'a [u32],
    b: &[u32],
    least: usize,
    except: &[u32],
) -> Option<&'a [u32]> {
    // `windows` of nothing is an error, and no run at all is no find.
    if least == 0 || a.len() < least || b.len() < least {
        return None;
    }
    let in_a: HashSet<&[u32]> = a.windows(least).collect();
    let excepted: HashSet<&[u32]> = except
        .windows(least)
        .filter(|run| in_a.contains(run))
        .collect();
    let mut places: HashMap<&[u32], usize> = HashMap::new();
    for (place, run) in b.windows(least).enumerate() {
        if in_a.contains(run) && !excepted.contains(run) {
            places.entry(run).or_insert(place);
        }
    }
    let (start, place) = a
        .windows(least)
        .enumerate()
        .find_map(|(start, run)| Some((start, *places.get(run)?)))?;
    let length = a[start..]
        .iter()
        .zip(&b[place..])
        .take(SHOWN)
        .take_while(|(a, b)| a == b)
        .count();
    Some(&a[start..start + length.max(least)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_two_texts_share() {
        let mut words = Vocabulary::default();
        let a = words.read("One, two THREE four-five");
        let b = words.read("zero one two three fower four five");
        assert_eq!(
            common_run(&a, &b, 3, &[]).map(|run| words.spell(run)),
            Some("one two three".to_owned())
        );
        assert_eq!(common_run(&a, &b, 4, &[]), None);
        assert_eq!(common_run(&a, &b, 0, &[]), None);
        let known = words.read("one two three");
        assert_eq!(common_run(&a, &b, 3, &known), None);
        assert_eq!(
            common_run(&a, &b, 2, &known).map(|run| words.spell(run)),
            Some("four five".to_owned())
        );
    }

    #[test]
    fn skeletons_have_no_vowels() {
        let mut words = Vocabulary::default();
        let plain = words.read_skeletons("You are an ENCODING agent: a I");
        let dropped = words.read_skeletons("y r n ncdng gnt");
        assert_eq!(plain, dropped);
    }
}
