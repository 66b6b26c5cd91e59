//! Sentences of instructions as tokens, and patterns over them.

use crate::rules::codec::lexicon::folded;
use crate::text::words::word_length;

/// The smallest piece that means something in an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// In lower case. A hyphen between letters or digits parts words and is dropped.
    Word(String),
    /// A piece that begins with a digit; it is a number only if it holds nothing else.
    Number(&'a str),
    /// The text between quotes or back-ticks.
    Quoted(&'a str),
    /// `→`, `->`, `⇒`, `=>`, `↦`.
    Arrow,
    /// Any other character.
    Mark(char),
}

/// A token with its place in the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed<'a> {
    pub token: Token<'a>,
    pub at: usize,
    pub end: usize,
}

impl Placed<'_> {
    pub fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(own) if own == word)
    }

    pub fn is_mark(&self, mark: char) -> bool {
        self.token == Token::Mark(mark)
    }
}

/// The tokens of `text`.
pub(crate) fn tokens(text: &str) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    let mut closings = Closings::default();
    let mut at = 0;
    let mut before = None;
    while let Some(char) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if char.is_alphabetic() {
            let length = word_length(rest, char::is_alphabetic);
            (Some(Token::Word(folded(&rest[..length]))), length)
        } else if char.is_ascii_digit() {
            let length = number_length(rest);
            (Some(Token::Number(&rest[..length])), length)
        } else if let Some(length) = closings.quoted_length(text, at, before) {
            let quotes = (char.len_utf8(), last_char_length(&rest[..length]));
            let inside = &rest[quotes.0..length - quotes.1];
            (Some(Token::Quoted(inside)), length)
        } else if let Some(length) = arrow_length(rest) {
            (Some(Token::Arrow), length)
        } else if char.is_whitespace() || joins(char, before, rest) {
            (None, char.len_utf8())
        } else {
            (Some(Token::Mark(char)), char.len_utf8())
        };
        let end = at + length;
        all.extend(token.map(|token| Placed { token, at, end }));
        before = text[at..end].chars().next_back();
        at = end;
    }
    all
}

fn last_char_length(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

/// A hyphen between letters or digits.
fn joins(char: char, before: Option<char>, rest: &str) -> bool {
    let next = rest.chars().nth(1);
    matches!(char, '-' | '\u{2010}' | '\u{2011}')
        && before.is_some_and(char::is_alphanumeric)
        && next.is_some_and(char::is_alphanumeric)
}

fn arrow_length(rest: &str) -> Option<usize> {
    ["->", "=>", "→", "⇒", "↦", "⟶"]
        .iter()
        .find(|arrow| rest.starts_with(**arrow))
        .map(|arrow| arrow.len())
}

/// Digits and what clings to them: `26`, but also `26th`, `2.5` and `1,000`, which are no plain numbers.
fn number_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let goes_on = char.is_alphanumeric()
            || (matches!(char, '.' | ',')
                && chars.peek().is_some_and(|(_, next)| next.is_numeric()));
        if !goes_on {
            return at;
        }
    }
    rest.len()
}

/// Finds where quotes close, and remembers marks that do not close any more, so that a text of open quotes is read in
/// one go.
#[derive(Default)]
struct Closings {
    lost: Vec<char>,
}

impl Closings {
    /// The length of the quoted piece that begins at `at`, marks included.
    fn quoted_length(&mut self, text: &str, at: usize, before: Option<char>) -> Option<usize> {
        let open = text[at..].chars().next()?;
        let close = match open {
            '\'' | '"' | '`' => open,
            '\u{2018}' => '\u{2019}',
            '\u{201c}' => '\u{201d}',
            '\u{201e}' => '\u{201c}',
            '\u{ab}' => '\u{bb}',
            _ => return None,
        };
        if before.is_some_and(char::is_alphanumeric) || self.lost.contains(&close) {
            return None;
        }
        let inside = at + open.len_utf8();
        let end = text[inside..]
            .match_indices(close)
            .map(|(offset, mark)| inside + offset + mark.len())
            // An apostrophe has a letter behind it.
            .find(|&end| !text[end..].starts_with(char::is_alphanumeric));
        if end.is_none() {
            self.lost.push(close);
        }
        end.map(|end| end - at)
    }
}

/// The match of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found<'a> {
    /// The number of tokens.
    pub length: usize,
    /// The numbers that matched `NUM`, in order.
    pub numbers: Vec<u64>,
    /// The pieces that matched `QUOTE`, in order.
    pub quotes: Vec<&'a str>,
}

/// The elements of a sentence, in order.
///
/// Elements are divided by spaces: `a|b` is one of these words or marks, `NUM` a number in digits or as a word, `QUOTE` a
/// quoted piece; `[a|b]` may be missing.
#[derive(Debug, Clone)]
pub(crate) struct Pattern<'p> {
    elements: Vec<&'p str>,
}

impl<'p> Pattern<'p> {
    pub fn new(pattern: &'p str) -> Self {
        Self {
            elements: pattern.split_whitespace().collect(),
        }
    }

    /// Matches at the beginning of `tokens`.
    pub fn find<'a>(&self, tokens: &[Placed<'a>]) -> Option<Found<'a>> {
        let mut found = Found::default();
        found.length = matched(&self.elements, tokens, 0, &mut found)?;
        Some(found)
    }
}

