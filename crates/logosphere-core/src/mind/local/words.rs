//! Texts as words, for the mutator and the Markov chain.

use crate::format::{ParseMode, holds_delimiter, is_blank};
use crate::pool::SampleRng;

/// A piece of a text: a word, or the text between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece<'a> {
    text: &'a str,
    word: bool,
}

/// Splits a text into words and the pieces between them.
///
/// An apostrophe or a hyphen between letters belongs to its word. A character of a script without spaces is a word.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut in_word = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let followed = chars.peek().is_some_and(|(_, next)| is_letter(*next));
        let joint = in_word && followed && matches!(char, '\'' | '\u{2019}' | '-');
        let word = is_letter(char) || joint;
        if ideograph(char) || word != in_word {
            push(&mut pieces, &text[start..at], in_word);
            start = at;
            in_word = word;
        }
        if ideograph(char) {
            let end = at + char.len_utf8();
            push(&mut pieces, &text[at..end], true);
            start = end;
            in_word = false;
        }
    }
    push(&mut pieces, &text[start..], in_word);
    pieces
}

fn push<'a>(pieces: &mut Vec<Piece<'a>>, text: &'a str, word: bool) {
    if !text.is_empty() {
        pieces.push(Piece { text, word });
    }
}

/// Returns whether a character is part of a word of several characters.
fn is_letter(char: char) -> bool {
    char.is_alphanumeric() && !ideograph(char)
}

/// Returns whether a character is a separate word.
fn ideograph(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let pieces = pieces(text).into_iter();
    pieces.filter(|piece| piece.word).map(|piece| piece.text)
}

/// Returns `texts[parent]` with each word replaced, dropped or doubled with probability `p`; all three are equally
/// likely.
///
/// Replacements are drawn from the other texts, or from the same one if they have no words.
pub(super) fn mutated(texts: &[&str], parent: usize, p: f64, rng: &mut SampleRng) -> String {
    let text = texts[parent];
    let others = texts.iter().enumerate().filter(|(at, _)| *at != parent);
    let mut lexicon: Vec<_> = others.flat_map(|(_, other)| words(other)).collect();
    if lexicon.is_empty() {
        lexicon.extend(words(text));
    }
    let mut changed = String::with_capacity(text.len() + 16);
    for piece in pieces(text) {
        if !piece.word || rng.unit() >= p {
            changed.push_str(piece.text);
            continue;
        }
        match rng.below(3) {
            0 => {
                let place = rng.below(lexicon.len() as u64) as usize;
                push_in_case(&mut changed, lexicon[place], piece.text);
            }
            1 => {
                if changed.ends_with(' ') {
                    changed.pop();
                }
            }
            _ => {
                changed.push_str(piece.text);
                if !piece.text.starts_with(ideograph) {
                    changed.push(' ');
                }
                changed.push_str(piece.text);
            }
        }
    }
    // A word that is dropped at the beginning leaves its space.
    let begins_with_space = text.starts_with(char::is_whitespace);
    let changed = if begins_with_space {
        changed.as_str()
    } else {
        changed.trim_start_matches(' ')
    };
    sendable(changed, text)
}

/// Appends `word` with the case of the first letter of `model`. A lower-case letter is used only for an ordinary word
/// of a sentence.
fn push_in_case(out: &mut String, word: &str, model: &str) {
    let mut chars = word.chars();
    let Some(first) = chars.next() else { return };
    let large = model.chars().next().is_some_and(char::is_uppercase);
    let plain = !chars.as_str().contains(char::is_uppercase);
    if large {
        out.extend(first.to_uppercase());
    } else if plain && model.chars().all(char::is_lowercase) {
        out.extend(first.to_lowercase());
    } else {
        out.push(first);
    }
    out.push_str(chars.as_str());
}

/// Returns a text of a Markov chain of order `n`.
///
/// It begins as one of `texts`, and each further word follows the last `n` words somewhere in them. Words are separated
/// by white space.
pub(super) fn chained(texts: &[&str], n: usize, rng: &mut SampleRng) -> String {
    let cut: Vec<Vec<&str>> = (texts.iter())
        .map(|text| text.split_whitespace().collect())
        .collect();
    let longest = cut.iter().map(Vec::len).max().unwrap_or(0);
    let first = rng.below(texts.len() as u64) as usize;
    let mut said = cut[first][..n.min(cut[first].len())].to_vec();
    while said.len() < 2 * longest {
        let state = &said[said.len().saturating_sub(n)..];
        // The end of a text is a word, too: none.
        let next: Vec<Option<&str>> = (cut.iter())
            .flat_map(|words| {
                let places = words.windows(state.len().max(1)).enumerate();
                places
                    .filter(|(_, window)| *window == state)
                    .map(|(at, window)| words.get(at + window.len()).copied())
            })
            .collect();
        match next.get(rng.below(next.len().max(1) as u64) as usize) {
            Some(Some(word)) => said.push(word),
            _ => break,
        }
    }
    sendable(&said.join(" "), texts[first])
}

/// Returns `text`, or `instead` if `text` cannot be sent because it is blank or contains a delimiter.
fn sendable(text: &str, instead: &str) -> String {
    let sendable = !is_blank(text) && !holds_delimiter(text, ParseMode::Lenient);
    (if sendable { text } else { instead }).to_owned()
}

/// Returns a new word: ten syllables from 60 random bits.
pub(super) fn invented(rng: &mut SampleRng) -> String {
    let mut bits = rng.next_u64();
    let mut letter = |letters: &[u8]| {
        let at = bits as usize % letters.len();
        bits /= letters.len() as u64;
        char::from(letters[at])
    };
    (0..10)
        .flat_map(|_| [letter(b"bdfghjklmnprstvz"), letter(b"aiou")])
        .collect()
}
