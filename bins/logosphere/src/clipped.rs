//! A line that fits a terminal.

use bin_support::escape;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The beginning of the printable text, with `…` where it is cut: at most `columns` columns of a terminal.
pub fn clipped(text: &str, columns: usize) -> String {
    // A long text is not escaped as a whole; some of its characters may have no column.
    let end = text.char_indices().nth(4 * columns);
    let (text, is_whole) = end.map_or((text, true), |(end, _)| (&text[..end], false));
    let text = escape(text);
    if is_whole && text.width() <= columns {
        return text;
    }
    let mut clipped = String::new();
    let mut free = columns.saturating_sub(1);
    for char in text.chars() {
        let width = char.width().unwrap_or(0);
        if width > free {
            break;
        }
        free -= width;
        clipped.push(char);
    }
    if columns > 0 {
        clipped.push('…');
    }
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_text_has_at_most_its_columns() {
        assert_eq!(clipped("0123", 4), "0123");
        assert_eq!(clipped("01234", 4), "012…");
        assert_eq!(clipped("a\u{1b}b", 4), r"a\u…");
        assert_eq!(clipped("\u{6587}\u{6587}\u{6587}", 4), "\u{6587}…");
        assert_eq!(clipped("ab", 0), "");
    }
}
