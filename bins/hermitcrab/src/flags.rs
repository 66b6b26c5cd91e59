//! The flags that several commands take.

use bin_support::SeedFlag;
use bin_support::model::ModelFlags;
use clap::ValueEnum;
use pscale_blocks::SummaryKind;

/// The model flags before and after every command. The commands that use them declare them again, and their help shows them.
#[derive(Debug, Default, clap::Args)]
#[command(mut_args(|arg| arg.global(true).hide(true)))]
pub struct AnywhereModelFlags {
    #[command(flatten)]
    pub flags: ModelFlags,
}

/// What every command takes that opens the kernel.
#[derive(Debug, Default, clap::Args)]
pub struct KernelFlags {
    /// Let the model read this folder; `:rw` lets it write there, `:rwd` delete, too. May be repeated.
    #[arg(long = "grant", value_name = "DIR[:rw|:rwd]")]
    pub grants: Vec<String>,
    /// Let the model send more than GET to this host. May be repeated.
    #[arg(long = "allow-host", value_name = "HOST")]
    pub allow_hosts: Vec<String>,
    #[command(flatten)]
    pub seed: SeedFlag,
}

/// How a summary was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SummaryKindName {
    /// The whole is the sum of its parts.
    Summary,
    /// The parts show a pattern that none of them contains.
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

/// Compare and set.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
pub struct RevisionFlags {
    /// Only if the block has this revision still.
    #[arg(long, value_name = "REVISION")]
    pub rev: Option<u64>,
}
