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
    /// The features of React that it uses and only React itself has, by their places.
    pub needs: Vec<Need>,
}

/// A feature of React that only React itself has, and the place where a shell uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "a feature and its place")]
pub struct Need {
    /// The name, such as `createPortal`; `computed` for any other computed member of `React`.
    pub feature: String,
    /// The line of the shell's source, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

/// The kind of the error of a shell that is not shown without React.
const NEEDS_REACT: &str = "needs_react";
/// The number of features that such an error names.
const NAMED: usize = 5;

impl CompiledShell {
    /// The error of a host without React; `None` if the shell needs none.
    pub fn needs_react(&self) -> Option<ShellError> {
        let first = self.needs.first()?;
        let mut features: Vec<&Need> = Vec::new();
        for need in &self.needs {
            if !features.iter().any(|named| named.feature == need.feature) {
                features.push(need);
            }
        }
        let named = features.iter().take(NAMED);
        let named: Vec<_> = named
            .map(|need| format!("{} (line {})", need.feature, need.line))
            .collect();
        let more = match features.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text = self.source.lines().nth(first.line as usize - 1);
        Some(ShellError {
            line: Some(first.line),
            column: Some(first.column),
            source_line: text.map(|text| text.chars().take(LONGEST_LINE).collect()),
            ..ShellError::new(
                NEEDS_REACT,
                format!(
                    "this face needs React for {}{more}; React is not installed here: write it without, or the person can run \
                     \"hermitcrab runtime fetch\"",
                    named.join(", ")
                ),
            )
        })
    }
}

/// The longest line of a source that such an error quotes, in characters.
const LONGEST_LINE: usize = 240;

/// An error of a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a compiler gives every field")]
pub struct ShellError {
    /// `syntax`, `import`, `undefined_name`, `async_component`, `no_code`, `no_component`, `too_large`, or a phase of
    /// loading: `load`, `render`, `timeout`; or `needs_react`.
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
    /// Whether the shell was not shown because React is not here.
    pub(crate) fn is_need(&self) -> bool {
        self.kind == NEEDS_REACT
    }

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
