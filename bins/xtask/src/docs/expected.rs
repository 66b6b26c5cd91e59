//! Expected output: lines that may leave parts open, and the alignment of real output with them.

/// A mark, and whether it stands for a text.
type Mark = (&'static str, fn(&str) -> bool);

/// The parts of a line that a page may leave open, and the texts that each stands for.
const MARKS: [Mark; 5] = [
    ("[..]", |_| true),
    ("[TIME]", |text| {
        is_made_of(text, |c| c.is_ascii_digit() || "-:.TZ".contains(c))
    }),
    ("[SHA]", |text| {
        text.len() >= 6 && is_made_of(text, |c| c.is_ascii_hexdigit())
    }),
    ("[PATH]", |text| is_made_of(text, |c| !c.is_whitespace())),
    ("[NUM]", |text| {
        is_made_of(text, |c| c.is_ascii_digit() || ".,".contains(c))
    }),
];

/// A line that stands for any number of lines.
const ANY_LINES: &str = "...";

fn is_made_of(text: &str, allowed: fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(allowed)
}

/// Whether `text` is what the line of a page stands for.
fn is_match(line: &str, text: &str) -> bool {
    let marks = MARKS
        .iter()
        .filter_map(|(mark, fits)| Some((line.find(mark)?, mark, fits)));
    let Some((place, mark, fits)) = marks.min_by_key(|(place, ..)| *place) else {
        return line == text;
    };
    let Some(text) = text.strip_prefix(&line[..place]) else {
        return false;
    };
    let line = &line[place + mark.len()..];
    let mut ends = text.char_indices().map(|(end, _)| end).chain([text.len()]);
    ends.any(|end| fits(&text[..end]) && is_match(line, &text[end..]))
}

/// A line of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// The line of the page, which the output has, or `...`.
    Kept(&'a str),
    /// A line of the output that a `...` stands for.
    Open(&'a str),
    /// A line of the page that the output does not have.
    Missing(&'a str),
    /// A line of the output that the page does not have.
    Extra(&'a str),
}

/// Compares output with the expected lines, by the fewest changes.
pub fn compare<'a>(expected: &[&'a str], output: &[&'a str]) -> Vec<Change<'a>> {
    let (expected, output) = (trimmed(expected), trimmed(output));
    let (rows, columns) = (expected.len(), output.len());
    // The number of changes from each pair of places to both ends, filled from the ends.
    let mut costs = vec![vec![0_usize; columns + 1]; rows + 1];
    let fits = |row: usize, column: usize| is_match(expected[row], output[column]);
    for row in (0..=rows).rev() {
        for column in (0..=columns).rev() {
            if row == rows {
                costs[row][column] = columns - column;
                continue;
            }
            let is_open = expected[row] == ANY_LINES;
            let price = usize::from(!is_open);
            let mut cost = costs[row + 1][column] + price;
            if column < columns {
                cost = cost.min(costs[row][column + 1] + price);
                if fits(row, column) {
                    cost = cost.min(costs[row + 1][column + 1]);
                }
            }
            costs[row][column] = cost;
        }
    }
    let mut changes = Vec::new();
    let (mut row, mut column) = (0, 0);
    while row < rows || column < columns {
        let cost = costs[row][column];
        let has_both = row < rows && column < columns;
        let is_open = row < rows && expected[row] == ANY_LINES;
        if is_open {
            if cost == costs[row + 1][column] {
                changes.push(Change::Kept(ANY_LINES));
                row += 1;
            } else {
                changes.push(Change::Open(output[column]));
                column += 1;
            }
        } else if has_both && cost == costs[row + 1][column + 1] && fits(row, column) {
            changes.push(Change::Kept(expected[row]));
            row += 1;
            column += 1;
        } else if row < rows && cost == costs[row + 1][column] + 1 {
            changes.push(Change::Missing(expected[row]));
            row += 1;
        } else {
            changes.push(Change::Extra(output[column]));
            column += 1;
        }
    }
    changes
}

/// The lines without white space at their ends, and without blank lines at the end.
fn trimmed<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// Whether the output is as expected.
pub fn is_equal(changes: &[Change]) -> bool {
    let is_held = |change: &Change| matches!(change, Change::Kept(_) | Change::Open(_));
    changes.iter().all(is_held)
}

/// The lines that replace the expected ones, so that they are those of the output.
pub fn corrected(changes: &[Change]) -> Vec<String> {
    let lines = changes.iter().filter_map(|change| match change {
        Change::Kept(line) | Change::Extra(line) => Some((*line).to_owned()),
        Change::Open(_) | Change::Missing(_) => None,
    });
    lines.collect()
}

/// The comparison as text: `-` before a line of the page alone, `+` before one of the output alone, `.` before one that is left open.
pub fn shown(changes: &[Change]) -> String {
    let line = |change: &Change| match change {
        Change::Kept(line) => format!("    {line}\n"),
        Change::Open(line) => format!("  . {line}\n"),
        Change::Missing(line) => format!("  - {line}\n"),
        Change::Extra(line) => format!("  + {line}\n"),
    };
    changes.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_leave_parts_open() {
        for (line, text, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a[..]c", "abbc", true),
            ("a[..]", "a", true),
            ("took [NUM] s", "took 1.5 s", true),
            ("took [NUM] s", "took one s", false),
            ("[TIME] [..]", "2026-11-22T06:08:14.33Z é", true),
            ("head [SHA] (seq [NUM])", "head 3f0cab12 (seq 812)", true),
            ("head [SHA]", "head 3f0", false),
            ("in [PATH]", "in /a b", false),
        ] {
            assert_eq!(is_match(line, text), fits, "{line} {text}");
        }
    }

    #[test]
    fn output_is_compared_by_the_fewest_changes() {
        let compare = |expected: &str, output: &str| {
            let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
            shown(&compare(
                &lines(String::leak(expected.to_owned())),
                &lines(String::leak(output.to_owned())),
            ))
        };
        assert_eq!(
            compare("a\nb\nc", "a\nx\nc"),
            "    a\n  - b\n  + x\n    c\n"
        );
        assert_eq!(
            compare("a\n...\nc\n\n", "a \nb\n\nc"),
            "    a\n  . b\n  . \n    ...\n    c\n"
        );
        assert_eq!(compare("...", ""), "    ...\n");
        assert_eq!(
            compare("a\n...\nd", "a\nb"),
            "    a\n  . b\n    ...\n  - d\n"
        );
        assert_eq!(compare("", "a"), "  + a\n");
    }

    #[test]
    fn a_correction_keeps_what_is_open() {
        let changes = compare(
            &["took [NUM] s", "old", "...", "end"],
            &["took 2 s", "new", "end"],
        );
        assert!(!is_equal(&changes));
        assert!(is_equal(&compare(&["a", "...", "c"], &["a", "b", "c"])));
        let lines = corrected(&changes);
        assert_eq!(lines, ["took [NUM] s", "...", "end"]);
    }
}
