use secrecy::{ExposeSecret as _, SecretString};

/// How a key is shown.
const HIDDEN: &str = "[redacted]";
/// A shorter key is a placeholder, such as `EMPTY` or `x` for a server that wants none, and a word of other texts.
const LEAST: usize = 8;

/// Takes keys out of texts: the exact one of a provider, and what looks like one.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    key: Option<SecretString>,
}

impl Redactor {
    /// Knows `key`.
    pub fn new(key: Option<SecretString>) -> Self {
        Self { key }
    }

    fn exact(&self) -> &str {
        self.key.as_ref().map_or("", |key| key.expose_secret())
    }

    /// `text` without keys.
    pub fn clean(&self, text: &str) -> String {
        let key = self.exact();
        if key.is_empty() || key.len() >= LEAST {
            return hide_patterns(&self.clean_exact(text.to_owned()));
        }
        hide_patterns(&text.replace(key, HIDDEN))
    }

    /// `text` without the exact key and nothing else changed; for recorded bodies. The ways in which JSON texts write
    /// the key count as the key. A key of less than 8 bytes is hidden only where it is a whole text: in the midst of
    /// others it would spoil what has nothing to do with it.
    pub fn clean_exact(&self, text: String) -> String {
        let key = self.exact();
        if key.is_empty() {
            return text;
        }
        if key.len() < LEAST {
            return if text == key {
                HIDDEN.to_owned()
            } else {
                text.replace(&format!("\"{key}\""), &format!("\"{HIDDEN}\""))
            };
        }
        let hide = |text: String, form: &str| {
            if text.contains(form) {
                text.replace(form, HIDDEN)
            } else {
                text
            }
        };
        let clean = hide(text, key);
        if !key.contains(['"', '\\', '/']) {
            return clean;
        }
        let quoted = key.replace('\\', r"\\").replace('"', r#"\""#);
        // Some servers write `/` in that way, too.
        let slashed = quoted.replace('/', r"\/");
        hide(hide(clean, &slashed), &quoted)
    }
}

/// Hides `sk-...` and `Bearer ...`.
fn hide_patterns(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, prefix)) = next_pattern(rest) {
        let (before, after) = rest.split_at(start + prefix);
        let secret = after
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte))
            .count();
        clean.push_str(before);
        // Short words after `sk-` are words, not keys.
        if secret >= 6 {
            clean.push_str(HIDDEN);
            rest = &after[secret..];
        } else {
            rest = after;
        }
    }
    clean + rest
}

/// Where the next pattern starts and how long its prefix is.
fn next_pattern(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    (0..bytes.len()).find_map(|at| {
        ["sk-", "bearer "].into_iter().find_map(|prefix| {
            let found = bytes
                .get(at..at + prefix.len())
                .is_some_and(|here| here.eq_ignore_ascii_case(prefix.as_bytes()));
            let begins = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
            (found && begins).then_some((at, prefix.len()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let redactor = Redactor::new(Some("my-own-key".into()));
        assert_eq!(redactor.clean(text), expected);
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
    fn the_key_is_hidden_as_json_writes_it_too() {
        let redactor = Redactor::new(Some(r#"a/b"c\de"#.into()));
        for text in [r#"<a/b"c\de>"#, r#"<a/b\"c\\de>"#, r#"<a\/b\"c\\de>"#] {
            assert_eq!(redactor.clean_exact(text.to_owned()), "<[redacted]>");
        }
    }
}
