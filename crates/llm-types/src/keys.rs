use std::borrow::Cow;
use std::ops::Range;

/// Forms of texts that look like keys of model providers, in any case. The time of a search is linear in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "either a text is kept, or it is shown"
)]
pub enum KeyForms {
    /// The long forms, for texts that people and models write: `sk-ant-` and `sk-or-` with at least 8 more letters, digits, `_`
    /// or `-`, `sk-` with at least 20, and `Bearer ` with at least 20 characters of a token. Only the first one counts inside of a
    /// word: `risk-adjusted-returns-of-funds` is not a key.
    Long,
    /// All forms, for texts of servers and tools: the first of the long ones, and `sk-` and `Bearer ` with at least 6 characters
    /// of a token.
    All,
}

/// The text before a token in a header.
const BEARER: &str = "bearer ";

impl KeyForms {
    /// The text that replaces a key.
    pub const fn mask(self) -> &'static str {
        match self {
            Self::Long => "[key removed]",
            Self::All => "[redacted]",
        }
    }

    /// The text with [`KeyForms::mask`] in the place of each key, and how many there were. `Bearer ` stays, and the prefix of a
    /// key in one of all forms.
    ///
    /// ```
    /// use llm_types::KeyForms;
    ///
    /// let text = "use sk-ant-api03-abcdefgh, please";
    /// assert_eq!(KeyForms::Long.hide(text), ("use [key removed], please".into(), 1));
    /// assert_eq!(KeyForms::All.hide(text), ("use sk-[redacted], please".into(), 1));
    /// ```
    pub fn hide(self, text: &str) -> (Cow<'_, str>, u32) {
        let (mut clean, mut kept, mut keys) = (String::new(), 0, 0);
        // The characters after the last `sk-`, so that none is counted for each `sk-` in them.
        let mut run = 0..0;
        let mut at = 0;
        // Each prefix begins with one of these letters.
        let begins = |byte: &u8| matches!(byte, b's' | b'S' | b'b' | b'B');
        while let Some(next) = text.as_bytes()[at..].iter().position(begins) {
            at += next;
            let Some(key) = self.key_at(text, at, &mut run) else {
                at += 1;
                continue;
            };
            clean.push_str(&text[kept..key.start]);
            clean.push_str(self.mask());
            (kept, at) = (key.end, key.end);
            keys += 1;
        }
        if keys == 0 {
            return (Cow::Borrowed(text), 0);
        }
        clean.push_str(&text[kept..]);
        (Cow::Owned(clean), keys)
    }

    /// The bytes to hide of a key that begins at `at`.
    fn key_at(self, text: &str, at: usize, run: &mut Range<usize>) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        self.prefixes()
            .iter()
            .find_map(|&(prefix, least, in_word)| {
                let start = at + prefix.len();
                let found = bytes
                    .get(at..start)?
                    .eq_ignore_ascii_case(prefix.as_bytes());
                if !found || !in_word && self.is_in_word(&text[..at]) {
                    return None;
                }
                let is_token = self == Self::All || prefix == BEARER;
                let length = |start: usize| {
                    let rest = bytes[start..].iter();
                    rest.take_while(|byte| is_of_key(**byte, is_token)).count()
                };
                let end = if prefix == BEARER {
                    // The blank before it ends every other one.
                    start + length(start)
                } else {
                    if !run.contains(&start) {
                        *run = start..start + length(start);
                    }
                    run.end
                };
                let hidden = if is_token { start } else { at };
                (end >= start + least).then_some(hidden..end)
            })
    }

    /// The prefixes, each with the fewest characters of a key after it, and whether it counts inside of a word. A prefix comes
    /// after its own start, whose run holds its.
    const fn prefixes(self) -> &'static [(&'static str, usize, bool)] {
        match self {
            Self::Long => &[
                ("sk-", 20, false),
                ("sk-or-", 8, false),
                ("sk-ant-", 8, true),
                (BEARER, 20, false),
            ],
            Self::All => &[("sk-", 6, false), ("sk-ant-", 8, true), (BEARER, 6, false)],
        }
    }

    /// Whether a word continues after `before`.
    fn is_in_word(self, before: &str) -> bool {
        before.ends_with(|last: char| match self {
            Self::Long => last.is_alphanumeric(),
            Self::All => last.is_ascii_alphanumeric(),
        })
    }
}

/// Whether a character may be in a key, or in any token.
fn is_of_key(byte: u8, is_token: bool) -> bool {
    byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || is_token && b".~+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The keys of `text` by the definition, without regard to time: the first one, then those of the rest.
    fn slow(forms: KeyForms, text: &str) -> (String, u32) {
        let of: &[(&str, usize, bool, &[u8])] = match forms {
            KeyForms::Long => &[
                ("sk-ant-", 8, true, b"_-"),
                ("sk-or-", 8, false, b"_-"),
                ("sk-", 20, false, b"_-"),
                ("bearer ", 20, false, b"-_.~+/="),
            ],
            KeyForms::All => &[
                ("sk-ant-", 8, true, b"-_.~+/="),
                ("sk-", 6, false, b"-_.~+/="),
                ("bearer ", 6, false, b"-_.~+/="),
            ],
        };
        let (mut clean, mut at, mut keys) = (String::new(), 0, 0);
        while let Some(next) = text[at..].chars().next() {
            let lower = text[at..].to_ascii_lowercase();
            let in_word = text[..at]
                .chars()
                .next_back()
                .is_some_and(|last| match forms {
                    KeyForms::Long => last.is_alphanumeric(),
                    KeyForms::All => last.is_ascii_alphanumeric(),
                });
            let lengths = of.iter().filter_map(|(prefix, least, anywhere, signs)| {
                let rest = text.as_bytes().get(at + prefix.len()..)?;
                let run = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || signs.contains(byte));
                let run = run.count();
                let is_key = lower.starts_with(prefix) && run >= *least && (*anywhere || !in_word);
                is_key.then_some((prefix.len(), run, *prefix))
            });
            let Some((prefix, run, name)) = lengths.min() else {
                clean.push(next);
                at += next.len_utf8();
                continue;
            };
            if forms == KeyForms::All || name == "bearer " {
                clean.push_str(&text[at..at + prefix]);
            }
            clean.push_str(forms.mask());
            at += prefix + run;
            keys += 1;
        }
        (clean, keys)
    }

    proptest! {
        #[test]
        fn it_finds_what_a_slow_search_finds(
            parts in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec![
                        "sk-", "SK-", "sk-ant-", "sk-or-", "s", "a", "Bearer ", "bearer ", " ", "-", "_", ".", "=", "\n", "\u{e4}",
                        "ask-", "abcdef", "0123456789", "[redacted]",
                    ]).prop_map(str::to_owned),
                    "[a-z0-9 _./-]{0,24}",
                ],
                0..16,
            ),
        ) {
            let text = parts.concat();
            for forms in [KeyForms::Long, KeyForms::All] {
                let (clean, keys) = forms.hide(&text);
                prop_assert_eq!((clean.into_owned(), keys), slow(forms, &text));
            }
        }
    }

    /// A search that counts a run for each prefix in it does not end here.
    #[test]
    fn long_runs_are_counted_once() {
        const SIZE: usize = 1 << 20;
        for (part, long, all) in [
            ("s", 0, 0),
            ("sk-", 1, 1),
            ("ask-", 0, 0),
            ("bearer ", 0, 74_898),
        ] {
            let text = part.repeat(SIZE / part.len());
            assert_eq!(KeyForms::Long.hide(&text).1, long, "{part}");
            assert_eq!(KeyForms::All.hide(&text).1, all, "{part}");
        }
    }
}
