use std::sync::{Arc, PoisonError, RwLock};

use secrecy::{ExposeSecret, SecretString};

/// How a key is shown.
const HIDDEN: &str = "[redacted]";
/// A shorter key is a placeholder, such as `EMPTY` or `x` for a server that wants none, and a word of other texts.
const LEAST: usize = 8;

/// Takes keys out of texts: the exact ones of a provider, and what looks like one. Clones know the same keys.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    keys: Arc<RwLock<Vec<SecretString>>>,
}

impl Redactor {
    /// Knows `key`.
    pub fn new(key: Option<SecretString>) -> Self {
        Self {
            keys: Arc::new(RwLock::new(key.into_iter().collect())),
        }
    }

    /// Knows `key`, too, from now on, and so do all clones: for a key that the person gives while the program runs.
    pub fn learn(&self, key: SecretString) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        keys.push(key);
    }

    /// `text` with `hide` done for each key.
    fn each(&self, text: String, hide: impl Fn(String, &str) -> String) -> String {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let keys = keys.iter().map(ExposeSecret::expose_secret);
        keys.filter(|key| !key.is_empty()).fold(text, hide)
    }

    /// `text` without keys.
    pub fn clean(&self, text: &str) -> String {
        hide_patterns(&self.each(text.to_owned(), |text, key| {
            if key.len() >= LEAST {
                hide_exact(text, key)
            } else {
                text.replace(key, HIDDEN)
            }
        }))
    }

    /// `text` without the exact keys and nothing else changed; for recorded bodies. The ways in which JSON texts write
    /// a key count as the key. A key of less than 8 bytes is hidden only where it is a whole text: in the midst of
    /// others it would spoil what has nothing to do with it.
    pub fn clean_exact(&self, text: String) -> String {
        self.each(text, hide_exact)
    }
}

fn hide_exact(text: String, key: &str) -> String {
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
    fn a_key_that_comes_later_is_known_to_all_clones() {
        let redactor = Redactor::default();
        let earlier = redactor.clone();
        assert_eq!(earlier.clean("a-later-key, x"), "a-later-key, x");
        redactor.learn("a-later-key".into());
        redactor.learn("another-key".into());
        assert_eq!(
            earlier.clean("a-later-key, another-key"),
            "[redacted], [redacted]"
        );
    }

    #[test]
    fn the_key_is_hidden_as_json_writes_it_too() {
        let redactor = Redactor::new(Some(r#"a/b"c\de"#.into()));
        for text in [r#"<a/b"c\de>"#, r#"<a/b\"c\\de>"#, r#"<a\/b\"c\\de>"#] {
            assert_eq!(redactor.clean_exact(text.to_owned()), "<[redacted]>");
        }
    }
}
