//! What runs a shell in the frame: React, or a small part of it of our own.

/// A runtime as the frame loads it: one script, which sets `globalThis.React` and `globalThis.ReactDOM`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    name: &'static str,
    script: String,
}

impl Runtime {
    /// The runtime that is part of the program.
    pub fn builtin() -> Self {
        Self {
            name: "built-in subset",
            script: include_str!("builtin.js").to_owned(),
        }
    }

    /// What the bar and `/health` call it: `React 18.3.1` or `built-in subset`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The script.
    pub fn script(&self) -> &str {
        &self.script
    }
}
