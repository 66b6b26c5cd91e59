//! The lexer of expressions for the mask: it cuts a text as the grammar does, without its errors.

use popper_harness::law::syntax::QUOTES;

/// A part of a text. The parts of a text, one after another, are the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFragment<'a> {
    /// The text between two quotes, without them.
    Quoted(&'a str),
    /// A whole name.
    Word(&'a str),
    /// Any other text: operators, numbers, spaces, the quotes themselves.
    Other(&'a str),
}

/// Cuts a text into parts. A quote that is never closed is a character like any other.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = TextFragment<'_>> {
    let mut rest = text;
    let mut next = ScanStep::Any;
    // Behind the last quote of a kind none can be closed: found once, so that a text of quotes is still read in one go.
    let mut unclosed = [false; 3];
    std::iter::from_fn(move || {
        match next {
            ScanStep::Inside(length) => {
                next = ScanStep::Closing;
                return Some(TextFragment::Quoted(take(&mut rest, length)));
            }
            ScanStep::Closing => {
                next = ScanStep::Any;
                let quote = rest.chars().next().map_or(0, char::len_utf8);
                return Some(TextFragment::Other(take(&mut rest, quote)));
            }
            ScanStep::Any => {}
        }
        let first = rest.chars().next()?;
        Some(match first {
            quote if quote == '\'' || quote == '"' || QUOTES.contains(&quote) => {
                // Typographic quotes close each other in any pairing.
                let kind = match quote {
                    '\'' => 0,
                    '"' => 1,
                    _ => 2,
                };
                let width = quote.len_utf8();
                if !unclosed[kind] {
                    let found = if kind == 2 {
                        rest[width..].find(QUOTES)
                    } else {
                        rest[width..].find(quote)
                    };
                    match found {
                        Some(length) => next = ScanStep::Inside(length),
                        None => unclosed[kind] = true,
                    }
                }
                TextFragment::Other(take(&mut rest, width))
            }
            // A name cannot begin with a digit, but may follow one.
            '0'..='9' => {
                let length = run(rest, |c| c.is_ascii_digit());
                TextFragment::Other(take(&mut rest, length))
            }
            c if c.is_alphabetic() || c == '_' => {
                let length = run(rest, |c| c.is_alphanumeric() || c == '_');
                TextFragment::Word(take(&mut rest, length))
            }
            c => TextFragment::Other(take(&mut rest, c.len_utf8())),
        })
    })
}

/// The state of the lexer.
#[derive(Clone, Copy)]
enum ScanStep {
    Any,
    /// The number of bytes between two quotes.
    Inside(usize),
    /// The second quote.
    Closing,
}

fn take<'a>(rest: &mut &'a str, length: usize) -> &'a str {
    let (piece, after) = rest.split_at(length);
    *rest = after;
    piece
}

fn run(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|c| !wanted(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_as_the_grammar_cuts_it() {
        let text = "2cue + count('X\"')-_é9 \"a'b\" ‘Y’ 'open";
        let words: Vec<_> = pieces(text)
            .filter(|piece| !matches!(piece, TextFragment::Other(_)))
            .collect();
        assert_eq!(
            words,
            [
                TextFragment::Word("cue"),
                TextFragment::Word("count"),
                TextFragment::Quoted("X\""),
                TextFragment::Word("_é9"),
                TextFragment::Quoted("a'b"),
                TextFragment::Quoted("Y"),
                TextFragment::Word("open"),
            ]
        );
    }

    #[test]
    fn the_pieces_are_the_text() {
        for text in [
            "",
            "''",
            "'",
            "\"'\"'",
            "a'b'c\"",
            "é²'é'",
            "12_a",
            "‘é”'“",
            "‘",
        ] {
            let joined: String = pieces(text)
                .map(
                    |(TextFragment::Quoted(part)
                     | TextFragment::Word(part)
                     | TextFragment::Other(part))| part,
                )
                .collect();
            assert_eq!(joined, text);
        }
    }
}
