//! The runtime of a shell in the frame: React, or the built-in subset of it.

mod builtin;
mod clients;
mod error;
mod installer;
mod process;
mod react;
mod reason;
mod sources;
mod status;
mod tried;

use std::path::Path;

pub use error::RuntimeError;
pub use installer::Installer;
pub use process::ProcessGroup;
pub use reason::BuiltinReason;
pub use sources::ReactSources;
pub use status::ReactStatus;

/// A runtime as the frame loads it: one classic script, which sets `globalThis.React` and `globalThis.ReactDOM`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    name: &'static str,
    script: String,
    /// The reason why it is not React.
    reason: Option<BuiltinReason>,
}

impl Runtime {
    /// The runtime that is part of the program, as asked for.
    pub fn builtin() -> Self {
        Self::builtin_because(BuiltinReason::Chosen)
    }

    /// The runtime that is part of the program, with the reason why it is not React.
    pub fn builtin_because(reason: BuiltinReason) -> Self {
        Self {
            name: builtin::NAME,
            script: builtin::SCRIPT.to_owned(),
            reason: Some(reason),
        }
    }

    /// The features of React that the built-in runtime does not have, one line each.
    pub fn gaps() -> impl Iterator<Item = &'static str> {
        builtin::gaps()
    }

    /// React as an earlier start installed it below the data directory. `None` if it is not there, or not whole.
    pub fn kept_react(data: &Path) -> Option<Self> {
        react::kept(&react::folder(data), &react::SCRIPTS)
            .ok()
            .map(Self::of_react)
    }

    /// React from a folder with `react.production.min.js` and `react-dom.production.min.js`, or with both in `umd/`.
    ///
    /// # Errors
    /// A file cannot be read, or has another hash than React 18.3.1.
    pub fn given_react(dir: &Path) -> Result<Self, RuntimeError> {
        let texts = react::given(dir, &react::SCRIPTS)?;
        Ok(Self::of_react(react::joined(&texts)))
    }

    /// The name in `/health`: `React 18.3.1` or `built-in subset`, which the bar calls a limited React.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it is React itself, which has every feature of React.
    pub fn is_react(&self) -> bool {
        self.name == react::NAME
    }

    /// The script.
    pub fn script(&self) -> &str {
        &self.script
    }

    /// The words of the bar: `React 18.3.1`, or `limited React` with the reason.
    pub(crate) fn label(&self) -> String {
        match &self.reason {
            None => self.name.to_owned(),
            Some(reason) => format!("limited React ({})", reason.word()),
        }
    }

    /// The whole reason why it is not React.
    pub(crate) fn detail(&self) -> Option<&str> {
        self.reason.as_ref().map(BuiltinReason::detail)
    }

    fn of_react(script: String) -> Self {
        Self {
            name: react::NAME,
            script,
            reason: None,
        }
    }
}
