//! Text that others wrote: what is shown of it.

use std::borrow::Cow;

use maud::{Markup, html};

/// Characters of a heading, a caption, a name.
pub(crate) const TITLE: usize = 300;
/// Characters of a table cell or a fact.
pub(crate) const CELL: usize = 2_000;
/// Characters of a paragraph, a code block, a side of a diff, an entry of a list.
pub(crate) const BLOCK: usize = 20_000;

/// The text with every character made visible that would hide, reorder or disappear.
///
/// `\r\n` becomes `\n`; line feeds and tabs stay. Other controls, direction controls, invisible characters, private use and
/// noncharacters become their code points (`⟨U+202E⟩`), which every font can show. Letters of right-to-left scripts,
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

/// Whether a character shows nothing by itself, or changes how its neighbours are shown.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Controls: C0, DEL, C1.
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        // Soft hyphen, grapheme joiner, fillers, Mongolian vowel separator.
        | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{3164}' | '\u{ffa0}'
        // Direction: marks, embeddings and overrides, isolates.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Zero-width space, word joiner and invisible operators, deprecated format characters, byte order mark.
        | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
        // Line and paragraph separators, interlinear annotation.
        | '\u{2028}' | '\u{2029}' | '\u{fff0}'..='\u{fffb}'
        // Private use: looks like anything.
        | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}'
        // Tags and the second set of variation selectors: they can carry a whole hidden text.
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{fdd0}'..='\u{fdef}' => true,
        other => u32::from(other) & 0xfffe == 0xfffe,
    }
}

/// The first `limit` characters, and how many there are when that is not all of them.
pub(crate) fn cut(text: &str, limit: usize) -> (&str, Option<usize>) {
    // No text has more characters than bytes: most texts are not counted at all.
    if text.len() <= limit {
        return (text, None);
    }
    match text.char_indices().nth(limit) {
        None => (text, None),
        Some((end, _)) => (&text[..end], Some(text.chars().count())),
    }
}

/// The text for an element: visible, and cut with a note.
pub(crate) fn markup(text: &str, limit: usize) -> Markup {
    let (kept, total) = cut(text, limit);
    html! { (visible(kept)) @if let Some(total) = total { (cut_note(limit, total)) } }
}

/// What stands where a text was cut.
pub(crate) fn cut_note(limit: usize, total: usize) -> Markup {
    html! { " " span class="cut" { "[cut: the first " (limit) " of " (total) " characters]" } }
}

/// A short label in a drawing: one line, visible, cut with an ellipsis.
pub(crate) fn label(text: &str, limit: usize) -> String {
    let (kept, total) = cut(text, limit);
    let mut label: String = visible(kept).replace(['\n', '\t'], " ");
    if total.is_some() {
        label.push('…');
    }
    label
}
