//! Mappings as rules write them: `'x'→'y'`, `x -> y`, `x=y`, `Replace 'x' with 'y'`, `Use 'y' for 'x'`.

use crate::rules::codec::clause::{LONGEST_MAPPED, Mapping};
use crate::rules::codec::phrase::{Placed, Token};

/// The longest source without quotes, in words.
const LONGEST_BARE: usize = 6;

/// The mappings of a sentence that holds nothing else but words that introduce them; `sentence` lies in `text`.
pub(crate) fn mappings<'a>(sentence: &[Placed<'a>], text: &'a str) -> Option<Vec<Mapping>> {
    let all = match quoted(sentence) {
        Some(all) => all,
        None => bare(sentence, text)?,
    };
    let fits = |mapping: &Mapping| {
        let short = |text: &str| text.chars().take(LONGEST_MAPPED + 1).count() <= LONGEST_MAPPED;
        !mapping.source.trim().is_empty() && short(&mapping.source) && short(&mapping.target)
    };
    (!all.is_empty() && all.iter().all(fits)).then_some(all)
}

/// The direction of a mapping.
#[derive(Clone, Copy)]
enum Link {
    /// The source comes first.
    Forth,
    /// The target comes first.
    Back,
}

fn quoted(tokens: &[Placed<'_>]) -> Option<Vec<Mapping>> {
    let mut all = Vec::new();
    let mut rest = tokens;
    let mut writes = false;
    while let Some((placed, behind)) = rest.split_first() {
        rest = behind;
        let Token::Quoted(first) = placed.token else {
            writes |= placed.is_word("use") || placed.is_word("write");
            introduces(placed).then_some(())?;
            continue;
        };
        let mut left = vec![first];
        while let [or, next, behind @ ..] = rest
            && (or.is_mark('/') || or.is_word("or"))
            && let Token::Quoted(other) = next.token
        {
            left.push(other);
            rest = behind;
        }
        let (link, length) = link(rest, writes)?;
        let (right, behind) = rest[length..].split_first()?;
        let Token::Quoted(right) = right.token else {
            return None;
        };
        rest = behind;
        all.extend(left.into_iter().map(|left| match link {
            Link::Forth => mapping(left, right),
            Link::Back => mapping(right, left),
        }));
    }
    Some(all)
}

fn mapping(source: &str, target: &str) -> Mapping {
    Mapping {
        source: source.to_owned(),
        target: target.to_owned(),
    }
}

/// The words that tie two quoted pieces together, as a direction and the number of tokens.
fn link(tokens: &[Placed<'_>], writes: bool) -> Option<(Link, usize)> {
    let first = tokens.first()?;
    let word = |words: &[&str]| words.iter().any(|word| first.is_word(word));
    if first.token == Token::Arrow || first.is_mark('=') {
        Some((Link::Forth, 1))
    } else if writes && word(&["for"]) {
        Some((Link::Back, 1))
    } else if writes && word(&["instead"]) && tokens.get(1)?.is_word("of") {
        Some((Link::Back, 2))
    } else if !writes && word(&["with", "by", "becomes", "to", "as"]) {
        Some((Link::Forth, 1))
    } else {
        None
    }
}

/// Words and marks around mappings that say nothing more.
fn introduces(placed: &Placed<'_>) -> bool {
    match &placed.token {
        Token::Word(word) => matches!(
            &**word,
            "replace"
                | "substitute"
                | "swap"
                | "map"
                | "use"
                | "write"
                | "change"
                | "turn"
                | "encode"
                | "abbreviate"
                | "shorten"
                | "common"
                | "frequent"
                | "following"
                | "the"
                | "these"
                | "words"
                | "word"
                | "phrases"
                | "symbols"
                | "signs"
                | "letters"
                | "abbreviations"
                | "substitutions"
                | "replacements"
                | "mappings"
                | "codes"
                | "as"
                | "follows"
                | "with"
                | "by"
                | "and"
        ),
        Token::Mark(mark) => matches!(mark, ',' | ':' | '(' | ')'),
        _ => false,
    }
}

/// Mappings between commas, each either quoted or bare.
fn bare<'a>(tokens: &[Placed<'a>], text: &'a str) -> Option<Vec<Mapping>> {
    let mut all = Vec::new();
    for piece in tokens.split(|placed| placed.is_mark(',')) {
        if let Some(mappings) = quoted(piece) {
            all.extend(mappings);
            continue;
        }
        let is_link = |placed: &Placed<'_>| placed.token == Token::Arrow || placed.is_mark('=');
        let middle = piece.iter().position(is_link)?;
        let (mut left, right) = (&piece[..middle], &piece[middle + 1..]);
        if let Some(colon) = left.iter().rposition(|placed| placed.is_mark(':')) {
            let (intro, behind) = left.split_at(colon);
            intro.iter().all(introduces).then_some(())?;
            left = &behind[1..];
        }
        let source = span(left, text)?;
        let target = span(right, text)?;
        let one_run = |text: &str| !text.contains(char::is_whitespace);
        let words = |text: &str| {
            text.split_whitespace().count() <= LONGEST_BARE
                && text
                    .split_whitespace()
                    .all(|word| word.chars().all(char::is_alphabetic))
                && !left.iter().any(speaks_of_text)
        };
        // `=` also compares: only single words around it are a mapping.
        let equals = piece[middle].is_mark('=');
        if !one_run(target)
            || !(one_run(source) || (words(source) && !equals))
            || right.iter().any(is_link)
        {
            return None;
        }
        all.push(mapping(source, target));
    }
    Some(all)
}

