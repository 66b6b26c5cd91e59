//! Answers in the requested format, and with deviations from it.

/// The thinking of a mind before it passes a text on.
const THOUGHT: &str = "I pass one on.";

/// Returns an answer with one message in the requested format.
pub(super) fn message(text: &str) -> String {
    format!("{THOUGHT}\n---\n{text}{}---\n\n---\n", line_end(text))
}

/// Returns an answer without a message in the requested format.
pub(super) fn silence() -> String {
    "I keep silent.\n---\n\n---\n".to_owned()
}

/// The number of deviations that [`disobedient`] knows.
pub(super) const MANNERS: u64 = 10;

/// Returns an answer with one message and deviation `manner`, below [`MANNERS`].
pub(super) fn disobedient(text: &str, manner: u64) -> String {
    let end = line_end(text);
    let begun = format!("{THOUGHT}\n---\n{text}");
    match manner {
        // A blank block of spaces.
        0 => format!("{begun}{end}---\n   \n---\n"),
        // Two delimiter lines with no line between them.
        1 => format!("{begun}{end}---\n---\n"),
        // One delimiter line with nothing after it.
        2 => format!("{begun}{end}---\n"),
        // The text ends after the message.
        3 => begun,
        4 => silence(),
        5 => format!("{begun}{end}---\n\n---\n~contrary\n"),
        6 => format!("{begun}{end}---\n\n---\n~init\n"),
        // Lines that end in CR LF.
        7 => format!("{THOUGHT}\r\n---\r\n{text}\r\n---\r\n\r\n---\r\n"),
        // A message and nothing else.
        8 => format!("{text}\n"),
        // Delimiters of four dashes.
        _ => format!("{THOUGHT}\n----\n{text}{end}----\n\n----\n"),
    }
}

/// Returns the line end that a parser removes again: after a CR, a single LF would remove the CR too.
fn line_end(text: &str) -> &'static str {
    if text.ends_with('\r') { "\r\n" } else { "\n" }
}
