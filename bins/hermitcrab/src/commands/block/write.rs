//! `block write`: writes a node's text.

use pscale_blocks::{BlockName, Op};

use crate::address::Address;
use crate::blocks::edit::{EditAction, EditAnswer, edit};
use crate::blocks::text;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::flags::RevisionFlags;

#[derive(Debug, clap::Args)]
pub struct WriteArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Path of the node, which is created if it does not exist.
    #[arg(value_name = "PATH")]
    pub at: Address,
    /// Text of the node [default: stdin, as with -].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    #[command(flatten)]
    pub expect: RevisionFlags,
}

pub fn execute(args: &WriteArgs, data: &DataDir) -> Result<EditAnswer, Error> {
    let op = Op::Write {
        path: args.at.as_written()?,
        text: text::read(args.text.as_deref(), "the text of the node")?,
    };
    let edited = edit(data, &args.name, args.expect, &op)?;
    Ok(EditAnswer::of_edit(&args.name, EditAction::Written, &edited).at(&args.at))
}
