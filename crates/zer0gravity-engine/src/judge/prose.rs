//! Numbers in the words around a judge's object.

use std::iter::Peekable;

/// English words for numbers, as a judge may write a score.
const WORDS: [(&str, u8); 24] = [
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("hundred", 100),
];

/// The numbers in `text`, in digits of any script or in English words; `None` for one that is not written in ASCII. Scales are
/// left out: both ends of `0-40` and of `0 to 40`, and, where `max` is 40, the 40 of `12/40` and `12 out of 40`.
pub(super) fn numbers(text: &str, max: u8) -> Vec<Option<f64>> {
    let is_max = |token: &Token| *token == Token::Number(Some(f64::from(max)));
    let tokens = tokens(text);
    let mut rest = tokens.as_slice();
    let mut found = Vec::new();
    while let Some((token, behind)) = rest.split_first() {
        rest = behind;
        let Token::Number(number) = token else {
            continue;
        };
        match behind {
            [Token::Range, Token::Number(Some(_)), ..] if *number == Some(0.0) => {
                rest = &behind[2..];
            }
            [Token::Of, top, ..] if is_max(top) => {
                found.push(*number);
                rest = &behind[2..];
            }
            _ => found.push(*number),
        }
    }
    found
}

/// A part of prose; marks without a meaning for numbers are left out.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// `None` if it has other digits than `0` to `9`.
    Number(Option<f64>),
    /// A dash or word between the two ends of a scale.
    Range,
    /// A slash or word between a number of points and the most there are.
    Of,
    /// Any other word, or the end of a sentence or paragraph.
    Other,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let token = if first.is_numeric() {
            let digits = run(first, &mut chars, |char| {
                char.is_numeric() || matches!(char, '.' | ',')
            });
            let digits = digits.trim_end_matches(['.', ',']).replace(',', ".");
            Token::Number(digits.parse().ok())
        } else if first.is_alphabetic() {
            let word = run(first, &mut chars, char::is_alphabetic).to_lowercase();
            match word.as_str() {
                "to" => Token::Range,
                "of" => Token::Of,
                "out" => continue,
                word => (WORDS.iter().find(|(name, _)| *name == word))
                    .map_or(Token::Other, |(_, number)| {
                        Token::Number(Some(f64::from(*number)))
                    }),
            }
        } else {
            match first {
                '-' | '\u{2013}' | '\u{2014}' => Token::Range,
                '/' => Token::Of,
                '.' | '!' | '?' | ';' | ':' | '\n' => Token::Other,
                _ => continue,
            }
        };
        tokens.push(token);
    }
    tokens
}

/// `first` and the characters after it that are `inside`.
fn run(
    first: char,
    chars: &mut Peekable<impl Iterator<Item = char>>,
    inside: impl Fn(char) -> bool,
) -> String {
    let mut run = String::from(first);
    while let Some(char) = chars.next_if(|char| inside(*char)) {
        run.push(char);
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_counts_but_the_scale() {
        for (text, expected) in [
            ("Score: 12/40", vec![Some(12.0)]),
            (
                "I settle on 3. It has five words",
                vec![Some(3.0), Some(5.0)],
            ),
            ("{\u{201c}Score\u{201d}: +12.5}", vec![Some(12.5)]),
            ("\u{661}\u{662}, \u{246b}, \u{ff11}", vec![None; 3]),
            (
                "12 out of 40, 3 of 5",
                vec![Some(12.0), Some(3.0), Some(5.0)],
            ),
            ("On the 0-40 scale, 0 to 40, I would give it this:", vec![]),
            ("not 40", vec![Some(40.0)]),
            ("a score of 40", vec![Some(40.0)]),
            ("from 30 to 40", vec![Some(30.0), Some(40.0)]),
            ("Twelve points", vec![Some(12.0)]),
            ("Sc\u{200b}ore: 1\u{200b}2", vec![Some(1.0), Some(2.0)]),
        ] {
            assert_eq!(numbers(text, 40), expected, "{text}");
        }
    }
}
