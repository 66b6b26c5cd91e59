//! Rules as clauses that a machine can follow.

use crate::rules::codec::mapping;
use crate::rules::codec::phrase::{Placed, Token, find_whole, tokens};

/// The longest source or target of a mapping, in characters: more is a text and no word.
pub(crate) const LONGEST_MAPPED: usize = 64;

/// Something that can be done without asking what is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Clause {
    /// Write one thing for another.
    Map(Mapping),
    /// Leave a, e, i, o and u out of words of more letters than this.
    DropVowels { longer_than: usize },
    /// Leave these words out; lower case.
    DropWords(Vec<String>),
    /// One space for a run of white space, none at the ends.
    CollapseSpace,
    /// Let things stay that no other clause touches, and, if `names`, proper nouns.
    Keep { names: bool },
}

/// A piece of text and the piece that is written for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Mapping {
    pub source: String,
    pub target: String,
}

/// A line of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule<'a> {
    /// The line of the rules, from 1.
    pub line: usize,
    /// The line without its name, bullet and outer white space.
    pub body: &'a str,
    pub clauses: Vec<Clause>,
    /// The sentences that are not understood.
    pub unread: Vec<&'a str>,
}

impl Rule<'_> {
    /// Whether a machine can follow all of it.
    pub fn is_mechanical(&self) -> bool {
        self.unread.is_empty() && !self.clauses.is_empty()
    }

    pub fn mappings(&self) -> impl Iterator<Item = &Mapping> {
        self.clauses.iter().filter_map(|clause| match clause {
            Clause::Map(mapping) => Some(mapping),
            _ => None,
        })
    }
}

/// The rules of `text`, one for each line that is not blank.
pub(crate) fn rules(text: &str) -> Vec<Rule<'_>> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, without_bullet(line.trim())))
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| rule(number, line))
        .collect()
}

fn rule(number: usize, line: &str) -> Rule<'_> {
    let read = |body| {
        let (clauses, unread) = clauses(body);
        Rule {
            line: number,
            body,
            clauses,
            unread,
        }
    };
    let Some((name, body)) = named(line) else {
        return read(line);
    };
    if is_identifier(name) {
        return read(body);
    }
    // `Replace words: ...` has no name, `Vowel drop: ...` has one.
    let whole = read(line);
    if whole.is_mechanical() {
        return whole;
    }
    let behind = read(body);
    if behind.is_mechanical() {
        behind
    } else {
        whole
    }
}

/// `NAME: body` with a short name without quotes.
fn named(line: &str) -> Option<(&str, &str)> {
    let (name, body) = line.split_once(':')?;
    let plain = |char: char| char.is_alphanumeric() || matches!(char, ' ' | '_' | '-');
    let short = name.len() <= 40 && !name.is_empty() && name.chars().all(plain);
    short.then(|| (name, body.trim()))
}

/// Whether `name` is a label such as `VOWEL_DROP` and not a part of a sentence.
fn is_identifier(name: &str) -> bool {
    !name.contains(char::is_lowercase) && name.contains(char::is_uppercase)
}

fn without_bullet(line: &str) -> &str {
    let digits = line.len()
        - line
            .trim_start_matches(|char: char| char.is_ascii_digit())
            .len();
    let numbered = line[digits..]
        .strip_prefix(['.', ')'])
        .filter(|_| (1..=3).contains(&digits));
    let rest = numbered.or_else(|| line.strip_prefix(['-', '*', '•']));
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => line,
    }
}

fn clauses(body: &str) -> (Vec<Clause>, Vec<&str>) {
    let tokens = tokens(body);
    let ends = |placed: &Placed<'_>| {
        let behind = &body[placed.end..];
        matches!(placed.token, Token::Mark('.' | ';' | '!'))
            && (behind.is_empty() || behind.starts_with(char::is_whitespace))
    };
    let mut read = Vec::new();
    let mut unread = Vec::new();
    for sentence in tokens.split(ends) {
        let (Some(first), Some(last)) = (sentence.first(), sentence.last()) else {
            continue;
        };
        match clauses_of(sentence, body) {
            Some(clauses) => read.extend(clauses),
            None => unread.push(&body[first.at..last.end]),
        }
    }
    (read, unread)
}

