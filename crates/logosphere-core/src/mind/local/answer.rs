//! Answers in the format that minds are told, and beside it.

/// What a mind says to itself before it passes a text on.
const THOUGHT: &str = "I pass one on.";

/// One message, as the system prompt asks for it.
pub(super) fn message(text: &str) -> String {
    format!("{THOUGHT}\n---\n{text}{}---\n\n---\n", line_end(text))
}

/// No message, as the system prompt asks for it.
pub(super) fn silence() -> String {
    "I keep silent.\n---\n\n---\n".to_owned()
}

/// The ways in which [`disobedient`] answers.
pub(super) const MANNERS: u64 = 10;

/// One message in manner `manner`, below [`MANNERS`].
pub(super) fn disobedient(text: &str, manner: u64) -> String {
    let end = line_end(text);
    let begun = format!("{THOUGHT}\n---\n{text}");
    match manner {
        // A blank block of spaces.
        0 => format!("{begun}{end}---\n   \n---\n"),
        // Two delimiter lines with no line between them.
        1 => format!("{begun}{end}---\n---\n"),
        // One delimiter line and nothing behind it.
        2 => format!("{begun}{end}---\n"),
        // The text stops behind the message.
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

/// The line end that a reader takes off again: one LF would take a last CR with it.
fn line_end(text: &str) -> &'static str {
    if text.ends_with('\r') { "\r\n" } else { "\n" }
}
