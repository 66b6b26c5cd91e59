//! Untrusted text made safe for a terminal.

use visible_text::{is_direction_control, is_invisible, is_line_separator};

/// The text with an escape for every control character, every character that changes the reading direction, and every one
/// that is drawn as nothing.
///
/// So the name of a law cannot move the cursor, reorder the rest of the line or hide in it. Line and paragraph separators are
/// escaped, too. What emoji and scripts need stays: joiners, variation selectors and combining marks.
pub fn escape(text: &str) -> String {
    let is_escaped = |char: char| {
        char.is_control()
            || is_direction_control(char)
            || is_line_separator(char)
            || is_invisible(char)
    };
    text.chars()
        .fold(String::with_capacity(text.len()), |mut out, char| {
            if is_escaped(char) {
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
    fn no_line_of_a_terminal_is_invisible() {
        let hidden = "\u{ad}\u{feff}\u{200b}\u{2060}\u{e0000}\u{e0041}\u{e007f}\u{3164}";
        let shown = r"\u{ad}\u{feff}\u{200b}\u{2060}\u{e0000}\u{e0041}\u{e007f}\u{3164}";
        assert_eq!(escape(hidden), shown);
        // A family, a flag, a heart in colour, a keycap, Persian, Hindi, Mongolian, and an accent of two characters.
        for ordinary in [
            "👩\u{200d}👩\u{200d}👧",
            "🏳\u{fe0f}\u{200d}🌈",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
            "ᠠ\u{180b}",
            "e\u{301}",
        ] {
            assert_eq!(escape(ordinary), ordinary);
        }
    }

    #[test]
    fn long_text_keeps_both_ends() {
        assert_eq!(shortened("0123456789", 10), "0123456789");
        assert_eq!(shortened("0123456789A", 7), "0123…9A");
    }
}
