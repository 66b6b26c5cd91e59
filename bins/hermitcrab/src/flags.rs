//! The flags that several commands take.

use std::path::PathBuf;

use bin_support::SeedFlag;
use bin_support::model::ModelFlags;
use clap::{Arg, ValueEnum};
use pscale_blocks::SummaryKind;

/// The model flags, accepted before and after every command. Commands that use them declare them again for their help.
#[derive(Debug, Default, clap::Args)]
#[command(mut_args(|arg| arg.global(true).hide(true)))]
pub struct AnywhereModelFlags {
    #[command(flatten)]
    pub flags: ModelFlags,
}

/// Returns the flag of the data directory, for the help of a command that uses it.
pub fn data() -> Arg {
    Arg::new("data")
        .long("data")
        .value_name("DIR")
        .value_parser(clap::value_parser!(PathBuf))
        .help("Data directory [default: hermitcrab in the user's folder for data]")
        .help_heading(None)
}

/// The heading of the flags of the model.
pub const MODEL: &str = "Model";

/// The flags of every command that starts a conversation.
#[derive(Debug, Default, clap::Args)]
pub struct KernelFlags {
    /// Folder that the model may read; with `:rw` also write, with `:rwd` also delete. May be repeated.
    #[arg(long = "grant", value_name = "DIR[:rw|:rwd]", hide_short_help = true)]
    pub grants: Vec<String>,
    /// Host to which the model may send other requests than GET. May be repeated.
    #[arg(long = "allow-host", value_name = "HOST", hide_short_help = true)]
    pub allow_hosts: Vec<String>,
    #[command(flatten)]
    pub seed: SeedFlag,
}

/// The kind of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SummaryKindName {
    /// The whole is the sum of its parts.
    Summary,
    /// The parts show a pattern that no single part contains.
    Emergence,
}

impl From<SummaryKindName> for SummaryKind {
    fn from(kind: SummaryKindName) -> Self {
        match kind {
            SummaryKindName::Summary => Self::Summary,
            SummaryKindName::Emergence => Self::Emergence,
        }
    }
}

/// The condition of an edit.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
pub struct RevisionFlags {
    /// Edit only if the block still has this revision.
    #[arg(long, value_name = "REVISION")]
    pub rev: Option<u64>,
}
