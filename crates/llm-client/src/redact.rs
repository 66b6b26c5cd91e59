use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use llm_types::KeyForms;
use secrecy::{ExposeSecret, SecretString};

/// The replacement of a key.
pub(crate) const HIDDEN: &str = KeyForms::All.mask();
/// Before a key in a header, in lower case.
const BEARER: &str = "bearer ";
/// A shorter key is a placeholder, such as `EMPTY` or `x` for a server that wants none, and a word of other texts.
const LEAST: usize = 8;
/// The number of bytes of a key that are searched for first.
const SEARCHED: usize = 16;
/// The maximum depth of JSON texts in JSON strings that are searched; tool arguments are a JSON text in a string.
const DEPTH: u32 = 4;

/// A redactor that removes keys from texts: the exact ones of a provider, and texts that look like keys. Clones share the
/// keys.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    keys: Arc<RwLock<Vec<SecretString>>>,
}

impl Redactor {
    /// A redactor for `key`.
    pub fn new(key: Option<SecretString>) -> Self {
        Self {
            keys: Arc::new(RwLock::new(key.into_iter().collect())),
        }
    }

    /// Adds `key`, also to all clones: for a key that the person enters while the program runs.
    pub fn learn(&self, key: SecretString) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        keys.push(key);
    }

    /// Whether `key` is one of the exact keys.
    pub(crate) fn knows(&self, key: &str) -> bool {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.iter().any(|known| known.expose_secret() == key)
    }

    /// `text` without the exact keys; `None` if it has none.
    pub(crate) fn without_keys(&self, text: &str) -> Option<String> {
        let may_hold = {
            let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
            let mut keys = keys.iter().map(ExposeSecret::expose_secret);
            keys.any(|key| may_hold(text, key))
        };
        let clean = may_hold.then(|| self.redact_exact(text.to_owned()));
        clean.filter(|clean| clean != text)
    }

    /// `text` with `hide` done for each key.
    fn each(&self, text: String, hide: impl Fn(String, &str) -> String) -> String {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let keys = keys.iter().map(ExposeSecret::expose_secret);
        keys.filter(|key| !key.is_empty()).fold(text, hide)
    }

    /// Removes keys from `text`: the exact ones, and what looks like one in any form.
    pub fn redact(&self, text: &str) -> String {
        KeyForms::All
            .hide(&self.redact_exact(text.to_owned()))
            .0
            .into_owned()
    }

    /// Removes keys from `text` that a person or a model wrote: the exact ones of at least 8 bytes, and those of a long form.
    pub fn redact_written(&self, text: &str) -> String {
        let text = self.each(text.to_owned(), |text, key| match key.len() {
            ..LEAST => text,
            _ => hide_exact(text, key),
        });
        KeyForms::Long.hide(&text).0.into_owned()
    }

    /// Removes the exact keys from `text` and changes nothing else; for recorded bodies.
    ///
    /// A key written with JSON escapes counts as the key, also in a JSON text inside a JSON string. A key of less than 8 bytes is
    /// hidden only if it is the whole text, since it may occur in unrelated words.
    pub fn redact_exact(&self, text: String) -> String {
        self.each(text, hide_exact)
    }

    /// The byte ranges of `text` that contain an exact key of at least 8 bytes.
    pub(crate) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let keys = keys.iter().map(ExposeSecret::expose_secret);
        keys.filter(|key| key.len() >= LEAST)
            .flat_map(|key| find(text, key))
            .collect()
    }
}

fn hide_exact(text: String, key: &str) -> String {
    if key.len() < LEAST {
        return hide_short(&text, key);
    }
    let found = find(&text, key);
    if found.is_empty() {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = 0;
    for Range { start, end } in found {
        clean.push_str(&text[rest..start]);
        clean.push_str(HIDDEN);
        rest = end;
    }
    clean + &text[rest..]
}

/// The start of the JSON escapes that can write a part of `key`.
fn escape_of(key: &str) -> &'static str {
    // Only `\u` can write a character that JSON needs no escape for.
    if key.contains(['"', '\\', '/']) {
        "\\"
    } else {
        "\\u"
    }
}

