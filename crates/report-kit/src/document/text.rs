//! Conversion of untrusted text: hidden characters made visible, overlong text cut.

use std::borrow::Cow;

use maud::{Markup, html};
use visible_text::{is_invisible, is_line_separator};

/// The maximum length in characters of a heading, a caption or a name.
pub(crate) const TITLE: usize = 300;
/// The maximum length in characters of a table cell or a fact.
pub(crate) const CELL: usize = 2_000;
/// The maximum length in characters of a paragraph, a code block, a side of a diff or an entry of a list.
pub(crate) const BLOCK: usize = 20_000;

/// Returns the text with every hidden or reordering character made visible.
///
/// `\r\n` becomes `\n`; line feeds and tabs stay. Other controls, direction controls, invisible characters, private-use characters
/// and noncharacters become their code points (`⟨U+202E⟩`), which every font can show. Letters of right-to-left scripts,
/// combining marks and the joiners of emoji stay as they are.
///
/// ```
/// assert_eq!(report_kit::visible("a\u{1b}[31m\u{202e}b\r\nc"), "a⟨U+001B⟩[31m⟨U+202E⟩b\nc");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\r' if rest.peek() == Some(&'\n') => {}
            other if is_hidden(other) => {
                shown.push_str(&code_point(other));
            }
            other => shown.push(other),
        }
    }
    Cow::Owned(shown)
}

fn code_point(character: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(character))
}

/// Returns whether a character is invisible or changes how its neighbours are shown. Joiners and variation selectors are not
/// hidden: scripts and emoji need them.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Interlinear annotation; private use, which every font shows as something else; noncharacters.
        '\u{fff9}'..='\u{fffb}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{f0000}'..='\u{10ffff}'
        | '\u{fdd0}'..='\u{fdef}' => true,
        other => {
            other.is_control()
                || is_invisible(other)
                || is_line_separator(other)
                || u32::from(other) & 0xfffe == 0xfffe
        }
    }
}

/// Returns the first `limit` characters, and the total number if there are more.
pub(crate) fn cut(text: &str, limit: usize) -> (&str, Option<usize>) {
    // No text has more characters than bytes, so short texts are not counted.
    if text.len() <= limit {
        return (text, None);
    }
    match text.char_indices().nth(limit) {
        None => (text, None),
        Some((end, _)) => (&text[..end], Some(text.chars().count())),
    }
}

/// Renders the text of an element: hidden characters made visible, cut with a note.
pub(crate) fn markup(text: &str, limit: usize) -> Markup {
    let (kept, total) = cut(text, limit);
    html! { (visible(kept)) @if let Some(total) = total { (cut_note(limit, total)) } }
}

/// The minimum length in bytes of a word that may be broken.
const LONG_WORD: usize = 12;

/// Renders the text of a cell or a name as [`markup`] does, and allows line breaks in long words after `_`, `-` and `/`.
///
/// The break is an empty element, so that copied text does not contain it.
pub(crate) fn breakable(text: &str, limit: usize) -> Markup {
    let (kept, total) = cut(text, limit);
    let shown = visible(kept);
    html! {
        @for (index, piece) in pieces(&shown).into_iter().enumerate() {
            @if index > 0 { wbr; }
            (piece)
        }
        @if let Some(total) = total { (cut_note(limit, total)) }
    }
}

/// Splits the text at the positions where a line may end.
fn pieces(text: &str) -> Vec<&str> {
    let is_joint = |byte: u8| matches!(byte, b'_' | b'-' | b'/');
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let (mut begun, mut place) = (0, 0);
    for word in text.split_inclusive(char::is_whitespace) {
        let end = place + word.trim_end().len();
        if end - place >= LONG_WORD {
            let inside = place + 1..end;
            for cut in inside.filter(|at| is_joint(bytes[at - 1]) && !is_joint(bytes[*at])) {
                pieces.push(&text[begun..cut]);
                begun = cut;
            }
        }
        place += word.len();
    }
    pieces.push(&text[begun..]);
    pieces
}

/// Renders the note at the end of a text that was cut.
pub(crate) fn cut_note(limit: usize, total: usize) -> Markup {
    html! { " " span class="cut" { "[cut: the first " (limit) " of " (total) " characters]" } }
}

/// Returns a label for a drawing: one line, visible, cut with an ellipsis.
pub(crate) fn label(text: &str, limit: usize) -> String {
    let (kept, total) = cut(text, limit);
    let mut label: String = visible(kept).replace(['\n', '\t'], " ");
    if total.is_some() {
        label.push('…');
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_words_are_broken_and_only_at_their_joints() {
        let joined = |text| pieces(text).join("|");
        assert_eq!(
            joined("within_round_similarity of a-b"),
            "within_|round_|similarity of a-b"
        );
        assert_eq!(joined("a//experiments/x_/"), "a//|experiments/|x_/");
        assert_eq!(joined("_äöü_äöü_äöü-"), "_|äöü_|äöü_|äöü-");
        assert_eq!(joined(""), "");
        let shown = breakable("<b>_<i>_/&amp;_x", 100).into_string();
        assert_eq!(shown, "&lt;b&gt;_<wbr>&lt;i&gt;_/<wbr>&amp;amp;_<wbr>x");
    }
}
