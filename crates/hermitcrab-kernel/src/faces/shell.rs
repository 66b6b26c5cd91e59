use jiff::Timestamp;
use pscale_blocks::store::Origins;
use serde::{Deserialize, Serialize};

/// Finds the JSX in a text and compiles it. The face crate has the real one.
pub trait ShellCompiler: Send + Sync {
    /// Compiles `text`: a reply with fences, or bare JSX.
    ///
    /// # Errors
    /// Every fault that was found, at least one.
    fn compile(&self, text: &str) -> Result<CompiledShell, Vec<ShellError>>;
}

/// A compiled shell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a compiler gives every field")]
pub struct CompiledShell {
    /// The name of its component.
    pub component: String,
    /// The JSX that was found in the text.
    pub source: String,
    /// The script that a page loads.
    pub script: String,
    /// The script's source map, as JSON.
    pub map: Option<String>,
    /// Imports that were taken out.
    pub dropped_imports: Vec<String>,
    /// The warnings for the author.
    pub warnings: Vec<String>,
}

/// An error of a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a compiler gives every field")]
pub struct ShellError {
    /// `syntax`, `import`, `undefined_name`, `async_component`, `no_code`, `no_component`, `too_large`, or a phase of
    /// loading: `load`, `render`, `timeout`.
    pub kind: String,
    /// The error message.
    pub message: String,
    /// The line of the text that was given, from 1.
    pub line: Option<u32>,
    /// The column, from 1, in characters.
    pub column: Option<u32>,
    /// The text of that line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_line: Option<String>,
    /// Whether the text ends in the middle of its code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl ShellError {
    /// An error without a position.
    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.into(),
            line: None,
            column: None,
            source_line: None,
            truncated: false,
        }
    }
}

/// A shell for the host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a compiled shell and its revision"
)]
pub struct Shell {
    /// The revision.
    pub rev: u64,
    /// The compiled form.
    pub compiled: CompiledShell,
}

/// The description of a kept shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShellInfo {
    /// From 1, one more with each shell that compiled.
    pub rev: u64,
    /// The time at which the shell was made.
    pub at: Timestamp,
    /// The author, such as a model's id or `person`.
    pub by: String,
    /// The name of the component.
    pub component: String,
    /// Whether it mounted on a page; `None` if no page was open since.
    pub mounted: Option<bool>,
    /// The number of crashes on a page; a hang counts at least as two. After two it is never restored.
    pub deaths: u32,
    /// The places outside that the shell may come from: those of the turn that wrote it.
    #[serde(default, skip_serializing_if = "Origins::is_empty")]
    pub from: Origins,
}
