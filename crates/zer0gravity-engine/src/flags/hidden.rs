//! Characters that nobody sees, and that a model reads.

use std::collections::HashSet;

/// The first hidden character of `text` that does not stand in `original` too.
pub(super) fn hidden_character(text: &str, original: &str) -> Option<char> {
    let known: HashSet<char> = original.chars().filter(|char| is_hidden(*char)).collect();
    let mut before = '\0';
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        let used = joins(before, char, rest.peek().copied());
        if is_hidden(char) && !used && !known.contains(&char) {
            return Some(char);
        }
        before = char;
    }
    None
}

/// Zero-width, bidi and tag characters, and what else is blank and not white space.
fn is_hidden(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e01ef}')
}

/// Whether it is a joiner where writing needs one: in scripts that join letters, and in emoji made of several.
fn joins(before: char, char: char, behind: Option<char>) -> bool {
    let script = |char| matches!(char, '\u{600}'..='\u{dff}');
    let emoji =
        |char| matches!(char, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}');
    match char {
        '\u{200c}' => script(before) && behind.is_some_and(script),
        '\u{200d}' => script(before) || emoji(before) && behind.is_some_and(emoji),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_and_what_is_needed() {
        for (text, found) in [
            ("plain ünïcode 漢字\t\n", None),
            ("a\u{200b}b", Some('\u{200b}')),
            ("a\u{202e}b", Some('\u{202e}')),
            ("a\u{e0041}", Some('\u{e0041}')),
            ("a\u{200d}b", Some('\u{200d}')),
            ("می\u{200c}خواهم", None),
            ("👩\u{200d}👩\u{200d}👧", None),
            ("❤\u{fe0f}\u{200d}🔥", None),
            ("\u{200d}👩", Some('\u{200d}')),
        ] {
            assert_eq!(hidden_character(text, ""), found, "{text}");
        }
        assert_eq!(hidden_character("a\u{200b}", "\u{200b}"), None);
        assert_eq!(
            hidden_character("\u{200b}\u{2060}", "\u{200b}"),
            Some('\u{2060}')
        );
    }
}
