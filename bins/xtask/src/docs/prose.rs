//! The text of a page outside of its blocks, taken apart into prose and code.

use super::page::Page;

/// The lines of a page with spaces in place of their code, each with its index.
pub fn without_code(page: &Page) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (begin, paragraph) in paragraphs(page) {
        let mut text = String::new();
        for (is_code, piece) in pieces(&paragraph) {
            if is_code {
                text.push(' ');
                text.extend(piece.matches('\n'));
            } else {
                text.push_str(piece);
            }
        }
        let lines = text.lines().map(str::to_owned).enumerate();
        found.extend(lines.map(|(line, text)| (begin + line, text)));
    }
    found
}

/// The code in back-ticks, each piece with the index of its first line.
pub fn code(page: &Page) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (begin, paragraph) in paragraphs(page) {
        let mut line = begin;
        for (is_code, piece) in pieces(&paragraph) {
            if is_code {
                found.push((line, piece.replace('\n', " ").trim().to_owned()));
            }
            line += piece.matches('\n').count();
        }
    }
    found
}

/// The paragraphs, items, headings and rows, each with the index of its first line. No code reaches from one into the next.
fn paragraphs(page: &Page) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut next = None;
    for (index, line) in page.prose() {
        match found.last_mut() {
            Some((_, text)) if next == Some(index) && !is_begin(line) => {
                text.push('\n');
                text.push_str(line);
            }
            _ => found.push((index, line.to_owned())),
        }
        // A blank line ends a paragraph.
        next = (!line.trim().is_empty()).then_some(index + 1);
    }
    found
}

/// Whether a line does not continue the one before it.
fn is_begin(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.len() && rest.starts_with(". ");
    is_numbered || line.is_empty() || line.starts_with(['#', '|', '>', '-', '*', '+'])
}

/// The pieces of a text, each with whether it is code: between two runs of the same number of back-ticks.
fn pieces(text: &str) -> Vec<(bool, &str)> {
    let mut found = Vec::new();
    let (mut begin, mut place) = (0, 0);
    while let Some(offset) = text[place..].find('`') {
        let open = place + offset;
        let ticks = run(&text[open..]);
        place = open + ticks;
        let is_escaped = text[..open].ends_with('\\');
        if let (Some(end), false) = (closing(text, place, ticks), is_escaped) {
            found.push((false, &text[begin..open]));
            found.push((true, &text[place..end]));
            place = end + ticks;
            begin = place;
        }
    }
    found.push((false, &text[begin..]));
    found
}

/// The number of back-ticks at the beginning.
fn run(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// The place after `begin` of a run of this number of back-ticks.
fn closing(text: &str, begin: usize, ticks: usize) -> Option<usize> {
    let mut place = begin;
    while let Some(offset) = text[place..].find('`') {
        let found = place + offset;
        let length = run(&text[found..]);
        if length == ticks {
            return Some(found);
        }
        place = found + length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_prose_as_markdown_does() {
        let text =
            "a `b\nc` d\n\nno ` end\n\n- one `\n- two `x`\n``y ` z`` \\`w`\n```\n`no`\n```\n`e`";
        let page = Page::parse("p.md".to_owned(), text);
        let code: Vec<_> = code(&page);
        let code: Vec<_> = code
            .iter()
            .map(|(line, text)| (*line, text.as_str()))
            .collect();
        assert_eq!(code, [(0, "b c"), (6, "x"), (7, "y ` z"), (11, "e")]);
        let lines: Vec<_> = without_code(&page);
        let lines: Vec<_> = lines
            .iter()
            .map(|(line, text)| (*line, text.as_str()))
            .collect();
        let expected = [
            (0, "a  "),
            (1, " d"),
            (3, "no ` end"),
            (5, "- one `"),
            (6, "- two  "),
            (7, "  \\`w`"),
            (11, " "),
        ];
        let lines: Vec<_> = lines
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .collect();
        assert_eq!(lines, expected);
    }
}
