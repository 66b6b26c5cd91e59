//! The flags that several commands take.

use bin_support::SeedFlag;
use bin_support::model::ModelFlags;
use clap::ValueEnum;
use pscale_blocks::SummaryKind;

/// The model flags, accepted before and after every command. Commands that use them declare them again for their help.
#[derive(Debug, Default, clap::Args)]
#[command(mut_args(|arg| arg.global(true).hide(true)))]
pub struct AnywhereModelFlags {
    #[command(flatten)]
    pub flags: ModelFlags,
}

/// The flags of every command that starts a conversation.
#[derive(Debug, Default, clap::Args)]
pub struct KernelFlags {
    /// Folder that the model may read; with `:rw` also write, with `:rwd` also delete. May be repeated.
    #[arg(long = "grant", value_name = "DIR[:rw|:rwd]")]
    pub grants: Vec<String>,
    /// Host to which the model may send other requests than GET. May be repeated.
    #[arg(long = "allow-host", value_name = "HOST")]
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
