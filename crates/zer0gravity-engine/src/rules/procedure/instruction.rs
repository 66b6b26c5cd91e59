//! Reading an instruction of the family, and carrying it out.

use super::Step;
use crate::rules::codec::phrase::{Found, Pattern, Placed, Token, number_at, tokens};

/// An instruction that is understood to the last word.
#[derive(Debug)]
pub(super) struct Instruction<'a> {
    sentence: &'a str,
    first_position: u64,
    /// The number of results that the text states.
    results: Option<u64>,
    divisor: u64,
    /// The number of the letter A, and whether letters are capitals.
    letter_a: i128,
    capitals: bool,
}

/// Words and marks that say nothing between the steps.
const FILLERS: [&str; 12] = [
    "the", "a", "an", "then", "and", "next", "finally", "its", "their", "now", "please", "so",
];

/// Reads all of `text`.
///
/// # Errors
/// The steps that are missing; [`Step::Rest`] if there is something else.
pub(super) fn read(text: &str) -> Result<Instruction<'_>, Vec<Step>> {
    let all = tokens(text);
    let content: Vec<Placed<'_>> = all
        .iter()
        .enumerate()
        .filter(|(at, placed)| is_pair(&all[*at..], text) || !is_filler(placed))
        .map(|(_, placed)| placed.clone())
        .collect();
    in_order(&content, text).ok_or_else(|| {
        let missing = missing(&content, text);
        if missing.is_empty() {
            vec![Step::Rest]
        } else {
            missing
        }
    })
}

fn is_filler(placed: &Placed<'_>) -> bool {
    match &placed.token {
        Token::Word(word) => FILLERS.contains(&&**word),
        Token::Mark(mark) => matches!(mark, '.' | ',' | ':' | ';' | '(' | ')'),
        _ => false,
    }
}

/// The steps one after the other, with nothing else between, before or after them.
fn in_order<'a>(tokens: &[Placed<'a>], text: &str) -> Option<Instruction<'a>> {
    let mut rest = tokens;
    let sentence = take(&mut rest, &SENTENCE)?;
    take(&mut rest, &COUNT)?;
    let multiply = take_with(&mut rest, &with_positions())?;
    let sum = take(&mut rest, &SUM)?;
    let modulo = take(&mut rest, &MODULO)?;
    take(&mut rest, &LETTERS)?;
    let letters = Letters::read(&mut rest, text)?;
    take(&mut rest, &WRITE)?;
    take(&mut rest, &COLON)?;
    take(&mut rest, &REVERSE)?;
    let instruction = Instruction {
        sentence: sentence.quotes.first()?,
        first_position: *multiply.numbers.first()?,
        results: sum.numbers.first().copied(),
        divisor: *modulo.numbers.first()?,
        letter_a: letters.a,
        capitals: letters.capitals,
    };
    rest.is_empty().then_some(instruction)
}

/// The steps that stand nowhere in the text.
fn missing(tokens: &[Placed<'_>], text: &str) -> Vec<Step> {
    let positions = with_positions();
    let plain = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect();
    let steps: [(Step, Vec<String>); 9] = [
        (Step::Sentence, plain(&SENTENCE)),
        (Step::CountLetters, plain(&COUNT)),
        (Step::Multiply, plain(&MULTIPLY)),
        (Step::Positions, positions),
        (Step::Sum, plain(&SUM)),
        (Step::Modulo, plain(&MODULO)),
        (Step::WriteLetter, plain(&WRITE)),
        (Step::Colon, plain(&COLON)),
        (Step::ReverseWords, plain(&REVERSE)),
    ];
    let mut missing: Vec<Step> = steps
        .into_iter()
        .filter(|(_, patterns)| {
            let patterns: Vec<Pattern<'_>> = patterns.iter().map(|p| Pattern::new(p)).collect();
            places(tokens).all(|mut rest| longest(&mut rest, &patterns).is_none())
        })
        .map(|(step, _)| step)
        .collect();
    let letters: Vec<Pattern<'_>> = LETTERS.iter().map(|p| Pattern::new(p)).collect();
    let has_letters = places(tokens).any(|mut rest| {
        longest(&mut rest, &letters).is_some() && Letters::read(&mut rest, text).is_some()
    });
    if !has_letters {
        missing.push(Step::Letters);
    }
    missing.sort_unstable();
    missing
}

fn places<'t, 'a>(tokens: &'t [Placed<'a>]) -> impl Iterator<Item = &'t [Placed<'a>]> {
    (0..tokens.len()).map(|at| &tokens[at..])
}

