//! What a mind reads: the system prompt, then the sampled messages.

use super::hash::sha256_hex;

/// How messages are held apart, in prompts and in answers.
pub(crate) const SEPARATOR: &str = "\n---\n";

/// The words that every prompt begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt {
    text: String,
    role: PromptRole,
}

/// Who says the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptRole {
    /// The user, in one turn with the messages.
    #[default]
    User,
    /// The system; the user's turn holds the messages alone.
    System,
}

impl SystemPrompt {
    /// The user's own prompt: what minds are told unless a run says otherwise.
    pub const DEFAULT: &str = include_str!("system.txt");

    /// A system prompt of any text.
    pub fn new(text: impl Into<String>, role: PromptRole) -> Self {
        Self {
            text: text.into(),
            role,
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Who says it.
    pub fn role(&self) -> PromptRole {
        self.role
    }

    /// Whether it holds a line `---`, so that a prompt cannot be cut at such lines again.
    pub fn holds_delimiter(&self) -> bool {
        self.text.split('\n').any(|line| line == "---")
    }
}

/// A whole prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    text: String,
    /// Where the user's turn begins.
    user: usize,
    /// Where the system's turn ends; 0 if there is none.
    system: usize,
}

impl Prompt {
    /// The whole text: system prompt, then each message after a line `---`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The system's turn.
    pub fn system(&self) -> Option<&str> {
        (self.system > 0).then(|| &self.text[..self.system])
    }

    /// The user's turn.
    pub fn user(&self) -> &str {
        &self.text[self.user..]
    }

    /// SHA-256 of the whole text as 64 hex digits.
    pub fn sha256(&self) -> String {
        sha256_hex(&self.text)
    }
}

/// The prompt for messages in the order they were drawn, byte for byte.
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
