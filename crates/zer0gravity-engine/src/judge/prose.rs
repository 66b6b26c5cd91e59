//! Scores that a reply states in words.

/// Words that announce a score.
const CUES: [&str; 14] = [
    "score", "scores", "scored", "verdict", "rating", "rate", "rated", "grade", "give", "gives",
    "gave", "award", "assign", "points",
];
/// Words that may stand between such a word and its number.
const FILLERS: [&str; 20] = [
    "is", "was", "be", "would", "of", "it", "this", "that", "as", "at", "to", "a", "an", "the",
    "text", "only", "just", "about", "final", "mine",
];

/// The numbers that `text` announces as scores: after a word such as `score` or `give`, and before `of 40` or `/40` where
/// `max` is 40. `None` for a number that is not written in ASCII digits.
pub(super) fn scores(text: &str, max: u8) -> Vec<Option<f64>> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) if CUES.contains(&word.as_str()) || word.ends_with("score") => {
                let rest = tokens[at + 1..].iter();
                let mut rest = rest.skip_while(|token| match token {
                    Token::Word(word) => FILLERS.contains(&word.as_str()),
                    _ => false,
                });
                if let Some(Token::Number(number)) = rest.next() {
                    found.push(*number);
                }
            }
            Token::Number(number) => {
                let rest = &tokens[at + 1..];
                let of = match rest {
                    [Token::Slash, Token::Number(of), ..] => *of,
                    [Token::Word(word), Token::Number(of), ..] if word == "of" => *of,
                    [Token::Word(out), Token::Word(word), Token::Number(of), ..]
                        if out == "out" && word == "of" =>
                    {
                        *of
                    }
                    _ => continue,
                };
                if of == Some(f64::from(max)) {
                    found.push(*number);
                }
            }
            _ => {}
        }
    }
    found
}

/// A part of prose; punctuation without a meaning for scores is left out.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// In small letters.
    Word(String),
    /// `None` if it has other digits than `0` to `9`.
    Number(Option<f64>),
    Slash,
    /// The end of a sentence or of a paragraph.
    End,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let piece = |inside: fn(char) -> bool| {
            let end = rest.find(|char: char| !inside(char));
            &rest[..end.unwrap_or(rest.len())]
        };
        let mut taken = char.len_utf8();
        if char.is_numeric() {
            let digits = piece(|char| char.is_numeric() || char == '.' || char == ',');
            taken = digits.len();
            let digits = digits.trim_end_matches(['.', ',']).replace(',', ".");
            tokens.push(Token::Number(digits.parse().ok()));
            if rest[..taken].ends_with('.') {
                tokens.push(Token::End);
            }
        } else if char.is_alphabetic() {
            let word = piece(|char| char.is_alphabetic() || char == '_');
            taken = word.len();
            tokens.push(Token::Word(word.to_lowercase()));
        } else if char == '/' {
            tokens.push(Token::Slash);
        } else if matches!(char, '.' | '!' | '?' | ';') || rest.starts_with("\n\n") {
            tokens.push(Token::End);
        }
        rest = &rest[taken..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_announced_as_scores() {
        for (text, expected) in [
            ("Score: 12/40", vec![Some(12.0), Some(12.0)]),
            ("I give 3. It has 5 words", vec![Some(3.0)]),
            ("{'score': 12,}", vec![Some(12.0)]),
            ("{\u{201c}Score\u{201d}: +12.5}", vec![Some(12.5)]),
            ("my final_score = 7", vec![Some(7.0)]),
            ("\"score\": \"\u{661}\u{662}\"", vec![None]),
            ("12 out of 40, 3 of 5", vec![Some(12.0)]),
            ("On the 0-40 scale I would give it this:\n\n", vec![]),
            ("The score reflects 3 lost words", vec![]),
            ("a high score. 12 words are lost", vec![]),
        ] {
            assert_eq!(scores(text, 40), expected, "{text}");
        }
    }
}