const SENTENCE: [&str; 1] =
    ["[take|use|consider|given] [this|following] sentence|phrase|text QUOTE"];

const COUNT: [&str; 6] = [
    "for each|every word count letters [in] [it]",
    "for all words count letters",
    "for each|every word count number of letters [in] [it]",
    "count letters in|of each|every word",
    "count number of letters in|of each|every word",
    "count each|every word's letters",
];

const MULTIPLY: [&str; 2] = [
    "multiply each|every|this|that|it [count|number|result] by [word's] position|place|index",
    "multiply count|number|result|counts|numbers|results by [word's] position|place|index",
];

/// Multiplying with the number of the first position before or after the word `position`.
fn with_positions() -> Vec<String> {
    const BEHIND: [&str; 3] = [
        "NUM indexed|based",
        "[in] [sentence] counting|counted|starting|numbered|indexed|beginning from|at|with NUM",
        "[in] [sentence] NUM indexed|based",
    ];
    let mut all = Vec::new();
    for multiply in MULTIPLY {
        all.extend(BEHIND.map(|behind| format!("{multiply} {behind}")));
        all.push(multiply.replace("position|", "NUM indexed|based position|"));
    }
    all
}

const SUM: [&str; 3] = [
    "sum|add|total [up] [all|these|those] [NUM] [of] results|products|values|them|these|those [up|together]",
    "[take|find|compute|calculate|get] sum of [all|these|those] [NUM] results|products|values|these|those",
    "add [up] [all|these|those] [NUM] numbers [up|together]",
];

const MODULO: [&str; 4] = [
    "[take|find|compute|calculate|get|reduce] [this|that] [sum|total|result|it] modulo|mod|% NUM",
    "[take|find|compute|calculate|get] [this|that] [sum|total|result] [result] modulo|mod NUM",
    "[take|find|compute|calculate|get] remainder when|after dividing [this|that] sum|total|result|it by NUM",
    "divide [this|that] sum|total|result|it by NUM take|keep|use remainder",
];

const LETTERS: [&str; 1] = [
    "convert|map|turn|translate [this|that] [result|remainder|number|value|it] to|into letter [of] [alphabet] [where|with|using]",
];

const WRITE: [&str; 1] = ["write|output|print|give|answer|return|state [with] [this|that] letter"];

const COLON: [&str; 1] = ["[followed] [by] colon"];

const REVERSE: [&str; 7] = [
    "[followed] [by] [original|given] sentence|phrase reversed|backwards word by word",
    "[followed] [by] [original|given] sentence|phrase word by word reversed|backwards",
    "[followed] [by] reversed [original|given] sentence|phrase word by word",
    "[followed] [by] [original|given] sentence|phrase with words reversed",
    "[followed] [by] [original|given] sentence|phrase with [words] in reverse|reversed word order",
    "[followed] [by] [original|given] sentence|phrase with words in reverse|reversed order",
    "[followed] [by] words of [original|given] sentence|phrase in reverse|reversed order",
];

fn take<'a>(rest: &mut &[Placed<'a>], patterns: &[&str]) -> Option<Found<'a>> {
    let patterns: Vec<Pattern<'_>> = patterns
        .iter()
        .map(|pattern| Pattern::new(pattern))
        .collect();
    longest(rest, &patterns)
}

fn take_with<'a>(rest: &mut &[Placed<'a>], patterns: &[String]) -> Option<Found<'a>> {
    let patterns: Vec<Pattern<'_>> = patterns
        .iter()
        .map(|pattern| Pattern::new(pattern))
        .collect();
    longest(rest, &patterns)
}

