//! The runtime of a shell in the frame: React, or the built-in subset of it.

mod builtin;
mod react;

use std::path::Path;

pub use react::{Npm, RuntimeError};

/// A runtime as the frame loads it: one classic script, which sets `globalThis.React` and `globalThis.ReactDOM`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    name: &'static str,
    script: String,
}

impl Runtime {
    /// The runtime that is part of the program.
    pub fn builtin() -> Self {
        Self {
            name: builtin::NAME,
            script: builtin::SCRIPT.to_owned(),
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

    /// React, installed by the person's own npm unless an earlier start did so.
    ///
    /// What is kept is checked each time and installed again if it is not what it should be. `tell` gets one line
    /// before npm begins. A caller that drops the future ends npm, and no partial file stays.
    ///
    /// # Errors
    /// npm is missing, fails or takes too long; it brought something else; the data directory cannot be written.
    pub async fn react(
        data: &Path,
        npm: &Npm,
        show: &(dyn Fn(&str) + Sync),
    ) -> Result<Self, RuntimeError> {
        let folder = react::folder(data);
        if let Ok(script) = react::kept(&folder, &react::SCRIPTS) {
            return Ok(Self::of_react(script));
        }
        show(&format!(
            "installing React {} with npm, once, in {}",
            react::VERSION,
            folder.display()
        ));
        react::install(&folder, npm, &react::SCRIPTS)
            .await
            .map(Self::of_react)
    }

    /// The name in `/health`: `React 18.3.1` or `built-in subset`, which the bar calls a limited React.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The script.
    pub fn script(&self) -> &str {
        &self.script
    }

    fn of_react(script: String) -> Self {
        Self {
            name: react::NAME,
            script,
        }
    }
}
