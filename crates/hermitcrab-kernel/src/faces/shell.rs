use jiff::Timestamp;
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
    /// What the author should know.
    pub warnings: Vec<String>,
}

/// A fault of a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellError {
    /// `syntax`, `import`, `undefined_name`, `async_component`, `no_code`, `no_component`, `too_large`, or a phase of
    /// loading: `load`, `render`, `timeout`.
    pub kind: String,
    /// What is wrong.
    pub message: String,
    /// The line of the text that was given, from 1.
    pub line: Option<u32>,
    /// The column, from 1, in characters.
    pub column: Option<u32>,
    /// That line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_line: Option<String>,
    /// The text ends in the midst of its code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl ShellError {
    /// A fault without a place.
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
pub struct Shell {
    /// Its revision.
    pub rev: u64,
    /// What is shown.
    pub compiled: CompiledShell,
}

/// A shell that was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellInfo {
    /// From 1, one more with each shell that compiled.
    pub rev: u64,
    /// When it was made.
    pub at: Timestamp,
    /// Who made it, such as a model's id or `person`.
    pub by: String,
    /// Its component.
    pub component: String,
    /// It has mounted on a page; none if no page was open since.
    pub mounted: Option<bool>,
    /// How often it failed or died on a page; a hang counts at least as two. With two it is never shown by itself.
    pub deaths: u32,
}