/// Takes what the pattern finds that takes most.
fn longest<'a>(rest: &mut &[Placed<'a>], patterns: &[Pattern<'_>]) -> Option<Found<'a>> {
    let found = patterns
        .iter()
        .filter_map(|pattern| pattern.find(rest))
        .max_by_key(|found| found.length)?;
    *rest = &rest[found.length..];
    Some(found)
}

/// The number of each letter.
struct Letters {
    a: i128,
    capitals: bool,
}

impl Letters {
    /// Reads `A=0, B=1, through Z=25`: a pair for A, others as they please, all of one kind.
    fn read(rest: &mut &[Placed<'_>], text: &str) -> Option<Self> {
        let mut letters: Option<Self> = None;
        let mut has_a = false;
        while let Some(first) = rest.first() {
            if let Some((letter, number, length)) = pair(rest, text) {
                let place = letter.to_ascii_lowercase() as u8 - b'a';
                let a = i128::from(number) - i128::from(place);
                let capitals = letter.is_ascii_uppercase();
                has_a |= place == 0;
                match &letters {
                    Some(own) if own.a != a || own.capitals != capitals => return None,
                    _ => letters = Some(Self { a, capitals }),
                }
                *rest = &rest[length..];
            } else if letters.is_some() && links_pairs(first) && pairs_follow(&rest[1..], text) {
                *rest = &rest[1..];
            } else {
                break;
            }
        }
        letters.filter(|_| has_a)
    }
}

fn links_pairs(placed: &Placed<'_>) -> bool {
    ["through", "to", "up", "until", "till"]
        .iter()
        .any(|link| placed.is_word(link))
        || ['…', '–', '—'].iter().any(|link| placed.is_mark(*link))
}

/// Whether a pair comes after at most one more link, as in `up to Z=25`.
fn pairs_follow(tokens: &[Placed<'_>], text: &str) -> bool {
    let behind = tokens.first().is_some_and(links_pairs);
    pair(tokens, text).is_some() || (behind && pair(&tokens[1..], text).is_some())
}

fn is_pair(tokens: &[Placed<'_>], text: &str) -> bool {
    pair(tokens, text).is_some()
}

/// `A=0` or `A is 0`: the letter as it is written, the number, and how many tokens that is.
fn pair(tokens: &[Placed<'_>], text: &str) -> Option<(char, u64, usize)> {
    let [letter, equals, number @ ..] = tokens else {
        return None;
    };
    if !(equals.is_mark('=') || equals.is_word("is") || equals.is_word("equals")) {
        return None;
    }
    let written = match letter.token {
        Token::Word(_) => text.get(letter.at..letter.end)?,
        Token::Quoted(inside) => inside,
        _ => return None,
    };
    let mut chars = written.chars();
    let (Some(char), None) = (chars.next(), chars.next()) else {
        return None;
    };
    let (number, length) = number_at(number)?;
    char.is_ascii_alphabetic()
        .then_some((char, number, length + 2))
}

impl Instruction<'_> {
    /// The line that is asked for.
    ///
    /// # Errors
    /// The step that cannot be carried out as it is said.
    pub fn carry_out(&self) -> Result<String, Vec<Step>> {
        let mut words: Vec<&str> = self.sentence.split_whitespace().collect();
        if words.is_empty() || !words.iter().all(|word| is_plain(word)) {
            return Err(vec![Step::Sentence]);
        }
        if self
            .results
            .is_some_and(|results| results != words.len() as u64)
        {
            return Err(vec![Step::Sum]);
        }
        let sum: u128 = words
            .iter()
            .zip(0_u128..)
            .map(|(word, place)| {
                let letters = word.chars().filter(|char| char.is_alphabetic()).count() as u128;
                letters * (u128::from(self.first_position) + place)
            })
            .sum();
        let remainder = sum
            .checked_rem(u128::from(self.divisor))
            .ok_or(vec![Step::Modulo])?;
        // Below the divisor, so it fits.
        let place = remainder as i128 - self.letter_a;
        let letter = u8::try_from(place)
            .ok()
            .filter(|place| *place < 26)
            .map(|place| char::from(place + if self.capitals { b'A' } else { b'a' }))
            .ok_or(vec![Step::Letters])?;
        words.reverse();
        Ok(format!("{letter}:{}", words.join(" ")))
    }
}

/// Letters, with hyphens and apostrophes between them: what counts as a letter and where a word ends is clear.
fn is_plain(word: &str) -> bool {
    let inside = |char: char| char.is_alphabetic() || matches!(char, '-' | '\'' | '\u{2019}');
    word.starts_with(char::is_alphabetic)
        && word.ends_with(char::is_alphabetic)
        && word.chars().all(inside)
}
