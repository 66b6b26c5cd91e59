//! The conversation as a face shows it.

use llm_client::{Message, Role};
use serde::Serialize;

use super::MARK;
use crate::turn::is_ask;
use crate::window;
use crate::{Kernel, KernelError};

/// What one side said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The person is the user.
    pub role: Role,
    /// The words.
    pub text: String,
}

impl Kernel {
    /// The words of the person and of the model, oldest first: without calls of tools, their results, and what the kernel
    /// says in between. What the model says in one turn is one text.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn said(&self) -> Result<Vec<Said>, KernelError> {
        let mut all: Vec<Said> = Vec::new();
        for message in self.record()? {
            let text = words(&message);
            match all.last_mut() {
                _ if text.is_empty() => {}
                Some(last) if last.role == Role::Assistant && message.role == last.role => {
                    last.text.push_str("\n\n");
                    last.text.push_str(&text);
                }
                _ => all.push(Said {
                    role: message.role,
                    text,
                }),
            }
        }
        Ok(all)
    }
}

fn words(message: &Message) -> String {
    let texts = message
        .content
        .iter()
        .filter_map(llm_client::Block::as_text);
    let aside = |text: &str| {
        let by_kernel = text == window::NOTICE || text.starts_with(MARK) || is_ask(text);
        message.role == Role::User && by_kernel
    };
    let texts = texts.filter(|text| !text.trim().is_empty() && !aside(text));
    texts.collect::<Vec<_>>().join("\n")
}
