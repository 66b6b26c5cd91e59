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
    pub expect: RevisionFlags,
}

pub fn execute(args: &WriteArgs, data: &DataDir) -> Result<EditAnswer, Error> {
    let op = Op::Write {
        path: args.at.as_written()?,
        text: text::given(args.text.as_deref())?,
    };
    let edited = edit(data, &args.name, args.expect, &op)?;
    Ok(EditAnswer::of_edit(&args.name, EditAction::Written, &edited).at(&args.at))
}
