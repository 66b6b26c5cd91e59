//! A terminal of 80 columns as an SVG picture: lines of text with the colours of their escape sequences.

use std::fmt::Write as _;

/// The size of a character cell and the margin, in pixels. The font is scaled to the cell by `textLength`.
const CELL: (f64, f64) = (8.4, 20.0);
const MARGIN: f64 = 18.0;
const COLUMNS: usize = 80;

/// The colours of a picture.
pub struct Theme {
    background: &'static str,
    text: &'static str,
    good: &'static str,
    bad: &'static str,
    unsure: &'static str,
}

pub const LIGHT: Theme = Theme {
    background: "#f6f8fa",
    text: "#1f2328",
    good: "#116329",
    bad: "#a40e26",
    unsure: "#6f4e00",
};

pub const DARK: Theme = Theme {
    background: "#161b22",
    text: "#e6edf3",
    good: "#56d364",
    bad: "#ff7b72",
    unsure: "#e3b341",
};

/// The look of a piece of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    /// The number of the colour: 1 red, 2 green, 3 yellow, 0 that of the text.
    colour: u8,
    bold: bool,
}

/// Returns the picture. A line longer than the terminal continues on the next one.
pub fn draw(lines: &[String], theme: &Theme) -> String {
    let rows: Vec<_> = lines.iter().flat_map(|line| rows(line)).collect();
    let (width, height) = (
        CELL.0 * COLUMNS as f64 + 2.0 * MARGIN,
        CELL.1 * rows.len() as f64 + 2.0 * MARGIN,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" \
         font-size=\"14\" fill=\"{}\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n",
        theme.text, theme.background
    );
    for (row, pieces) in rows.iter().enumerate() {
        let y = MARGIN + CELL.1 * (row as f64 + 0.75);
        let mut column = 0;
        for (look, text) in pieces {
            let length = text.chars().count();
            if !text.trim().is_empty() {
                let x = MARGIN + CELL.0 * column as f64;
                // A String takes everything.
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y:.0}\" textLength=\"{:.1}\" xml:space=\"preserve\"{}>{}</text>",
                    CELL.0 * length as f64,
                    look.attributes(theme),
                    escape(text)
                );
            }
            column += length;
        }
    }
    svg + "</svg>\n"
}

impl Look {
    fn attributes(self, theme: &Theme) -> String {
        let fill = match self.colour {
            1 => format!(" fill=\"{}\"", theme.bad),
            2 => format!(" fill=\"{}\"", theme.good),
            3 => format!(" fill=\"{}\"", theme.unsure),
            _ => String::new(),
        };
        let weight = if self.bold {
            " font-weight=\"bold\""
        } else {
            ""
        };
        fill + weight
    }
}

/// The rows of a line, each a list of pieces of one look.
fn rows(line: &str) -> Vec<Vec<(Look, String)>> {
    let mut rows = vec![Vec::new()];
    let mut column = 0;
    let mut look = Look::default();
    let mut piece = String::new();
    let mut rest = line.chars();
    let end = |rows: &mut Vec<Vec<_>>, look: Look, piece: &mut String| {
        if let (Some(row), false) = (rows.last_mut(), piece.is_empty()) {
            row.push((look, std::mem::take(piece)));
        }
    };
    while let Some(char) = rest.next() {
        if char == '\u{1b}' {
            end(&mut rows, look, &mut piece);
            let sequence: String = rest.by_ref().take_while(|char| *char != 'm').collect();
            for code in sequence.trim_start_matches('[').split(';') {
                match code {
                    "" | "0" => look = Look::default(),
                    "1" => look.bold = true,
                    "31" => look.colour = 1,
                    "32" => look.colour = 2,
                    "33" => look.colour = 3,
                    _ => {}
                }
            }
            continue;
        }
        if column == COLUMNS {
            end(&mut rows, look, &mut piece);
            rows.push(Vec::new());
            column = 0;
        }
        piece.push(char);
        column += 1;
    }
    end(&mut rows, look, &mut piece);
    rows
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_pieces_and_long_lines_continue() {
        let pieces = rows("a \u{1b}[1m\u{1b}[32mPASS\u{1b}[0m <");
        let green = Look {
            colour: 2,
            bold: true,
        };
        let plain = Look::default();
        let expected = [
            (plain, "a ".into()),
            (green, "PASS".into()),
            (plain, " <".into()),
        ];
        assert_eq!(pieces, [expected.to_vec()]);
        let long = rows(&"x".repeat(COLUMNS + 3));
        assert_eq!(
            long.iter().map(|row| row[0].1.len()).collect::<Vec<_>>(),
            [80, 3]
        );
    }

    #[test]
    fn text_is_escaped_and_both_schemes_differ_in_colours_only() {
        let lines = ["$ x '<>&'".to_owned(), "\u{1b}[31mFAIL\u{1b}[0m".to_owned()];
        let light = draw(&lines, &LIGHT);
        assert!(light.contains("x '&lt;&gt;&amp;'"), "{light}");
        assert!(light.contains(" fill=\"#a40e26\">FAIL<"), "{light}");
        let dark = draw(&lines, &DARK);
        assert_eq!(light.lines().count(), dark.lines().count());
        assert_ne!(light, dark);
    }
}
