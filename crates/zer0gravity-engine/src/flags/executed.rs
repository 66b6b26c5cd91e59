//! Instructions that were carried out instead of encoded.

use std::collections::HashSet;

use super::words::{folded_words, skeleton};

/// A part of the expected result is as good as the whole from so many characters on.
const PART: usize = 8;
/// More parts are not looked at.
const PARTS: usize = 32;
/// So many numbers that the instruction does not have are the steps of carrying it out.
const STEPS: usize = 3;

/// The piece of the expected result that `text` holds in the place of the instruction.
///
/// A text may hold these words by accident: an encoding that turns the order of words around holds the words of a reversed
/// sentence. But then it holds the instruction too, and no steps. So a text that has at least half of the instruction's other
/// words, and not three numbers of its own, is let go, unless it holds the whole result, which takes carrying it out.
pub(super) fn executed_answer(text: &str, original: &str, expected: &str) -> Option<String> {
    let text_folded = collapsed(text);
    let original_folded = collapsed(original);
    let parts = expected
        .split(':')
        .map(str::trim)
        .filter(|part| part.chars().count() >= PART)
        .take(PARTS);
    let whole = expected.trim();
    let piece = [whole].into_iter().chain(parts).find(|piece| {
        let piece = collapsed(piece);
        occurs(&piece, &text_folded) && !occurs(&piece, &original_folded)
    })?;
    // A short result, such as a number, may stand anywhere.
    if piece == whole && whole.chars().count() >= PART {
        return Some(piece.to_owned());
    }
    (!holds_instruction(text, original, expected)).then(|| piece.to_owned())
}

/// Case folded, white space collapsed.
fn collapsed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// Whether `piece` stands in `text`, and not inside of a word or as a run of its words with other marks between them.
fn occurs(piece: &str, text: &str) -> bool {
    if piece.is_empty() {
        return false;
    }
    // Letters of scripts without case need no space between words.
    let inside = |char: char| char.is_ascii_digit() || char.is_lowercase() || char.is_uppercase();
    let joined = |a: Option<char>, b: Option<char>| a.is_some_and(inside) && b.is_some_and(inside);
    let (first, last) = (piece.chars().next(), piece.chars().next_back());
    let free = |at: usize| {
        let before = text[..at].chars().next_back();
        let behind = text[at + piece.len()..].chars().next();
        !joined(before, first) && !joined(last, behind)
    };
    if text.match_indices(piece).any(|(at, _)| free(at)) {
        return true;
    }
    let apart = |text: &str| format!(" {} ", folded_words(text).join(" "));
    let run = apart(piece);
    // One word alone was looked for already.
    run.trim().contains(' ') && apart(text).contains(&run)
}

/// Whether `text` says what the instruction says, apart from the words of its result.
fn holds_instruction(text: &str, original: &str, expected: &str) -> bool {
    let number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let result: HashSet<String> = folded_words(expected).into_iter().collect();
    let kept: HashSet<String> = folded_words(text).into_iter().collect();
    let mut said: HashSet<String> = folded_words(original).into_iter().collect();
    let steps = kept
        .iter()
        .filter(|word| number(word) && !said.contains(*word) && !result.contains(*word))
        .count();
    // Short words carry little, and most encodings drop them.
    said.retain(|word| !result.contains(word) && (number(word) || word.chars().count() > 3));
    let found = said.iter().filter(|word| is_kept(word, &kept)).count();
    !said.is_empty() && 2 * found >= said.len() && steps < STEPS
}

/// Whether a word is there: as it is, without its vowels, or cut to three letters or more.
fn is_kept(word: &str, kept: &HashSet<String>) -> bool {
    // Beyond this an abbreviation is none.
    const LONGEST: usize = 16;
    let begins = |word: &str| {
        kept.contains(word)
            || word
                .char_indices()
                .map(|(at, _)| at)
                .take(LONGEST)
                .skip(3)
                .any(|end| kept.contains(&word[..end]))
    };
    begins(word) || begins(&skeleton(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences() {
        for (piece, text, found) in [
            ("42", "it is 42.", true),
            ("42", "it is 421", false),
            ("cat", "concatenate", false),
            ("cat", "a cat", true),
            ("u:a b", "so u: a, b", true),
            ("四十二", "答案是四十二。", true),
            ("!", "no", false),
            ("", "", false),
        ] {
            assert_eq!(occurs(piece, text), found, "{piece} in {text}");
        }
    }
}