/// Words of a rule rather than of a text.
fn speaks_of_text(placed: &Placed<'_>) -> bool {
    let Token::Word(word) = &placed.token else {
        return false;
    };
    matches!(
        &**word,
        "replace"
            | "substitute"
            | "use"
            | "write"
            | "change"
            | "turn"
            | "map"
            | "encode"
            | "abbreviate"
            | "shorten"
            | "all"
            | "every"
            | "any"
            | "each"
            | "word"
            | "words"
            | "letter"
            | "letters"
            | "text"
            | "instead"
            | "if"
            | "when"
            | "where"
            | "not"
            | "never"
            | "sentence"
            | "phrase"
    )
}

/// The text of `tokens`, or what a single quoted piece holds.
fn span<'a>(tokens: &[Placed<'a>], text: &'a str) -> Option<&'a str> {
    if let [only] = tokens
        && let Token::Quoted(inside) = only.token
    {
        return Some(inside);
    }
    let quoted = |placed: &Placed<'_>| matches!(placed.token, Token::Quoted(_));
    let (first, last) = (tokens.first()?, tokens.last()?);
    if tokens.iter().any(quoted) {
        return None;
    }
    text.get(first.at..last.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::codec::phrase::tokens;

    fn pairs(text: &str) -> Option<Vec<(String, String)>> {
        let all = mappings(&tokens(text), text)?;
        Some(
            all.into_iter()
                .map(|mapping| (mapping.source, mapping.target))
                .collect(),
        )
    }

    #[test]
    fn mappings_in_all_their_forms() {
        for (text, expected) in [
            (
                "Replace common words: 'the'→'θ', 'to'→'→'",
                vec![("the", "θ"), ("to", "→")],
            ),
            (
                "'is'/'are' = \"=\" and `of`->`o`",
                vec![("is", "="), ("are", "="), ("of", "o")],
            ),
            (
                "Replace 'for example' with 'eg'",
                vec![("for example", "eg")],
            ),
            ("Use 'u' for 'you'", vec![("you", "u")]),
            ("Write '&' instead of 'and'", vec![("and", "&")]),
            (
                "you -> u, are => r, 'for' → 4",
                vec![("you", "u"), ("are", "r"), ("for", "4")],
            ),
            (
                "Abbreviations: you=u, with = w/",
                vec![("you", "u"), ("with", "w/")],
            ),
            (
                "as soon as possible -> asap",
                vec![("as soon as possible", "asap")],
            ),
        ] {
            let expected = expected
                .into_iter()
                .map(|(source, target)| (source.to_owned(), target.to_owned()));
            assert_eq!(pairs(text), Some(expected.collect()), "{text}");
        }
    }

    #[test]
    fn what_may_mean_something_else_is_no_mapping() {
        for text in [
            "Replace you -> u",
            "you -> u everywhere",
            "Convert to a letter where A=0",
            "'a' 'b'",
            "'you' for 'u'",
            "Use 'u' with 'you'",
            "'a'→'b', etc",
            "'a'→'b' if it is short",
            "a -> b -> c",
            "''→'x'",
            "' '→'_'",
            "→",
            "x →",
            "no mapping at all",
            "",
        ] {
            assert_eq!(pairs(text), None, "{text}");
        }
        assert_eq!(pairs(&format!("{} -> x", "a".repeat(65))), None);
    }
}
