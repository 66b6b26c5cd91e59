//! The words a decoder may know.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::codec::words::is_apostrophe;
use crate::hash::sha256_hex;

static ENGLISH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::new(include_str!("../data/english_words.txt")));

/// Words in the order of their frequency, found by themselves or by what is left of them without vowels.
#[derive(Debug, Clone)]
pub struct Lexicon {
    words: HashMap<Box<str>, u32>,
    /// For each skeleton the words that have it, the most frequent first.
    skeletons: HashMap<Box<str>, Vec<Box<str>>>,
    sha256: String,
}

impl Lexicon {
    /// A lexicon of the words of `list`: lower case, one a line, the most frequent first. Blank lines and words that
    /// came before are passed over.
    ///
    /// ```
    /// use zer0gravity_engine::Lexicon;
    /// let lexicon = Lexicon::new("world\nwhirled\n");
    /// assert!(lexicon.contains("World") && !lexicon.contains("wrld"));
    /// ```
    pub fn new(list: &str) -> Self {
        let mut words = HashMap::new();
        let mut skeletons: HashMap<Box<str>, Vec<Box<str>>> = HashMap::new();
        for word in list.lines().map(str::trim).filter(|word| !word.is_empty()) {
            let rank = words.len() as u32;
            if words.insert(Box::from(word), rank).is_none() {
                skeletons
                    .entry(skeleton(word).into())
                    .or_default()
                    .push(word.into());
            }
        }
        Self {
            words,
            skeletons,
            sha256: sha256_hex(list.as_bytes()),
        }
    }

    /// The list that comes with this crate, some 35,000 words; read when it is first asked for, then kept.
    pub fn english() -> &'static Self {
        &ENGLISH
    }

    /// The SHA-256 of the list in hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// How many words it has.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether it has no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether it has `word`, or `word` is the possessive of a word that it has; case does not matter.
    pub fn contains(&self, word: &str) -> bool {
        let word = folded(word);
        let known = |word: &str| self.words.contains_key(word);
        known(&word) || word.strip_suffix("'s").is_some_and(known)
    }

    /// The most frequent word of more than `longer_than` letters that leaves `skeleton` without its vowels, in lower
    /// case; it may be a possessive.
    ///
    /// ```
    /// use zer0gravity_engine::Lexicon;
    /// assert_eq!(Lexicon::english().restored("wrld", 3).as_deref(), Some("world"));
    /// assert_eq!(Lexicon::english().restored("wrld's", 3).as_deref(), Some("world's"));
    /// assert_eq!(Lexicon::english().restored("xqz", 3), None);
    /// ```
    pub fn restored(&self, skeleton: &str, longer_than: usize) -> Option<String> {
        let skeleton = folded(skeleton);
        let find = |skeleton: &str, longer_than: usize| {
            let words = self.skeletons.get(skeleton)?;
            words.iter().find(|word| letters(word) > longer_than)
        };
        if let Some(word) = find(&skeleton, longer_than) {
            return Some(word.to_string());
        }
        let owner = find(skeleton.strip_suffix("'s")?, longer_than.saturating_sub(1))?;
        Some(format!("{owner}'s"))
    }

    /// How many words of more than `longer_than` letters leave the same without their vowels as another such word.
    ///
    /// ```
    /// let lexicon = zer0gravity_engine::Lexicon::new("hello\nhall\nworld\nof\nif");
    /// assert_eq!(lexicon.ambiguous_words(3), 2);
    /// ```
    pub fn ambiguous_words(&self, longer_than: usize) -> usize {
        let groups = self.skeletons.values();
        groups
            .map(|words| words.iter().filter(|word| letters(word) > longer_than))
            .map(Iterator::count)
            .filter(|&count| count > 1)
            .sum()
    }
}

/// `word` without a, e, i, o, u.
pub(crate) fn skeleton(word: &str) -> String {
    word.chars().filter(|&char| !is_vowel(char)).collect()
}

/// What "remove vowels" removes.
pub(crate) fn is_vowel(char: char) -> bool {
    matches!(char.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u')
}

/// The length of a word without its apostrophes.
pub(crate) fn letters(word: &str) -> usize {
    word.chars().filter(|&char| !is_apostrophe(char)).count()
}

/// Lower case with plain apostrophes.
pub(crate) fn folded(word: &str) -> String {
    word.chars()
        .map(|char| if is_apostrophe(char) { '\'' } else { char })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_what_its_makers_wrote() {
        let english = Lexicon::english();
        assert!(english.len() > 30_000 && !english.is_empty());
        assert_eq!(
            english.sha256(),
            "08c8a89667af60fc887cb386c32fe81893c8c476d67f30e06cb22af22292a167"
        );
        let text = include_str!("../data/english_words.txt");
        assert_eq!(text.lines().count(), english.len());
        assert!(text.starts_with("the\nof\n"));
        assert!(text.lines().all(|word| {
            word.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'\'')
                && word.contains(['a', 'e', 'i', 'o', 'u', 'y'])
        }));
    }

    #[test]
    fn a_frequent_word_wins() {
        let lexicon = Lexicon::new("over\never\nvery\ndog's\nedge\n\nover\n");
        assert_eq!(lexicon.len(), 5);
        assert_eq!(lexicon.restored("vr", 3).as_deref(), Some("over"));
        assert_eq!(lexicon.restored("vr", 4), None);
        assert_eq!(lexicon.restored("DG\u{2019}S", 3).as_deref(), Some("dog's"));
        assert!(lexicon.contains("Ever\u{2019}s"));
        assert_eq!(lexicon.ambiguous_words(3), 2);
    }
}
