//! The conversation as a face shows it.

use serde::Serialize;

use crate::{Author, Kernel, KernelError, Role};

/// What one side said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The person is the user.
    pub role: Role,
    /// The author.
    pub by: Author,
    /// The words.
    pub text: String,
}

impl Kernel {
    /// The words of the person, of faces and of the model, oldest first: without calls of tools, their results, and what the
    /// kernel says in between. What the model says in one turn is one text.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn said(&self) -> Result<Vec<Said>, KernelError> {
        let mut all: Vec<Said> = Vec::new();
        for said in self.record()? {
            let (by, text) = (said.by, said.words());
            match all.last_mut() {
                _ if text.is_empty() => {}
                Some(last) if last.by == Author::Model && by == last.by => {
                    last.text.push_str("\n\n");
                    last.text.push_str(&text);
                }
                _ => all.push(Said {
                    role: said.message.role,
                    by,
                    text,
                }),
            }
        }
        Ok(all)
    }
}
