//! Untrusted text made safe for a terminal.

use visible_text::{is_direction_control, is_line_separator};

/// The text with an escape for every control character and every character that changes the reading direction.
///
/// So the name of a law cannot move the cursor or reorder the rest of the line. Line and paragraph separators are escaped,
/// too.
pub fn escape(text: &str) -> String {
    text.chars()
        .fold(String::with_capacity(text.len()), |mut out, char| {
            if char.is_control() || is_direction_control(char) || is_line_separator(char) {
                out.extend(char.escape_default());
            } else {
                out.push(char);
            }
            out
        })
}

/// At most `limit` characters of the printable text: its beginning, `…`, and its end.
pub fn shortened(text: &str, limit: usize) -> String {
    let text = escape(text);
    let length = text.chars().count();
    if length <= limit {
        return text;
    }
    let tail = limit / 3;
    let head = limit - tail - 1;
    let mut short: String = text.chars().take(head).collect();
    short.push('…');
    short.extend(text.chars().skip(length - tail));
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        assert_eq!(escape("a\u{1b}[2Jb\n\u{202e}"), r"a\u{1b}[2Jb\n\u{202e}");
        assert_eq!(escape("Übung <script>"), "Übung <script>");
    }

    #[test]
    fn long_text_keeps_both_ends() {
        assert_eq!(shortened("0123456789", 10), "0123456789");
        assert_eq!(shortened("0123456789A", 7), "0123…9A");
    }
}
