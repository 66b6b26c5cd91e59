//! Instructions that were carried out instead of encoded.

use super::words::folded_words;

/// The characters from which on a part of the expected result counts like the whole.
const PART: usize = 8;
/// The highest number of parts that are compared.
const PARTS: usize = 32;

/// The piece of the expected result that `text` holds and the instruction does not: the result, or a part of it between colons that
/// is long enough not to occur by chance.
pub(super) fn executed_answer(text: &str, original: &str, expected: &str) -> Option<String> {
    let text_folded = collapsed(text);
    let original_folded = collapsed(original);
    let parts = expected
        .split(':')
        .map(str::trim)
        .filter(|part| part.chars().count() >= PART)
        .take(PARTS);
    let whole = expected.trim();
    let mut pieces = [whole].into_iter().chain(parts);
    let piece = pieces.find(|piece| {
        let piece = collapsed(piece);
        occurs(&piece, &text_folded) && !occurs(&piece, &original_folded)
    });
    piece.map(str::to_owned)
}

/// Case folded, white space collapsed.
fn collapsed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// Whether `piece` occurs in `text`, and not inside of a word or as a run of its words with other marks between them.
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
