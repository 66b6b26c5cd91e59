//! Names: words with a capital that a sentence does not ask for.

use super::Found;
use crate::atom::{Kind, Lexicon};
use crate::lists::{FUNCTION, PHRASES, SPELLINGS};
use crate::text::{Form, Token};

/// Words with a capital that name nothing.
const NO_NAMES: [&str; 26] = [
    "mr",
    "mrs",
    "ms",
    "dr",
    "prof",
    "sir",
    "madam",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "yes",
    "no",
    "please",
    "note",
    "warning",
    "caution",
    "dear",
    "hello",
    "hi",
    "thanks",
    "ok",
    "okay",
];

pub(super) fn find(tokens: &mut [Token], lexicon: &dyn Lexicon, found: &mut Vec<Found>) {
    for index in 0..tokens.len() {
        let token = &tokens[index];
        let is_capital = token.form == Form::Word && token.written.starts_with(char::is_uppercase);
        // Capitals are an identifier or a cry.
        let is_cry = token.written.chars().all(char::is_uppercase);
        if token.is_taken || !is_capital || is_cry {
            continue;
        }
        let lower = &*token.lower;
        let is_operator = PHRASES
            .get(lower)
            .is_some_and(|list| list.iter().any(|(words, _)| words.len() == 1));
        if FUNCTION.contains(lower)
            || is_operator
            || NO_NAMES.contains(&lower)
            || SPELLINGS.contains_key(lower)
        {
            continue;
        }
        let starts = token.starts_sentence || follows_quote(tokens, index);
        if starts && is_common(lexicon, lower) {
            continue;
        }
        found.push(Found::new(Kind::Name, token.span.clone(), lower));
        tokens[index].is_taken = true;
    }
}

/// Whether a word begins a quotation.
fn follows_quote(tokens: &[Token], index: usize) -> bool {
    index.checked_sub(1).is_some_and(|at| {
        matches!(&*tokens[at].lower, "\"" | "'" | "(")
            && tokens[at].span.end == tokens[index].span.start
    })
}

/// Whether the lexicon knows a word, or the word that it is a form of.
fn is_common(lexicon: &dyn Lexicon, word: &str) -> bool {
    if lexicon.knows(word) {
        return true;
    }
    let forms = [
        ("iness", "y"),
        ("ness", ""),
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ed", ""),
        ("ed", "e"),
        ("ing", ""),
        ("ing", "e"),
        ("ly", ""),
        ("er", ""),
        ("er", "e"),
    ];
    forms.iter().any(|(ending, other)| {
        let Some(base) = word.strip_suffix(ending) else {
            return false;
        };
        let doubled =
            base.len() > 2 && base.as_bytes()[base.len() - 1] == base.as_bytes()[base.len() - 2];
        lexicon.knows(&format!("{base}{other}"))
            || doubled && base.is_ascii() && lexicon.knows(&base[..base.len() - 1])
    })
}
