//! The texts of a script: its string literals with their lines, read without comments and regular expressions.

use crate::rust_source::Text;

/// The texts of a script, with an `X` for a value in a template.
pub fn texts(code: &str) -> Text {
    let code: Vec<_> = code.chars().collect();
    let mut this = Script {
        code: &code,
        place: 0,
        found: Text::new(),
    };
    this.read(None);
    this.found
}

struct Script<'a> {
    code: &'a [char],
    place: usize,
    found: Text,
}

impl Script<'_> {
    fn at(&self, text: &str) -> bool {
        let here = self.code.iter().skip(self.place);
        here.take(text.chars().count()).copied().eq(text.chars())
    }

    /// Moves to the place after `end`.
    fn skip(&mut self, end: &str) {
        while self.place < self.code.len() && !self.at(end) {
            self.place += 1;
        }
        self.place += end.len();
    }

    /// Reads code up to the brace that closes it, or to the end.
    fn read(&mut self, close: Option<char>) {
        let (mut depth, mut before) = (0_u32, '\n');
        while let Some(&letter) = self.code.get(self.place) {
            if self.at("//") {
                self.skip("\n");
                continue;
            } else if self.at("/*") {
                self.skip("*/");
                continue;
            }
            match letter {
                '\'' | '"' | '`' => self.text(letter),
                '/' if "\n(,=:[!&|?{};+>".contains(before) => self.regular_expression(),
                '{' => depth += 1,
                '}' if depth == 0 && close == Some('}') => return,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if letter == '\n' || !letter.is_whitespace() {
                before = letter;
            }
            self.place += 1;
        }
    }

    /// Reads a regular expression up to its last mark.
    fn regular_expression(&mut self) {
        let mut is_class = false;
        self.place += 1;
        while let Some(letter) = self.code.get(self.place) {
            match letter {
                '\\' => self.place += 1,
                '[' => is_class = true,
                ']' => is_class = false,
                '/' if !is_class => return,
                _ => {}
            }
            self.place += 1;
        }
    }

    /// Reads a text up to its last mark.
    fn text(&mut self, mark: char) {
        let lines = self.code[..self.place].iter();
        let line = 1 + lines.filter(|letter| **letter == '\n').count();
        let mut text = String::new();
        self.place += 1;
        while let Some(&letter) = self.code.get(self.place).filter(|it| **it != mark) {
            if letter == '\\' {
                self.place += 1;
                text.push(' ');
            } else if mark == '`' && self.at("${") {
                self.place += 2;
                self.read(Some('}'));
                text.push('X');
            } else {
                text.push(letter);
            }
            self.place += 1;
        }
        self.found.push((line, text));
    }
}

#[test]
fn the_texts_of_a_script_are_found() {
    let code = "// it's 'no'\n/* \"no\" */ const a = { 'b c': `d ${f(\"e\", { g: 1 })} h` };\nx = s.replace(/['\"/]/g, 'i') / 2;\nreturn \"j's \\\n k\";";
    let found = texts(code);
    let found: Vec<_> = found
        .iter()
        .map(|(line, text)| (*line, text.as_str()))
        .collect();
    let expected = [(2, "b c"), (2, "e"), (2, "d X h"), (3, "i"), (4, "j's   k")];
    assert_eq!(found, expected);
}