fn clauses_of<'a>(sentence: &[Placed<'a>], text: &'a str) -> Option<Vec<Clause>> {
    if let Some(mappings) = mapping::mappings(sentence, text) {
        return Some(mappings.into_iter().map(mapped).collect());
    }
    let content: Vec<Placed<'_>> = sentence
        .iter()
        .filter(|placed| !is_filler(placed))
        .cloned()
        .collect();
    let clause = vowel_drop(&content)
        .or_else(|| space(&content))
        .or_else(|| word_drop(sentence, &content))
        .or_else(|| keep(sentence))?;
    Some(vec![clause])
}

/// A mapping to nothing leaves the word out, with the space after it.
fn mapped(mapping: Mapping) -> Clause {
    if mapping.target.is_empty() && mapping.source.chars().all(char::is_alphabetic) {
        Clause::DropWords(vec![mapping.source.to_lowercase()])
    } else {
        Clause::Map(mapping)
    }
}

/// Words and marks that change nothing in what these clauses say.
fn is_filler(placed: &Placed<'_>) -> bool {
    match &placed.token {
        Token::Word(word) => {
            matches!(
                &**word,
                "the" | "all" | "a" | "an" | "any" | "every" | "each" | "please" | "also"
            )
        }
        Token::Mark(mark) => matches!(mark, ',' | ':' | '(' | ')'),
        _ => false,
    }
}

const DROP: &str = "remove|drop|delete|omit|strip|eliminate";

