//! What each of the block commands takes.

use clap::ValueEnum;
use pscale_blocks::{BlockName, SummaryKind};

use super::{Address, Export, Import};

#[derive(Debug, clap::Args)]
pub struct Block {
    /// Print JSON.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: BlockCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum BlockCommand {
    /// Show the blocks.
    List,
    /// Show a node and what is around it.
    #[command(visible_alias = "show")]
    Read(Read),
    /// Make a block.
    #[command(visible_alias = "new")]
    Create(Create),
    /// Write a node's text; its children stay
    #[command(visible_alias = "edit")]
    Write(Write),
    /// Add an entry at the next free place.
    #[command(visible_alias = "add")]
    Append(Append),
    /// Compress the entries under a summary, one level up
    Grow(Grow),
    /// Move a node with all below it to a free place.
    #[command(visible_alias = "move")]
    Mv(Mv),
    /// Take a node away with all below it.
    #[command(visible_alias = "delete")]
    Rm(Rm),
    /// Find the nodes whose texts hold some words.
    Search(Search),
    /// Show what differs between blocks, or since a revision
    ///
    /// The exit code is 4 if anything does.
    Diff(Diff),
    /// Warn of what is allowed and probably not meant
    ///
    /// The exit code is 4 if there is anything.
    Lint(Lint),
    /// Write a block, or all of them, to stdout or a file.
    Export(Export),
    /// Take blocks in.
    Import(Import),
    /// Show what was done to a block, or to all.
    Log(Log),
    /// Take the last edits back.
    Undo(Step),
    /// Make edits again that were taken back
    ///
    /// Another edit in between leaves nothing to make again.
    Redo(Step),
}

#[derive(Debug, clap::Args)]
pub struct Read {
    /// The block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// The node, such as 0.3.1 [default: the whole tree; with --view node or spindle, the head].
    #[arg(value_name = "PATH")]
    pub at: Option<Address>,
    /// What is shown [default: node; of the whole tree, subtree].
    #[arg(long, value_enum, value_name = "VIEW")]
    pub view: Option<View>,
    /// Show long texts whole, also on a terminal.
    #[arg(long)]
    pub full: bool,
}

/// What is shown of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// The node and one level below.
    Node,
    /// The nodes on the way to it.
    Spindle,
    /// The node and all below.
    Subtree,
}

#[derive(Debug, clap::Args)]
pub struct Create {
    /// Its name: 1 to 64 of a-z, 0-9, underscore and dash, a letter first.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// What it is, the text of its head [default: stdin, as with -].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Write {
    /// The block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// The node; it is made if it is not there.
    #[arg(value_name = "PATH")]
    pub at: Address,
    /// Its text [default: stdin, as with -].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    #[command(flatten)]
    pub expect: Expect,
}

#[derive(Debug, clap::Args)]
pub struct Append {
    /// The block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// The entry [default: stdin, as with -].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// What the nine before it come to, if they are full.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: Option<String>,
    /// How the summary was found.
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Summary)]
    pub kind: Kind,
    #[command(flatten)]
    pub expect: Expect,
}

#[derive(Debug, clap::Args)]
pub struct Grow {
    /// The block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// What the entries come to.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: String,
    /// How it was found.
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Summary)]
    pub kind: Kind,
    #[command(flatten)]
    pub expect: Expect,
}

/// How a summary was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// The whole is the sum of its parts.
    Summary,
    /// The parts show a pattern that none of them contains.
    Emergence,
}

impl From<Kind> for SummaryKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Summary => Self::Summary,
            Kind::Emergence => Self::Emergence,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct Mv {
    /// The block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// The node.
    #[arg(value_name = "FROM")]
    pub from: Address,
    /// The free place.
    #[arg(value_name = "TO")]
    pub to: Address,
    #[command(flatten)]
    pub expect: Expect,
}

#[derive(Debug, clap::Args)]
pub struct Rm {
    /// The block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// The node.
    #[arg(value_name = "PATH")]
    pub at: Option<Address>,
    /// The whole block instead; its file goes to the folder trash.
    #[arg(long, conflicts_with = "at")]
    pub whole: bool,
    #[command(flatten)]
    pub expect: Expect,
}

#[derive(Debug, clap::Args)]
pub struct Search {
    /// The words, in upper or lower case.
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    pub query: String,
    /// The block [default: all].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// At most so many nodes.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
}

#[derive(Debug, clap::Args)]
pub struct Diff {
    /// The block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Another block, or the file of one, which has a dot or a slash in its name.
    #[arg(value_name = "OTHER", required_unless_present = "since")]
    pub other: Option<String>,
    /// What has changed since the block had this revision, instead.
    #[arg(long, value_name = "REVISION", conflicts_with = "other")]
    pub since: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub struct Lint {
    /// The block [default: all].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
}

#[derive(Debug, clap::Args)]
pub struct Log {
    /// The block [default: all].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// Only the last so many edits of each block.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub struct Step {
    /// The block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// How many edits, the last first.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    #[command(flatten)]
    pub expect: Expect,
}

/// Compare and set.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
pub struct Expect {
    /// Only if the block has this revision still.
    #[arg(long, value_name = "REVISION")]
    pub rev: Option<u64>,
}
