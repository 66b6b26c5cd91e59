//! What the commands take that carry blocks from one directory to another.

use std::path::PathBuf;

use bin_support::OutputTarget;
use clap::ValueEnum;
use pscale_blocks::BlockName;

#[derive(Debug, clap::Args)]
pub struct ExportAll {
    /// File to write; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
    /// With everything that was done to the blocks. An import leaves it out.
    #[arg(long)]
    pub with_log: bool,
    /// Print JSON about a file that was written.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct ImportAll {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub import: Import,
}

#[derive(Debug, clap::Args)]
pub struct Migrate {
    /// A dump of the browser's storage, the answer of `getMemory()`, or a folder of the files. It is not changed.
    #[arg(value_name = "FILE|DIR")]
    pub from: PathBuf,
    /// Say what would be made of it, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Export {
    /// The block, as a bare file [default: all, as a bundle].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// File to write; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

#[derive(Debug, clap::Args)]
pub struct Import {
    /// A bundle, a block's file, a folder of such files, or - for stdin.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The name of a bare block [default: that of its file].
    #[arg(long, value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// What becomes of a block whose name is taken.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = OnConflict::Skip)]
    pub on_conflict: OnConflict,
    /// Leave faulty parts out and take the rest.
    #[arg(long)]
    pub repair: bool,
}

/// What becomes of a block whose name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnConflict {
    /// It is not imported; exit code 3.
    Skip,
    /// It takes the other one's place; `block undo` brings that back.
    Replace,
    /// It gets a number behind its name.
    Rename,
}

impl From<OnConflict> for pscale_blocks::bundle::OnConflict {
    fn from(how: OnConflict) -> Self {
        match how {
            OnConflict::Skip => Self::Skip,
            OnConflict::Replace => Self::Replace,
            OnConflict::Rename => Self::Rename,
        }
    }
}
