//! Identifiers: what is copied letter by letter.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::Found;
use crate::atom::Kind;
use crate::lists::{FUNCTION, PHRASES, SPELLINGS};
use crate::text::{self, pattern};

/// The patterns, those that contain others first. A group, where there is one, is the identifier.
const PATTERNS: [&str; 17] = [
    r"`([^`\n]+)`",
    r"\b(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>]+",
    r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+",
    r"(?:^|[\s(=\x22])((?:~/|[A-Za-z]:\\|\.{0,2}/)[\w.~\\-]+(?:[/\\][\w.~*-]+)*/?)",
    r"\b[a-z0-9-]+(?:\.[a-z0-9-]+)+/[^\s<>]*",
    r"\b[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(?:txt|rs|py|json|ya?ml|toml|csv|pdf|conf|log|sh|exe|zip|gz|md|html?|js|ts|xml|sql|cfg|ini|png|jpe?g|docx?|xlsx?|com|org|net|io|gov|edu|dev|uk|eu|de)\b",
    r"\b[A-Za-z]+[A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b",
    r"\b(?:Ctrl|Control|Alt|Shift|Cmd|Command|Option|Meta|Super|Fn)(?:\s?\+\s?[A-Za-z0-9]+)+",
    r"\b0x[0-9A-Fa-f]+\b",
    r"(?:^|\s)(#[0-9]+)\b",
    r"(?:^|[\s(])(\+[0-9](?:[ ()-]?[0-9]){6,})",
    r"\b[vV]?[0-9]+(?:\.[0-9]+){2,}(?:-[A-Za-z0-9.]+)?\b|\b[vV][0-9]+(?:\.[0-9]+)?\b",
    r"\bP\.\s?O\.(?:\s?Box)?\s[0-9]+\b",
    r"\b[A-Z]{2}\s[0-9]{2,4}\b",
    r"[A-Za-z0-9]+(?:[./-][A-Za-z0-9]+)*",
    r"\b[A-Z]{2,6}\b",
    r"\b[0-9]{11,}\b",
];

/// The places in [`PATTERNS`] whose matches need a closer look.
const PHONE_LIKE: usize = 11;
const TWO_LETTERS: usize = 13;
const MIXED: usize = 14;
const CAPITALS: usize = 15;

static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| PATTERNS.map(pattern).into());

pub(super) fn find(plain: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut is_taken = vec![false; plain.len()];
    for (number, regex) in COMPILED.iter().enumerate() {
        for captures in regex.captures_iter(plain) {
            let Some(all) = captures.get(0) else { continue };
            let inner = captures.get(1).unwrap_or(all);
            let mut span = if number == 0 {
                all.range()
            } else {
                inner.range()
            };
            if number > 0 {
                span.end = trimmed(plain, &span);
            }
            let canonical = if number == 0 {
                inner.as_str().trim()
            } else {
                &plain[span.clone()]
            };
            if span.is_empty() || canonical.is_empty() || is_taken[span.clone()].contains(&true) {
                continue;
            }
            let is_part = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
            // The boundaries are those of ASCII: `LLER` is a part of a word.
            if is_part(plain[..span.start].chars().next_back())
                || is_part(plain[span.end..].chars().next())
            {
                continue;
            }
            if !is_identifier(number, plain, &span) {
                continue;
            }
            is_taken[span.clone()].fill(true);
            // The end of a line is white space as any other.
            let canonical: Vec<_> = canonical.split_whitespace().collect();
            found.push(Found::new(
                Kind::Identifier,
                span.clone(),
                canonical.join(" "),
            ));
        }
    }
    found
}

/// The end without the signs of the sentence around it.
fn trimmed(plain: &str, span: &Range<usize>) -> usize {
    let text = &plain[span.clone()];
    let mut end = text.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '"', '-']);
    if !end.contains('(') {
        end = end.trim_end_matches([')', ']', '.', ',']);
    }
    span.start + end.len()
}

fn is_identifier(number: usize, plain: &str, span: &Range<usize>) -> bool {
    let text = &plain[span.clone()];
    match number {
        // 12.03.2024 is a day.
        PHONE_LIKE => text
            .rsplit('.')
            .next()
            .is_none_or(|last| last.len() != 4 || text.starts_with(['v', 'V'])),
        TWO_LETTERS => !matches!(
            &text[..2],
            "AM" | "PM"
                | "AD"
                | "BC"
                | "CE"
                | "OK"
                | "NO"
                | "US"
                | "TO"
                | "OF"
                | "IN"
                | "AT"
                | "BY"
                | "OR"
        ),
        MIXED => is_mixed(text),
        CAPITALS => is_acronym(plain, span),
        _ => true,
    }
}

/// Whether a token joins letters and digits, and is neither a quantity nor an ordinal, a time or a decade.
fn is_mixed(text: &str) -> bool {
    let has = |check: fn(&char) -> bool| text.chars().any(|char| check(&char));
    if !has(char::is_ascii_digit) || !has(char::is_ascii_alphabetic) {
        return false;
    }
    if text.contains(['-', '/', '.']) {
        // `24-hour`, `mid-2024` and `km/h2` are words; `PX-204` and `4b-17` are not.
        let parts: Vec<_> = text.split(['-', '/', '.']).collect();
        let is_code =
            |part: &&str| part.chars().any(|char| char.is_ascii_uppercase()) || is_mixed(part);
        let is_month =
            |part: &&str| part.len() == 3 && part.chars().all(|char| char.is_ascii_alphabetic());
        // `db-prod-03`, but not `20-year-old`
        let is_host = parts.len() > 2 && parts[0].chars().all(|char| char.is_ascii_lowercase());
        return (is_host || parts.iter().any(is_code))
            && !(parts.len() == 3 && is_month(&parts[1]))
            && !parts
                .iter()
                .all(|part| part.len() > 4 && part.chars().all(|char| char.is_ascii_alphabetic()));
    }
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let ending = &text[digits.len()..];
    if digits.chars().all(|char| char.is_ascii_digit()) {
        let lower = ending.to_lowercase();
        let is_word = matches!(
            &*lower,
            "st" | "nd" | "rd" | "th" | "s" | "am" | "pm" | "x" | "k" | "bn" | "m"
        );
        return !is_word
            && !SPELLINGS.contains_key(&*lower)
            && !SPELLINGS.contains_key(&*format!("={ending}"));
    }
    true
}

/// Whether capitals are neither an operator nor a unit, a month, a weekday or a part of a cry.
fn is_acronym(plain: &str, span: &Range<usize>) -> bool {
    let capitals = &plain[span.clone()];
    let lower = capitals.to_lowercase();
    let is_unit =
        SPELLINGS.contains_key(&*lower) || SPELLINGS.contains_key(&*format!("={capitals}"));
    let is_operator = PHRASES
        .get(&*lower)
        .is_some_and(|list| list.iter().any(|(words, _)| words.len() == 1));
    let is_word =
        (is_operator || FUNCTION.contains(&*lower)) && !matches!(capitals, "IT" | "US" | "WHO");
    let neighbour = |word: Option<&str>| {
        word.is_some_and(|word| {
            let word = word.trim_matches(|char: char| !char.is_alphabetic());
            word.len() > 1
                && word.chars().all(char::is_uppercase)
                && FUNCTION.contains(&*word.to_lowercase())
        })
    };
    let before = Some(text::before(plain, span.start));
    let after = Some(text::after(plain, span.end));
    !is_unit
        && !is_word
        && !matches!(capitals, "AM" | "PM" | "AD" | "BC" | "OK" | "CE")
        && !neighbour(before)
        && !neighbour(after)
}
