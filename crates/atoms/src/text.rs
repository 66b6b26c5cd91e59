//! A text in plain characters, and its words with their sentences and clauses.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::lists::{self, FUNCTION};

/// A text whose typographic signs are plain ones, with the place of each byte in the text as given.
pub(crate) struct PlainText {
    pub(crate) plain: String,
    origins: Vec<usize>,
}

impl PlainText {
    pub(crate) fn new(given: &str) -> Self {
        let mut plain = String::with_capacity(given.len());
        let mut origins = Vec::with_capacity(given.len() + 1);
        for (at, char) in given.char_indices() {
            let char = match char {
                '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => continue,
                '\u{2018}' | '\u{2019}' | '\u{2bc}' => '\'',
                '\u{201c}' | '\u{201d}' => '"',
                '\u{2010}' | '\u{2011}' | '\u{2212}' => '-',
                '\u{a0}' | '\u{202f}' | '\u{2007}' | '\u{2009}' => ' ',
                other => other,
            };
            plain.push(char);
            origins.resize(plain.len(), at);
        }
        origins.push(given.len());
        Self { plain, origins }
    }

    /// The bytes of the text as given.
    pub(crate) fn given(&self, span: &Range<usize>) -> Range<usize> {
        self.origins[span.start]..self.origins[span.end]
    }
}

/// A word, a run of digits or a sign.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) span: Range<usize>,
    /// In lower case, without `'s`; `not` for `n't`.
    pub(crate) lower: String,
    /// With its capitals.
    pub(crate) written: String,
    pub(crate) form: Form,
    pub(crate) clause: usize,
    pub(crate) starts_sentence: bool,
    /// Whether an atom has it already.
    pub(crate) is_taken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Word,
    Digits,
    Sign,
}

static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"[\w--[\d_]]+(?:'[\w--[\d_]]+)*|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)*|\S",
    )
});

/// A pattern of this crate. Its word boundaries are those of ASCII, for which the matching is many times faster.
#[expect(clippy::expect_used, reason = "a test compiles every pattern")]
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(&text.replace(r"\b", r"(?-u:\b)")).expect("a pattern of this crate")
}

impl Token {
    /// Returns the stem of a word with content, or the digits of a number: scopes are compared by them.
    pub(crate) fn stem(&self) -> Option<String> {
        match self.form {
            Form::Word => lists::stem(&self.lower),
            Form::Digits => Some(self.lower.clone()),
            Form::Sign => None,
        }
    }
}

/// Words after which a full stop ends no sentence.
const TITLES: [&str; 15] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "no", "nos", "vs", "approx", "fig", "e.g", "i.e",
    "capt", "sgt",
];

/// Words after which a full stop may end a sentence: before a capital it does.
const ABBREVIATIONS: [&str; 12] = [
    "etc", "inc", "ltd", "co", "corp", "jr", "sr", "ave", "rd", "dept", "g", "e",
];

/// The most bytes of a word that is looked at before or after a place.
const NEAR: usize = 24;

/// The end of the text before a place, from the last white space on.
pub(crate) fn before(plain: &str, at: usize) -> &str {
    let from = plain.ceil_char_boundary(at.saturating_sub(NEAR));
    plain[from..at].split_whitespace().next_back().unwrap_or("")
}

/// The start of the text after a place, to the next white space.
pub(crate) fn after(plain: &str, at: usize) -> &str {
    let to = plain.floor_char_boundary((at + NEAR).min(plain.len()));
    plain[at..to.max(at)]
        .split_whitespace()
        .next()
        .unwrap_or("")
}

/// Cuts a text into tokens, without those in `taken`, and counts its clauses and sentences.
pub(crate) fn tokens(plain: &str, taken: &[Range<usize>]) -> (Vec<Token>, Vec<usize>) {
    let mut tokens = Vec::new();
    for found in TOKEN.find_iter(plain) {
        push(&mut tokens, found.as_str(), found.start());
    }
    let mut spans = taken.iter().peekable();
    for token in &mut tokens {
        while spans.next_if(|span| span.end <= token.span.start).is_some() {}
        token.is_taken = spans.peek().is_some_and(|span| span.start < token.span.end);
    }
    let sentences = divide(plain, &mut tokens);
    (tokens, sentences)
}