/// Whether `text` may hold `key`, which a longer search decides: its first characters are in it, or an escape.
fn may_hold(text: &str, key: &str) -> bool {
    // The standard library searches for a short text with vector instructions.
    let start = &key[..key.floor_char_boundary(SEARCHED)];
    text.contains(start) || key.len() >= LEAST && text.contains(escape_of(key))
}

/// The ranges of `text` that are `key`, in bytes and in their order, also where JSON escapes write a part of it.
fn find(text: &str, key: &str) -> Vec<Range<usize>> {
    if !text.contains(escape_of(key)) {
        let places = text.match_indices(key);
        return places.map(|(at, _)| at..at + key.len()).collect();
    }
    let bytes = text.as_bytes();
    let first = key.as_bytes()[0];
    let mut found: Vec<Range<usize>> = Vec::new();
    // Where the next character of a JSON string begins: a match inside of one would cut an escape in two.
    let mut boundary = 0;
    for at in 0..bytes.len() {
        let mut depths = 0..=0;
        if at >= boundary {
            boundary = at + read(&bytes[at..], 1).map_or(1, |(_, length)| length);
            depths = 0..=DEPTH;
        }
        if (bytes[at] != first && bytes[at] != b'\\')
            || found.last().is_some_and(|last| at < last.end)
        {
            continue;
        }
        let mut lengths = depths.filter_map(|depth| written(&bytes[at..], key, depth));
        found.extend(lengths.next().map(|length| at..at + length));
    }
    found
}

/// The length in bytes of `key` at the start of `text`, which is JSON inside of JSON strings to this depth.
fn written(text: &[u8], key: &str, depth: u32) -> Option<usize> {
    key.bytes().try_fold(0, |at, byte| {
        let (found, length) = read(text.get(at..)?, depth)?;
        (found == byte).then_some(at + length)
    })
}

/// The first character of a text that is unescaped `depth` times, and its length in bytes as written. A character that
/// is not ASCII, or has a letter as its escape, is a zero: no key holds one.
fn read(text: &[u8], depth: u32) -> Option<(u8, usize)> {
    let Some(outer) = depth.checked_sub(1) else {
        return text.first().map(|byte| (*byte, 1));
    };
    let (first, mut length) = read(text, outer)?;
    if first != b'\\' {
        return Some((first, length));
    }
    let mut next = || {
        let (byte, more) = read(text.get(length..)?, outer)?;
        length += more;
        Some(byte)
    };
    let byte = match next()? {
        b'u' => {
            let mut code = 0;
            for _ in 0..4 {
                code = code * 16 + char::from(next()?).to_digit(16)?;
            }
            u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(0)
        }
        plain @ (b'"' | b'\\' | b'/') => plain,
        b'b' | b'f' | b'n' | b'r' | b't' => 0,
        _ => return None,
    };
    Some((byte, length))
}

/// Hides a placeholder key if it is the whole text, a whole JSON string, or follows `Bearer `.
fn hide_short(text: &str, key: &str) -> String {
    if text == key {
        return HIDDEN.to_owned();
    }
    let text = text.replace(&format!("\"{key}\""), &format!("\"{HIDDEN}\""));
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.to_ascii_lowercase().match_indices(BEARER) {
        let start = at + BEARER.len();
        let after = text[start..].strip_prefix(key);
        let is_whole = |after: &str| !after.bytes().next().is_some_and(is_of_a_key);
        if start >= done && after.is_some_and(is_whole) {
            clean.push_str(&text[done..start]);
            clean.push_str(HIDDEN);
            done = start + key.len();
        }
    }
    clean + &text[done..]
}

