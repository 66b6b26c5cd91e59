//! The words a decoder may know.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::text::hash::sha256_hex;
use crate::text::words::is_apostrophe;

static ENGLISH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::new(include_str!("../data/english_words.txt")));

/// Words in the order of their frequency, found by themselves or by what is left of them without vowels.
#[derive(Debug, Clone)]
pub struct Lexicon {
    list: Box<str>,
    /// The place of each word in `list`, by rank.
    words: Vec<Range<usize>>,
    by_text: Index,
    by_skeleton: Index,
    sha256: String,
}

impl Lexicon {
    /// A lexicon of the words of `list`: lower case, one a line, the most frequent first. Blank lines and words that
    /// came before are passed over.
    ///
    /// ```
    /// use zer0gravity_engine::text::Lexicon;
    /// let lexicon = Lexicon::new("world\nwhirled\n");
    /// assert!(lexicon.contains("World") && !lexicon.contains("wrld"));
    /// ```
    pub fn new(list: &str) -> Self {
        let mut lexicon = Self {
            list: list.into(),
            words: Vec::new(),
            by_text: Index::default(),
            by_skeleton: Index::default(),
            sha256: sha256_hex(list.as_bytes()),
        };
        let mut at = 0;
        for line in list.split_inclusive('\n') {
            let word = line.trim();
            let start = at + (line.len() - line.trim_start().len());
            at += line.len();
            if !word.is_empty() && !lexicon.knows(word) {
                lexicon.words.push(start..start + word.len());
                lexicon.by_text.push(hash(word.chars()));
                lexicon.by_skeleton.push(hash(consonants(word)));
            }
        }
        lexicon
    }

    /// The list that comes with this crate, some 35,000 words; read when it is first asked for, then kept.
    pub fn english() -> &'static Self {
        &ENGLISH
    }

    /// The SHA-256 of the list in hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The number of words.
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
        self.knows(&word) || word.strip_suffix("'s").is_some_and(|word| self.knows(word))
    }

    /// Whether `word`, in lower case, is one of the `most` most frequent words.
    ///
    /// ```
    /// use zer0gravity_engine::text::Lexicon;
    /// let lexicon = Lexicon::new("the\nof\nvalve\n");
    /// assert!(lexicon.is_frequent("of", 2) && !lexicon.is_frequent("valve", 2));
    /// ```
    pub fn is_frequent(&self, word: &str, most: usize) -> bool {
        self.rank(word).is_some_and(|rank| rank < most)
    }

    /// The most frequent word of more than `longer_than` letters that leaves `skeleton` without its vowels, in lower
    /// case; it may be a possessive.
    ///
    /// ```
    /// use zer0gravity_engine::text::Lexicon;
    /// assert_eq!(Lexicon::english().restored("wrld", 3).as_deref(), Some("world"));
    /// assert_eq!(Lexicon::english().restored("wrld's", 3).as_deref(), Some("world's"));
    /// assert_eq!(Lexicon::english().restored("xqz", 3), None);
    /// ```
    pub fn restored(&self, skeleton: &str, longer_than: usize) -> Option<String> {
        let skeleton = folded(skeleton);
        if let Some(word) = self.of_skeleton(&skeleton, longer_than) {
            return Some(word.to_owned());
        }
        let owner =
            self.of_skeleton(skeleton.strip_suffix("'s")?, longer_than.saturating_sub(1))?;
        Some(format!("{owner}'s"))
    }

    /// The number of words of more than `longer_than` letters that are equal to another such word without their vowels.
    ///
    /// ```
    /// let lexicon = zer0gravity_engine::text::Lexicon::new("hello\nhall\nworld\nof\nif");
    /// assert_eq!(lexicon.ambiguous_words(3), 2);
    /// ```
    pub fn ambiguous_words(&self, longer_than: usize) -> usize {
        let mut groups: HashMap<String, usize> = HashMap::new();
        for word in self
            .words
            .iter()
            .filter_map(|place| self.list.get(place.clone()))
        {
            if letters(word) > longer_than {
                *groups.entry(consonants(word).collect()).or_default() += 1;
            }
        }
        groups.into_values().filter(|&count| count > 1).sum()
    }

    fn knows(&self, word: &str) -> bool {
        self.rank(word).is_some()
    }

    fn rank(&self, word: &str) -> Option<usize> {
        let mut same_hash = self.by_text.words(hash(word.chars()));
        same_hash.find(|rank| self.word(*rank) == word)
    }

    fn of_skeleton(&self, skeleton: &str, longer_than: usize) -> Option<&str> {
        self.by_skeleton
            .words(hash(skeleton.chars()))
            .map(|rank| self.word(rank))
            .find(|word| consonants(word).eq(skeleton.chars()) && letters(word) > longer_than)
    }

    fn word(&self, rank: usize) -> &str {
        &self.list[self.words[rank].clone()]
    }
}

/// Ranks by a hash of something of the word, the lower rank first. It holds no strings: the list is read at every
/// program's start, and 35,000 small allocations are most of the time that would take.
#[derive(Debug, Clone, Default)]
struct Index {
    /// The first and the last rank of each hash.
    ends: HashMap<u64, (usize, usize)>,
    /// The next word of the same hash, by rank; the word itself for the last.
    next: Vec<usize>,
}

impl Index {
    /// Adds the next rank.
    fn push(&mut self, hash: u64) {
        let rank = self.next.len();
        self.next.push(rank);
        let (_, last) = self.ends.entry(hash).or_insert((rank, rank));
        self.next[*last] = rank;
        *last = rank;
    }

    fn words(&self, hash: u64) -> impl Iterator<Item = usize> {
        let first = self.ends.get(&hash).map(|(first, _)| *first);
        std::iter::successors(first, |&rank| {
            Some(self.next[rank]).filter(|&next| next != rank)
        })
    }
}

/// FNV-1a over characters: what has the same hash is compared, so it need not be hard to meet.
fn hash(chars: impl Iterator<Item = char>) -> u64 {
    chars.fold(0xcbf2_9ce4_8422_2325, |hash, char| {
        (hash ^ u64::from(char)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn consonants(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|&char| !is_vowel(char))
}

/// Whether "remove vowels" removes this letter.
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
            "ecddc4efc01090d618bfa3f4646f1d0f3892599723869b26f8f659e38710a33c"
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
