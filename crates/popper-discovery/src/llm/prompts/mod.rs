//! The published texts of the prompts.

use crate::rank::sha256;

/// A text of a prompt. `{{name}}` stands for a value that a run fills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptText {
    /// The name of its file.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

impl PromptText {
    /// Returns the sha256 of the text, 64 hex digits.
    pub fn sha256(&self) -> String {
        sha256(self.text)
    }

    /// Returns the text with every `{{name}}` replaced by its value. Values may contain braces: they are not searched.
    pub(super) fn fill(&self, values: &[(&str, &str)]) -> String {
        let mut filled = String::new();
        let mut rest = self.text;
        while let Some((before, opened)) = rest.split_once("{{") {
            let (name, after) = opened.split_once("}}").unwrap_or((opened, ""));
            let value = values.iter().find(|(key, _)| *key == name);
            filled.push_str(before);
            filled.push_str(value.map_or("", |(_, value)| value));
            rest = after;
        }
        filled + rest
    }

    /// Returns the line of a list that begins with `key: `.
    pub(super) fn line(&self, key: &str) -> Option<&'static str> {
        let of_key = |line: &&str| {
            line.strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(':'))
        };
        self.text.lines().find(of_key)
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $constant:ident = $file:literal;)*) => {
        $($(#[$doc])*
        pub const $constant: PromptText = PromptText {
            name: $file,
            text: include_str!($file),
        };)*

        /// All texts, by name.
        pub const ALL: &[PromptText] = &[$($constant),*];
    };
}

texts! {
    /// The system prompt: the universe, the claim language, the form of a reply.
    SYSTEM = "system.txt";
    /// The meaning of each template, a line each.
    TEMPLATES = "templates.txt";
    /// The meaning of each family of cases, a line each.
    FAMILIES = "families.txt";
    /// The observable `incoming_collisions` under its neutral name.
    INCOMING_BLIND = "incoming_blind.txt";
    /// The observable `incoming_collisions` under its own name.
    INCOMING_OPEN = "incoming_open.txt";
    /// The fields of the extension `local_transition`.
    EXTENSION = "extension.txt";
    /// The template of the snapshot.
    SNAPSHOT = "snapshot.txt";
    /// The request with the number of laws.
    REQUEST = "request.txt";
    /// The repair request with the problem of a reply.
    REPAIR = "repair.txt";
}
