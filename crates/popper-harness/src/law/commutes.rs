//! The claim of a symmetry as text: `commutes(NAME)`, `commutes('NAME')` or `commutes(transform='NAME')`.

use super::syntax::{QUOTES, SyntaxError};

/// Reads the name of the transform.
///
/// It has its own grammar, since the names of shifts, such as `shift_-1`, are not names in the grammar of claims.
pub(super) fn parse(text: &str) -> Result<String, SyntaxError> {
    let mut cursor = Cursor {
        chars: text.chars().collect(),
        at: 0,
    };
    if !cursor.eat("commutes") || !cursor.eat("(") {
        return cursor.fail("`commutes(TRANSFORM)`");
    }
    let start = cursor.at;
    if !(cursor.eat("transform") && cursor.eat("=")) {
        cursor.at = start;
    }
    let name = cursor.name()?;
    if !cursor.eat(")") {
        return cursor.fail("`)`");
    }
    cursor.blanks();
    if cursor.at < cursor.chars.len() {
        return cursor.fail("the end");
    }
    Ok(name)
}

struct Cursor {
    chars: Vec<char>,
    at: usize,
}

impl Cursor {
    fn blanks(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// Consumes a word or sign, and the blanks before it, if it is next.
    fn eat(&mut self, word: &str) -> bool {
        self.blanks();
        let there = word.chars().enumerate();
        let there = there
            .into_iter()
            .all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        if there {
            self.at += word.chars().count();
        }
        there
    }

    fn name(&mut self) -> Result<String, SyntaxError> {
        self.blanks();
        let is_quote = |c: char| matches!(c, '\'' | '"') || QUOTES.contains(&c);
        let quoted = self.chars.get(self.at).is_some_and(|&c| is_quote(c));
        self.at += usize::from(quoted);
        let rest = &self.chars[self.at..];
        let is_part = |c: char| {
            if quoted {
                !is_quote(c)
            } else {
                c.is_alphanumeric() || matches!(c, '_' | '-')
            }
        };
        let name: String = rest.iter().copied().take_while(|&c| is_part(c)).collect();
        if name.trim().is_empty() {
            return self.fail("the name of a transform");
        }
        self.at += name.chars().count();
        if quoted && self.at == self.chars.len() {
            return self.fail("the closing quote");
        }
        self.at += usize::from(quoted);
        Ok(name)
    }

    fn fail<T>(&self, expected: &str) -> Result<T, SyntaxError> {
        let found = self.chars.get(self.at);
        let found = found.map_or_else(|| "the end".into(), |found| format!("`{found}`"));
        let message = format!("expected {expected}, found {found}");
        Err(SyntaxError::at(self.at + 1, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_spellings() {
        for text in [
            "commutes(shift_-1)",
            " commutes ( 'shift_-1' ) ",
            "commutes(\"shift_-1\")",
            "commutes(transform='shift_-1')",
            "commutes(transform = ‘shift_-1’)",
        ] {
            assert_eq!(parse(text).as_deref(), Ok("shift_-1"), "{text}");
        }
        assert_eq!(parse("commutes(transform)").as_deref(), Ok("transform"));
    }

    #[test]
    fn errors_name_the_column() {
        for (text, message) in [
            (
                "",
                "column 1: expected `commutes(TRANSFORM)`, found the end",
            ),
            (
                "it commutes",
                "column 1: expected `commutes(TRANSFORM)`, found `i`",
            ),
            (
                "commutes(mirror_swop",
                "column 21: expected `)`, found the end",
            ),
            (
                "commutes()",
                "column 10: expected the name of a transform, found `)`",
            ),
            (
                "commutes('a)",
                "column 13: expected the closing quote, found the end",
            ),
            (
                "commutes(a) always",
                "column 13: expected the end, found `a`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}
