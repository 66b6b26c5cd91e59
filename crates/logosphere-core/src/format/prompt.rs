//! The prompt of a mind: the system prompt, then the sampled messages.

use super::hash::sha256_hex;

/// The separator of messages in prompts and answers.
pub(crate) const SEPARATOR: &str = "\n---\n";

/// The text that every prompt begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt {
    text: String,
    role: PromptRole,
}

/// The role of the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PromptRole {
    /// The system prompt and the messages are one user message.
    #[default]
    User,
    /// The system prompt is a system message; the user message contains the messages alone.
    System,
}

impl SystemPrompt {
    /// The default system prompt, from the requirement.
    pub const DEFAULT: &str = include_str!("system.txt");

    /// Returns a system prompt with any text.
    pub fn new(text: impl Into<String>, role: PromptRole) -> Self {
        Self {
            text: text.into(),
            role,
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the role.
    pub fn role(&self) -> PromptRole {
        self.role
    }

    /// Returns whether the system prompt contains a line `---`, so that a prompt cannot be split into its messages.
    pub fn holds_delimiter(&self) -> bool {
        self.text.split('\n').any(|line| line == "---")
    }
}

/// A complete prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    text: String,
    /// The start of the user message.
    user: usize,
    /// The end of the system message; 0 if there is none.
    system: usize,
}

impl Prompt {
    /// Returns the complete text: the system prompt, then each message after a line `---`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the system message; `None` if there is none.
    pub fn system(&self) -> Option<&str> {
        (self.system > 0).then(|| &self.text[..self.system])
    }

    /// Returns the user message.
    pub fn user(&self) -> &str {
        &self.text[self.user..]
    }

    /// Returns the SHA-256 of the complete text as 64 hexadecimal digits.
    pub fn sha256(&self) -> String {
        sha256_hex(&self.text)
    }
}

/// Builds the prompt from the system prompt and messages in the order of the sample, byte for byte.
///
/// ```
/// use logosphere_core::format::{PromptRole, SystemPrompt, format_prompt};
///
/// let system = SystemPrompt::new("Read.", PromptRole::User);
/// let prompt = format_prompt(&system, ["one", "two\n"].into_iter());
/// assert_eq!(prompt.text(), "Read.\n---\none\n---\ntwo\n");
/// ```
pub fn format_prompt<'a>(system: &SystemPrompt, messages: impl Iterator<Item = &'a str>) -> Prompt {
    let mut text = system.text.clone();
    for message in messages {
        text.push_str(SEPARATOR);
        text.push_str(message);
    }
    let (system, user) = match system.role {
        PromptRole::User => (0, 0),
        // Without messages there is nothing after the system prompt, not even a separator.
        PromptRole::System => {
            let end = system.text.len();
            (end, text.len().min(end + SEPARATOR.len()))
        }
    };
    Prompt { text, user, system }
}