/// Adds a word, divided before `n't` and `'ll`.
fn push(tokens: &mut Vec<Token>, written: &str, start: usize) {
    let lower = written.to_lowercase();
    let form = match written.chars().next() {
        Some(first) if first.is_ascii_digit() => Form::Digits,
        Some(first) if first.is_alphabetic() => Form::Word,
        _ => Form::Sign,
    };
    let token = |range: Range<usize>, lower: &str| Token {
        span: start + range.start..start + range.end,
        lower: lower.to_owned(),
        written: written[range].to_owned(),
        form,
        clause: 0,
        starts_sentence: false,
        is_taken: false,
    };
    let len = written.len();
    // The endings are ASCII, so the cut is between characters.
    let cut = |ending: &str| lower.ends_with(ending).then(|| len - ending.len());
    if let Some(cut) = cut("n't").filter(|cut| *cut > 0) {
        let verb = match &*written[..cut].to_lowercase() {
            "ca" => "can".to_owned(),
            "wo" => "will".to_owned(),
            "sha" => "shall".to_owned(),
            verb => verb.to_owned(),
        };
        tokens.extend([token(0..cut, &verb), token(cut..len, "not")]);
    } else if let Some(cut) = cut("'ll").filter(|cut| *cut > 0) {
        let pronoun = written[..cut].to_lowercase();
        tokens.extend([token(0..cut, &pronoun), token(cut..len, "will")]);
    } else {
        let bare = ["'s", "'re", "'ve", "'d", "'m"]
            .iter()
            .find_map(|ending| lower.strip_suffix(ending));
        tokens.push(token(0..len, bare.unwrap_or(&lower)));
    }
}

/// Numbers the clauses and returns the sentence of each.
fn divide(plain: &str, tokens: &mut [Token]) -> Vec<usize> {
    let mut sentences = vec![0];
    let mut starts = true;
    for index in 0..tokens.len() {
        let gap = index.checked_sub(1).map_or("", |previous| {
            &plain[tokens[previous].span.end..tokens[index].span.start]
        });
        let is_item = tokens[index].form == Form::Sign
            && matches!(&*tokens[index].lower, "-" | "*" | "•" | "#");
        if gap.matches('\n').count() > 1 || (gap.contains('\n') && is_item) {
            starts = true;
        }
        if starts && tokens[index].form != Form::Sign {
            if sentences.len() > 1
                || index > 0 && tokens[..index].iter().any(|token| token.form != Form::Sign)
            {
                let next = sentences[sentences.len() - 1] + 1;
                sentences.push(next);
            }
            tokens[index].starts_sentence = true;
            starts = false;
        }
        tokens[index].clause = sentences.len() - 1;
        if ends_sentence(plain, tokens, index) {
            starts = true;
        } else if is_comma(plain, &tokens[index]) && !starts {
            let same = sentences[sentences.len() - 1];
            sentences.push(same);
        }
    }
    sentences
}

fn is_comma(plain: &str, token: &Token) -> bool {
    match &*token.lower {
        "—" => true,
        "," | "–" => plain[token.span.end..].starts_with(char::is_whitespace),
        _ => false,
    }
}

fn ends_sentence(plain: &str, tokens: &[Token], index: usize) -> bool {
    let token = &tokens[index];
    if !matches!(&*token.lower, "." | "!" | "?" | ";" | ":" | "…") {
        return false;
    }
    let rest = plain[token.span.end..].trim_start_matches(['"', '\'', ')', ']']);
    if !(rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        return false;
    }
    if token.lower != "." {
        return !token.is_taken;
    }
    let is_capital = rest
        .trim_start()
        .starts_with(|char: char| char.is_uppercase() || matches!(char, '"' | '\''));
    if token.is_taken {
        // That of `5 p.m.` ends a sentence as well, before a capital.
        return is_capital;
    }
    let Some(previous) = index.checked_sub(1).map(|at| &tokens[at]) else {
        return true;
    };
    if previous.span.end != token.span.start || previous.is_taken {
        return true;
    }
    let touches = index > 1 && tokens[index - 2].span.end == previous.span.start;
    let is_initial =
        previous.written.len() == 1 && previous.written.starts_with(char::is_uppercase) && !touches;
    let next = tokens.get(index + 1).map_or("", |next| &*next.lower);
    match &*previous.lower {
        lower if TITLES.contains(&lower) => false,
        lower if ABBREVIATIONS.contains(&lower) => is_capital || rest.is_empty(),
        // `J. Smith`
        _ if is_initial => rest.is_empty() || FUNCTION.contains(next),
        _ => true,
    }
}
