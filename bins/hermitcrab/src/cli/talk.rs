//! What the commands that wake a model take.

use std::path::PathBuf;

use bin_support::SeedFlag;
use bin_support::model::ModelFlags;
use clap::ValueEnum;

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

#[derive(Debug, Default, clap::Args)]
#[command(mut_arg("max_usd", |arg| arg.help("Cap in dollars for this process")))]
pub struct Chat {
    #[command(flatten)]
    pub model: ModelFlags,
    #[command(flatten)]
    pub kernel: KernelFlags,
    /// Wake the model anew, also where a conversation is kept.
    #[arg(long)]
    pub fresh: bool,
    /// Show the tools that the model calls when it wakes.
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Debug, Default, clap::Args)]
#[command(mut_arg("max_usd", |arg| arg.help("Cap in dollars for this process")))]
pub struct Serve {
    /// Listen on this port of 127.0.0.1 [default: any free one].
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Open no browser: the address is printed.
    #[arg(long)]
    pub no_open: bool,
    /// Ask the model for a new face, also where a good one is kept.
    #[arg(long)]
    pub fresh: bool,
    /// Show the program's own face and wake nobody: to look around, or to mend what is broken.
    #[arg(long, conflicts_with = "fresh")]
    pub safe: bool,
    /// What runs a face [default: React, by npm, else what is built in].
    #[arg(long, value_enum)]
    pub runtime: Option<RuntimeName>,
    #[command(flatten)]
    pub model: ModelFlags,
    #[command(flatten)]
    pub kernel: KernelFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuntimeName {
    /// React 18, which npm installs into the data directory once.
    React,
    /// A small part of it that is in this program.
    Builtin,
}

#[derive(Debug, clap::Args)]
pub struct Prompt {
    #[command(flatten)]
    pub model: ModelFlags,
    /// Of which request.
    #[arg(long, value_enum)]
    pub phase: PromptPhase,
    /// Print the tokens of each part beside its limit; 4 if one is over it.
    #[arg(long)]
    pub tokens: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PromptPhase {
    /// The one that wakes the model.
    Boot,
    /// The one of a turn.
    Call,
}

#[derive(Debug, clap::Args)]
pub struct Compile {
    /// The JSX, or a reply with fences; `-` is stdin.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct Shells {
    #[command(subcommand)]
    pub command: Option<ShellsCommand>,
    /// Print JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum ShellsCommand {
    /// Make a kept face the face again.
    Use { rev: u64 },
    /// Print the source of a kept face.
    Show { rev: u64 },
}

#[derive(Debug, clap::Args)]
pub struct Cost {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
#[command(mut_arg("max_usd", |arg| arg.help("Cap in dollars for this process")))]
pub struct Doctor {
    #[command(flatten)]
    pub model: ModelFlags,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