fn is_of_a_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let redactor = Redactor::new(Some("my-own-key".into()));
        assert_eq!(redactor.redact(text), expected);
    }

    #[test]
    fn the_exact_key_and_what_looks_like_one_are_hidden() {
        check("bad key my-own-key!", "bad key [redacted]!");
        check("my-own-keymy-own-key", "[redacted][redacted]");
        check("key sk-ant-api03-abcdef.", "key sk-[redacted]");
        check(
            "Authorization: Bearer abcdefgh, x",
            "Authorization: Bearer [redacted], x",
        );
        check("BEARER abcdefgh", "BEARER [redacted]");
        check("a task-force, ask-me sk-it", "a task-force, ask-me sk-it");
        check("größe sk-äöü", "größe sk-äöü");
    }

    #[test]
    fn a_placeholder_is_hidden_only_where_it_stands_for_a_key() {
        for (key, text, expected) in [
            ("x", "unexpected", "unexpected"),
            ("EMPTY", "the list is EMPTY", "the list is EMPTY"),
            ("x", "x", "[redacted]"),
            ("x", r#"{"x":"x y"}"#, r#"{"[redacted]":"x y"}"#),
            ("x", "Bearer x, max", "Bearer [redacted], max"),
            ("EMPTY", "bearer EMPTY", "bearer [redacted]"),
            ("x", "Bearer x1, bearer x", "Bearer x1, bearer [redacted]"),
        ] {
            let redactor = Redactor::new(Some(key.into()));
            assert_eq!(redactor.redact(text), expected, "{key}");
            assert_eq!(redactor.redact_exact(text.to_owned()), expected, "{key}");
        }
    }

    #[test]
    fn in_written_texts_only_long_forms_and_long_keys_are_hidden() {
        let written = |key: &str, text: &str| Redactor::new(Some(key.into())).redact_written(text);
        let text = "sk-loading my-own-key sk-ant-12345678";
        assert_eq!(
            written("my-own-key", text),
            "sk-loading [redacted] [key removed]"
        );
        assert_eq!(written("none", "none"), "none");
    }

    #[test]
    fn a_key_that_comes_later_is_known_to_all_clones() {
        let redactor = Redactor::default();
        let earlier = redactor.clone();
        assert_eq!(earlier.redact("a-later-key, x"), "a-later-key, x");
        redactor.learn("a-later-key".into());
        redactor.learn("another-key".into());
        assert_eq!(
            earlier.redact("a-later-key, another-key"),
            "[redacted], [redacted]"
        );
    }

    #[test]
    fn the_key_is_hidden_as_json_writes_it_too() {
        let redactor = Redactor::new(Some(r#"a/b"c\de"#.into()));
        for text in [r#"<a/b"c\de>"#, r#"<a/b\"c\\de>"#, r#"<a\/b\"c\\de>"#] {
            assert_eq!(redactor.redact_exact(text.to_owned()), "<[redacted]>");
        }
    }

    /// `text` in a JSON string, with the escapes that JSON needs and then with nothing but escapes.
    fn quoted(text: &str) -> String {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    }

    fn escaped(text: &str) -> String {
        let units = text.encode_utf16();
        units.fold(String::new(), |text, unit| text + &format!("\\u{unit:04x}"))
    }

    #[test]
    fn the_key_is_hidden_however_escapes_write_it() {
        for key in ["sk-adv+key/9f8e", r#"a/b"c\de+"#] {
            let redactor = Redactor::new(Some(key.into()));
            let all = escaped(key);
            for form in [
                key.to_owned(),
                quoted(key).replace('+', r"\u002B").replace('/', r"\/"),
                quoted(&quoted(key)),
                all.to_uppercase().replace(r"\U", r"\u"),
                quoted(&all),
                quoted(&quoted(&quoted(&all))),
                escaped(&all),
                all.clone(),
            ] {
                let clean = redactor.redact_exact(format!(r"<{form}>\n\u00e4"));
                assert_eq!(clean, r"<[redacted]>\n\u00e4", "{form}");
            }
        }
    }

    #[test]
    fn an_escape_is_not_cut_in_two() {
        let redactor = Redactor::new(Some("sk-adv+key/9f8e".into()));
        let json = r#"{"a":"\\\u0073k-adv+key/9f8e\u00e4","sk-adv\u002bkey\/9f8e":1}"#;
        let clean = redactor.redact_exact(json.to_owned());
        assert_eq!(clean, r#"{"a":"\\[redacted]\u00e4","[redacted]":1}"#);
        // What only looks similar is left as it is.
        for text in [r"\u0073k-adv", r"\u00", r"\", r"\ug", r"C:\users\u0073"] {
            assert_eq!(redactor.redact_exact(text.to_owned()), text);
        }
    }
}
