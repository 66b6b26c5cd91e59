//! The kinds and formats of exports.

use std::fmt;
use std::io;
use std::str::FromStr;

/// What can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ExportKind {
    /// Messages and the one that each most likely comes from.
    Lineage,
    /// Messages and all that their writers had read.
    Exposure,
    /// Every message.
    Messages,
    /// Every measure of every round.
    Metrics,
}

/// Forms to write in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ExportFormat {
    /// For graph programs.
    Graphml,
    /// For Graphviz.
    Dot,
    /// A table.
    Csv,
    /// One JSON object a line.
    Jsonl,
}

/// The error of a name that is neither a kind nor a format of exports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is neither a kind nor a format of exports")]
pub struct UnknownExport {
    /// The name.
    pub name: String,
}

/// Why nothing, or not all, was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// There is no such form of it.
    #[error("{kind} cannot be written as {format}, only as {}", forms(*kind))]
    NoSuchForm {
        /// What was to be written.
        kind: ExportKind,
        /// In which form.
        format: ExportFormat,
    },
    /// The output does not take it.
    #[error("cannot write")]
    Write(#[from] io::Error),
}

impl ExportKind {
    /// Everything that can be written.
    pub const ALL: &[Self] = &[Self::Lineage, Self::Exposure, Self::Messages, Self::Metrics];

    /// The forms that it can be written in.
    pub fn formats(self) -> &'static [ExportFormat] {
        use ExportFormat::{Csv, Dot, Graphml, Jsonl};
        match self {
            Self::Lineage | Self::Exposure => &[Graphml, Dot, Csv, Jsonl],
            Self::Messages | Self::Metrics => &[Csv, Jsonl],
        }
    }
}

impl ExportFormat {
    /// Every form, in the order of help texts.
    pub const ALL: &[Self] = &[Self::Graphml, Self::Dot, Self::Csv, Self::Jsonl];
}

impl FromStr for ExportKind {
    type Err = UnknownExport;

    fn from_str(name: &str) -> Result<Self, UnknownExport> {
        named(Self::ALL, name)
    }
}

impl FromStr for ExportFormat {
    type Err = UnknownExport;

    fn from_str(name: &str) -> Result<Self, UnknownExport> {
        named(Self::ALL, name)
    }
}

fn named<T: Copy + fmt::Display>(all: &[T], name: &str) -> Result<T, UnknownExport> {
    let known = all.iter().find(|known| known.to_string() == name);
    known.copied().ok_or_else(|| UnknownExport {
        name: name.to_owned(),
    })
}

impl fmt::Display for ExportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lineage => "lineage",
            Self::Exposure => "exposure",
            Self::Messages => "messages",
            Self::Metrics => "metrics",
        })
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Graphml => "graphml",
            Self::Dot => "dot",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        })
    }
}

fn forms(kind: ExportKind) -> String {
    let names: Vec<String> = kind.formats().iter().map(ToString::to_string).collect();
    names.join(", ")
}