fn vowel_drop(content: &[Placed<'_>]) -> Option<Clause> {
    // Behind `words`; the number, and what is to be taken from it.
    const LIMITS: [(&str, usize); 10] = [
        ("", 0),
        ("longer than NUM [letters|characters]", 0),
        ("that|which are longer than NUM [letters|characters]", 0),
        (
            "of|with|having|containing more than NUM letters|characters",
            0,
        ),
        (
            "that|which have|contain more than NUM letters|characters",
            0,
        ),
        ("over NUM letters|characters", 0),
        (
            "of|with|having|containing at least NUM letters|characters",
            1,
        ),
        (
            "of|with|having|containing NUM or more letters|characters",
            1,
        ),
        (
            "of|with|having|containing NUM letters|characters or more",
            1,
        ),
        ("that|which have|contain NUM or more letters|characters", 1),
    ];
    if !content.iter().any(|placed| placed.is_word("vowels")) {
        return None;
    }
    let vowels = "vowels [aeiou] [e] [i] [o] [u] [from|in|of|within] [words|word]";
    LIMITS.iter().find_map(|(limit, less)| {
        let found = find_whole(&[&format!("{DROP} {vowels} {limit}")], content)?;
        let number = found.numbers.first().map_or(0, |&number| number as usize);
        let longer_than = number.saturating_sub(*less);
        Some(Clause::DropVowels { longer_than })
    })
}

fn space(content: &[Placed<'_>]) -> Option<Clause> {
    const EXTRA: &str = "unnecessary|extra|redundant|excess|excessive|superfluous|repeated|multiple|duplicate|consecutive|double";
    const SPACE: &str = "whitespace|whitespaces|space|spaces|blanks";
    let speaks_of_space = |placed: &Placed<'_>| SPACE.split('|').any(|space| placed.is_word(space));
    if !content.iter().any(speaks_of_space) {
        return None;
    }
    let patterns = [
        format!("{DROP} {EXTRA} [white] {SPACE}"),
        format!(
            "collapse|normalize|normalise|squeeze [{EXTRA}] [runs|run] [of] [white] {SPACE} [to|into] [one|single] [space]"
        ),
        format!("replace runs|{EXTRA} [of] [white] {SPACE} with|by one|single space"),
    ];
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    find_whole(&patterns, content).map(|_| Clause::CollapseSpace)
}

fn word_drop(sentence: &[Placed<'_>], content: &[Placed<'_>]) -> Option<Clause> {
    let (verb, rest) = sentence.split_first()?;
    if !DROP.split('|').any(|drop| verb.is_word(drop)) {
        return None;
    }
    if find_whole(&[&format!("{DROP} articles")], content).is_some()
        && !sentence.iter().any(|placed| placed.is_mark(':'))
    {
        return Some(Clause::DropWords(
            ["a", "an", "the"].map(str::to_owned).to_vec(),
        ));
    }
    let introduces = |placed: &Placed<'_>| match &placed.token {
        Token::Word(word) => matches!(
            &**word,
            "the"
                | "all"
                | "these"
                | "following"
                | "common"
                | "word"
                | "words"
                | "articles"
                | "filler"
                | "stop"
                | "function"
        ),
        _ => false,
    };
    let intro = rest.iter().take_while(|placed| introduces(placed)).count();
    let mut list = &rest[intro..];
    if let [open, inner @ .., close] = list
        && open.is_mark('(')
        && close.is_mark(')')
    {
        list = inner;
    } else if let [open, inner @ ..] = list
        && open.is_mark(':')
    {
        list = inner;
    } else if !matches!(list.first()?.token, Token::Quoted(_)) {
        return None;
    }
    Some(Clause::DropWords(listed_words(list)?))
}

/// The words of a list with commas, slashes and a last `and` or `or`; bare or all quoted.
fn listed_words(list: &[Placed<'_>]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    for item in list.split(|placed| placed.is_mark(',') || placed.is_mark('/')) {
        let item = match item {
            [and, rest @ ..] if !rest.is_empty() && (and.is_word("and") || and.is_word("or")) => {
                rest
            }
            item => item,
        };
        let parts: Vec<&[Placed<'_>]> = match item {
            [first, and, last] if and.is_word("and") || and.is_word("or") => {
                vec![std::slice::from_ref(first), std::slice::from_ref(last)]
            }
            item => vec![item],
        };
        for part in parts {
            let [placed] = part else { return None };
            words.push(match &placed.token {
                Token::Word(word) => word.clone(),
                Token::Quoted(word)
                    if !word.is_empty() && word.chars().all(char::is_alphabetic) =>
                {
                    word.to_lowercase()
                }
                _ => return None,
            });
        }
    }
    Some(words)
}

fn keep(sentence: &[Placed<'_>]) -> Option<Clause> {
    const NAMES: [&str; 4] = [
        "proper nouns|names",
        "names",
        "capitalized|capitalised words|names",
        "names of people|places",
    ];
    const OTHERS: [&str; 7] = [
        "numbers|digits|numerals|figures|number",
        "punctuation [marks]",
        "else",
        "everything else",
        "other words|text|characters",
        "rest [of] [text]",
        "word order",
    ];
    let ending = sentence
        .iter()
        .rposition(|placed| !matches!(&placed.token, Token::Word(word) if matches!(&**word, "unchanged" | "intact" | "untouched" | "alone" | "verbatim" | "as" | "is" | "are" | "they" | "it")))?;
    let (verb, items) = sentence[..=ending].split_first()?;
    if !["keep", "preserve", "retain", "leave"]
        .iter()
        .any(|keep| verb.is_word(keep))
    {
        return None;
    }
    let mut names = false;
    let separates = |placed: &Placed<'_>| {
        placed.is_mark(',') || placed.is_word("and") || placed.is_word("or") || placed.is_mark('&')
    };
    let mut kept = 0;
    for item in items.split(separates) {
        let item: Vec<Placed<'_>> = item
            .iter()
            .filter(|placed| !is_filler(placed))
            .cloned()
            .collect();
        if item.is_empty() {
            continue;
        }
        kept += 1;
        if find_whole(&NAMES, &item).is_some() {
            names = true;
        } else {
            find_whole(&OTHERS, &item)?;
        }
    }
    (kept > 0).then_some(Clause::Keep { names })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEFAULT_RULES;

    fn drop_vowels(longer_than: usize) -> Clause {
        Clause::DropVowels { longer_than }
    }

    fn drop_words(words: &[&str]) -> Clause {
        Clause::DropWords(words.iter().map(ToString::to_string).collect())
    }

    fn only(line: &str) -> Option<Clause> {
        let all = rules(line);
        let [rule] = &all[..] else { return None };
        match &rule.clauses[..] {
            [clause] if rule.unread.is_empty() => Some(clause.clone()),
            _ => None,
        }
    }

    #[test]
    fn the_default_rules_are_read() {
        let rules = rules(DEFAULT_RULES);
        assert_eq!(rules.len(), 4);
        assert_eq!(rules[0].clauses, [Clause::DropVowels { longer_than: 3 }]);
        assert_eq!(rules[1].mappings().count(), 11);
        assert_eq!(rules[2].clauses, [Clause::Keep { names: true }]);
        assert_eq!(rules[3].clauses, [Clause::CollapseSpace]);
        assert_eq!(
            rules[3].unread,
            ["Use '|' as word separator where ambiguous"]
        );
        assert!(rules[..3].iter().all(Rule::is_mechanical));
    }

    #[test]
    fn vowel_limits() {
        for (line, clause) in [
            ("Drop vowels.", Some(drop_vowels(0))),
            (
                "- Remove all vowels (a, e, i, o, u) from every word",
                Some(drop_vowels(0)),
            ),
            (
                "Vowel drop: strip vowels from words of at least five letters",
                Some(drop_vowels(4)),
            ),
            (
                "2) omit the vowels in words with 4 or more letters",
                Some(drop_vowels(3)),
            ),
            (
                "Drop vowels in words over 6 characters",
                Some(drop_vowels(6)),
            ),
            ("Drop vowels except the first letter", None),
            ("Drop most vowels", None),
            (
                "Drop vowels in words longer than 99999999999999999999 letters",
                None,
            ),
            ("Do not drop vowels", None),
        ] {
            assert_eq!(only(line), clause, "{line}");
        }
    }

    #[test]
    fn lists_of_words_and_other_clauses() {
        for (line, clause) in [
            (
                "Drop the words: the, a, and an",
                Some(drop_words(&["the", "a", "an"])),
            ),
            (
                "Remove articles (a, an, the).",
                Some(drop_words(&["a", "an", "the"])),
            ),
            ("Remove articles", Some(drop_words(&["a", "an", "the"]))),
            (
                "Omit 'the', 'A' or 'an'",
                Some(drop_words(&["the", "a", "an"])),
            ),
            ("Drop: and, or", Some(drop_words(&["and", "or"]))),
            ("Drop filler words", None),
            ("Drop the first word", None),
            ("Collapse white space", Some(Clause::CollapseSpace)),
            ("Remove extra spaces", Some(Clause::CollapseSpace)),
            ("Remove spaces", None),
            (
                "Keep numbers and names as they are",
                Some(Clause::Keep { names: true }),
            ),
            (
                "Keep everything else unchanged",
                Some(Clause::Keep { names: false }),
            ),
            ("Keep the first letter", None),
            ("Keep it", None),
            ("'please'→''", Some(drop_words(&["please"]))),
        ] {
            assert_eq!(only(line), clause, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*", words in proptest::collection::vec(
            "drop|keep|vowels|words|the|and|'x'|'→'|→|=|:|,|\\(|\\)|\\.|;|3|longer than|replace|with|for", 0..20)) {
            rules(&text);
            rules(&words.join(" "));
        }
    }
}
