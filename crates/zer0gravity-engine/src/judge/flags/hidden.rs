//! Characters that a reader does not see and a model reads.

use std::collections::HashSet;

use visible_text::is_ignorable;

/// The first hidden character of `text` that does not stand in `original` too.
pub(super) fn hidden_character(text: &str, original: &str) -> Option<char> {
    let known: HashSet<char> = original.chars().filter(|c| is_ignorable(*c)).collect();
    let mut before = '\0';
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        let used = is_used(before, char, rest.peek().copied());
        if is_ignorable(char) && !used && !known.contains(&char) {
            return Some(char);
        }
        before = char;
    }
    None
}

/// Whether a script needs the character: a joiner between letters of scripts that join them or between emoji, and a
/// variation selector after an emoji.
fn is_used(before: char, char: char, behind: Option<char>) -> bool {
    let script = |char| matches!(char, '\u{600}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{a840}'..='\u{a8ff}');
    let emoji = |char| {
        matches!(char, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{2bff}'
            | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
    };
    let keycap = |char: char| matches!(char, '0'..='9' | '#' | '*');
    match char {
        '\u{200c}' => script(before) && behind.is_some_and(script),
        '\u{200d}' => {
            script(before)
                && behind.is_none_or(|behind| script(behind) || !behind.is_alphanumeric())
                || (emoji(before) || before == '\u{fe0f}') && behind.is_some_and(emoji)
        }
        '\u{fe0e}' | '\u{fe0f}' => emoji(before) || keycap(before) && behind == Some('\u{20e3}'),
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

    #[test]
    fn z32_every_ignorable_character_is_hidden_unless_writing_needs_it() {
        for char in ('\u{fe00}'..='\u{fe0f}').chain([
            '\u{34f}',
            '\u{17b4}',
            '\u{180e}',
            '\u{e01ef}',
            '\u{1d173}',
        ]) {
            assert_eq!(
                hidden_character(&format!("a{char}b"), ""),
                Some(char),
                "{char:?}"
            );
        }
        for text in [
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "☎\u{fe0e}",
            "©\u{fe0f}",
            "🏳\u{fe0f}\u{200d}🌈",
            "क\u{94d}\u{200d}ष",
        ] {
            assert_eq!(hidden_character(text, ""), None, "{text}");
        }
        for text in ["❤\u{fe01}", "1\u{fe0f}", "\u{fe0f}❤", "a\u{200c}b"] {
            assert!(hidden_character(text, "").is_some(), "{text:?}");
        }
    }
}
