/// Whether ECMAScript's `trim` takes it: Unicode's white space without U+0085, and U+FEFF.
pub(crate) fn is_js_space(char: char) -> bool {
    (char.is_whitespace() && char != '\u{85}') || char == '\u{feff}'
}

/// `s` without white space at its ends, as ECMAScript's `trim` does it.
///
/// ```
/// use zer0gravity_engine::text::js_trim;
/// assert_eq!(js_trim("\u{feff} a\u{a0}"), "a");
/// assert_eq!(js_trim("\u{85}a"), "\u{85}a");
/// ```
pub fn js_trim(s: &str) -> &str {
    s.trim_matches(is_js_space)
}

/// The first 20 characters of `s` on one line, with `...` when there is more.
///
/// ```
/// use zer0gravity_engine::text::preview;
/// assert_eq!(preview("Hello\r\nworld!"), "Hello world!");
/// assert_eq!(preview("The quick brown fox jumps"), "The quick brown fox...");
/// ```
pub fn preview(s: &str) -> String {
    const LENGTH: usize = 20;
    let line = s.replace("\r\n", " ").replace(['\n', '\r'], " ");
    match line.char_indices().nth(LENGTH) {
        None => line,
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
    }
}
