//! The kinds and formats of exports.

use std::fmt;
use std::io;
use std::str::FromStr;

/// The contents of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum ExportKind {
    /// Messages and the most likely parent of each.
    Lineage,
    /// Messages and the messages that their minds had read.
    Exposure,
    /// All messages with their texts.
    Messages,
    /// All metrics of all rounds.
    Metrics,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum ExportFormat {
    /// `GraphML`, for graph programs.
    Graphml,
    /// DOT, for Graphviz.
    Dot,
    /// CSV, for spreadsheets.
    Csv,
    /// JSON Lines: one object per line.
    Jsonl,
    /// SVG, a picture for a browser.
    #[cfg(feature = "report")]
    Svg,
}

/// The error of a name that is neither a kind nor a format of exports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is neither a kind nor a format of exports")]
#[non_exhaustive]
pub struct UnknownExport {
    /// The name.
    pub name: String,
}

/// The error of an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The contents cannot be written in this format.
    #[error("{kind} cannot be written as {format}, only as {}", forms(*kind))]
    NoSuchForm {
        /// The contents.
        kind: ExportKind,
        /// The format.
        format: ExportFormat,
    },
    /// The output cannot be written.
    #[error("cannot write")]
    Write(#[from] io::Error),
}

impl ExportKind {
    /// All kinds, in the order of help texts.
    pub const ALL: &[Self] = &[Self::Lineage, Self::Exposure, Self::Messages, Self::Metrics];

    /// Returns the formats that it can be written in.
    pub fn formats(self) -> &'static [ExportFormat] {
        use ExportFormat::{Csv, Dot, Graphml, Jsonl};
        match self {
            #[cfg(feature = "report")]
            Self::Lineage => &[Graphml, Dot, Csv, Jsonl, ExportFormat::Svg],
            #[cfg(not(feature = "report"))]
            Self::Lineage => &[Graphml, Dot, Csv, Jsonl],
            Self::Exposure => &[Graphml, Dot, Csv, Jsonl],
            Self::Messages | Self::Metrics => &[Csv, Jsonl],
        }
    }
}

impl ExportFormat {
    /// All formats, in the order of help texts.
    pub const ALL: &[Self] = &[
        Self::Graphml,
        Self::Dot,
        Self::Csv,
        Self::Jsonl,
        #[cfg(feature = "report")]
        Self::Svg,
    ];
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
            #[cfg(feature = "report")]
            Self::Svg => "svg",
        })
    }
}

fn forms(kind: ExportKind) -> String {
    let names: Vec<String> = kind.formats().iter().map(ToString::to_string).collect();
    names.join(", ")
}