/// The first of `patterns` that takes all of `tokens`.
pub(crate) fn find_whole<'a>(patterns: &[&str], tokens: &[Placed<'a>]) -> Option<Found<'a>> {
    patterns
        .iter()
        .filter_map(|pattern| Pattern::new(pattern).find(tokens))
        .find(|found| found.length == tokens.len())
}

fn matched<'a>(
    elements: &[&str],
    tokens: &[Placed<'a>],
    at: usize,
    found: &mut Found<'a>,
) -> Option<usize> {
    let Some((element, rest)) = elements.split_first() else {
        return Some(at);
    };
    let inner = element
        .strip_prefix('[')
        .and_then(|element| element.strip_suffix(']'));
    let (numbers, quotes) = (found.numbers.len(), found.quotes.len());
    if let Some(taken) = taken(inner.unwrap_or(element), tokens, at, found)
        && let Some(end) = matched(rest, tokens, at + taken, found)
    {
        return Some(end);
    }
    found.numbers.truncate(numbers);
    found.quotes.truncate(quotes);
    if inner.is_some() {
        matched(rest, tokens, at, found)
    } else {
        None
    }
}

/// The number of tokens that `element` matches at `at`.
fn taken<'a>(
    element: &str,
    tokens: &[Placed<'a>],
    at: usize,
    found: &mut Found<'a>,
) -> Option<usize> {
    if element == "NUM" {
        let (number, length) = number_at(&tokens[at.min(tokens.len())..])?;
        found.numbers.push(number);
        return Some(length);
    }
    match &tokens.get(at)?.token {
        Token::Quoted(inside) if element == "QUOTE" => {
            found.quotes.push(inside);
            Some(1)
        }
        Token::Word(word) => element.split('|').any(|own| own == word).then_some(1),
        Token::Mark(mark) => {
            let mut buffer = [0; 4];
            let mark: &str = mark.encode_utf8(&mut buffer);
            element.split('|').any(|own| own == mark).then_some(1)
        }
        _ => None,
    }
}

/// A number in digits, or in words up to ninety-nine, at the beginning of `tokens`, and how many of them it takes.
pub(crate) fn number_at(tokens: &[Placed<'_>]) -> Option<(u64, usize)> {
    const UNITS: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = [
        "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    let unit = |token: &Placed<'_>| UNITS.iter().position(|unit| token.is_word(unit));
    let first = tokens.first()?;
    if let Token::Number(digits) = first.token {
        return digits.parse().ok().map(|number| (number, 1));
    }
    if let Some(unit) = unit(first) {
        return Some((unit as u64, 1));
    }
    let tens = TENS.iter().position(|tens| first.is_word(tens))? as u64 * 10 + 20;
    match tokens.get(1).and_then(unit) {
        Some(unit @ 1..=9) => Some((tens + unit as u64, 2)),
        _ => Some((tens, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        tokens(text)
            .into_iter()
            .map(|placed| match placed.token {
                Token::Word(word) => word,
                Token::Number(digits) => format!("#{digits}"),
                Token::Quoted(inside) => format!("<{inside}>"),
                Token::Arrow => "->".to_owned(),
                Token::Mark(mark) => mark.to_string(),
            })
            .collect()
    }

    #[test]
    fn text_becomes_tokens() {
        assert_eq!(
            shown("Say 'don't' to the dog's \u{201c}tail\u{201d}: 1-indexed, -26"),
            [
                "say", "<don't>", "to", "the", "dog's", "<tail>", ":", "#1", "indexed", ",", "-",
                "#26"
            ]
        );
        assert_eq!(
            shown("'to'→'→', `a`->'' x=1,000 26.5 26th."),
            [
                "<to>", "->", "<→>", ",", "<a>", "->", "<>", "x", "=", "#1,000", "#26.5", "#26th",
                "."
            ]
        );
        assert_eq!(shown("an open 'quote"), ["an", "open", "'", "quote"]);
    }

    #[test]
    fn open_quotes_are_read_in_one_go() {
        let text = " 'a".repeat(200_000);
        assert_eq!(tokens(&text).len(), 400_000);
    }

    #[test]
    fn patterns_take_words_numbers_and_quotes() {
        let text = tokens("drop vowels longer than twenty-six letters 'x' done");
        let found =
            Pattern::new("drop|remove [all] vowels [longer] than NUM letters QUOTE").find(&text);
        let expected = Found {
            length: 8,
            numbers: vec![26],
            quotes: vec!["x"],
        };
        assert_eq!(found, Some(expected));
        assert_eq!(Pattern::new("drop consonants").find(&text), None);
        assert!(find_whole(&["drop", "drop vowels"], &text).is_none());
        for (text, number) in [
            ("7", Some((7, 1))),
            ("seven", Some((7, 1))),
            ("thirty", Some((30, 1))),
            ("thirty zero", Some((30, 1))),
            ("1,000", None),
            ("26th", None),
            ("99999999999999999999", None),
            ("", None),
        ] {
            assert_eq!(number_at(&tokens(text)), number, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_becomes_tokens_in_order(text in "\\PC*") {
            let mut end = 0;
            for placed in tokens(&text) {
                proptest::prop_assert!(placed.at >= end && placed.end > placed.at);
                proptest::prop_assert!(text.get(placed.at..placed.end).is_some());
                end = placed.end;
            }
        }

        #[test]
        fn quotes_and_numbers_in_any_order(text in "['\"`‘’“”„«»a1 .,-]{0,40}") {
            tokens(&text);
        }
    }
}
