use std::borrow::Cow;

use llm_types::Warning;

/// The body as valid JSON text: bytes that are not UTF-8 and unpaired surrogate escapes (`\\ud83d` alone) become U+FFFD.
/// Models that cut a text in the middle of a character produce these.
pub(crate) fn readable(body: &[u8]) -> Cow<'_, [u8]> {
    let text = as_text(body);
    match (repaired(&text), text) {
        (Some(text), _) | (None, Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        (None, Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
    }
}

/// The bytes as a text, with U+FFFD where they are not UTF-8. The check for valid text is several times as fast as
/// `from_utf8_lossy`, and almost every body is valid.
pub(crate) fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The warning about a body that [`readable`] changed.
pub(crate) fn repair_warning(body: &[u8], read: &[u8]) -> Option<Warning> {
    (body != read).then(|| {
        Warning::new(
            Warning::UTF8_REPAIRED,
            "parts of the response that are not Unicode text were replaced by U+FFFD",
        )
    })
}

/// The text with unpaired surrogates replaced; `None` if it contains none.
fn repaired(text: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        at += match (unit(&text[at..]), text.get(at + 6..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                parts.extend([&text[kept..at], "\\ufffd"]);
                kept = at + 6;
                6
            }
            // The backslash and what it escapes, which may be another one.
            _ => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    (kept > 0).then(|| parts.concat() + &text[kept..])
}

/// The code unit of an escape `\uXXXX` at the start of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // A sign is no digit.
    digits
        .bytes()
        .all(|digit| digit.is_ascii_hexdigit())
        .then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<String, serde_json::Error> {
        serde_json::from_slice(&readable(body.as_bytes()))
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_nothing_else() {
        for (body, text) in [
            (r#""a \ud83d b""#, "a \u{fffd} b"),
            (r#""a \ude00 b""#, "a \u{fffd} b"),
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""\ud83d\ud83d\ude00\ude00""#, "\u{fffd}\u{1f600}\u{fffd}"),
            (r#""\\ud83d \\\ud83d""#, "\\ud83d \\\u{fffd}"),
            (r#""\n\"\u0041 \uD83D""#, "\n\"A \u{fffd}"),
            (r#""plain""#, "plain"),
        ] {
            assert_eq!(read(body).unwrap(), text, "{body}");
        }
        assert!(matches!(
            readable(br#""\ud83d\ude00 \\ud83d""#),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn what_is_no_json_stays_so() {
        for body in [
            "\"\\",
            "\"\\u",
            "\"\\ud8",
            "\"\\ud83",
            "\\\u{e9}",
            "\"\\u+123\"",
        ] {
            assert!(read(body).is_err(), "{body}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let text: String = serde_json::from_slice(&readable(b"\"a \xff b\"")).unwrap();
        assert_eq!(text, "a \u{fffd} b");
    }
}
