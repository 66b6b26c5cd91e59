//! The texts that prompts are made of, as they are published.

use crate::rank::sha256;

/// A text of a prompt. `{{name}}` stands for what a run fills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptText {
    /// The name of its file.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

impl PromptText {
    /// sha256 of the text, 64 hex digits.
    pub fn sha256(&self) -> String {
        sha256(self.text)
    }

    /// The text with every name replaced. What is filled in is not looked through again: it may hold braces.
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

    /// The line of a list that begins with `key: `.
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
    /// What every turn begins with: the world, the language, the form of an answer.
    SYSTEM = "system.txt";
    /// What the templates mean, a line each.
    TEMPLATES = "templates.txt";
    /// What the families of cases are, a line each.
    FAMILIES = "families.txt";
    /// The observable of what comes next, under its neutral name.
    INCOMING_BLIND = "incoming_blind.txt";
    /// The same under its own name.
    INCOMING_OPEN = "incoming_open.txt";
    /// The fields of the extension `local_transition`.
    EXTENSION = "extension.txt";
    /// What is known at the start of a turn.
    SNAPSHOT = "snapshot.txt";
    /// How many laws are wanted.
    REQUEST = "request.txt";
    /// What is wrong with an answer.
    REPAIR = "repair.txt";
}
