//! `block create`: creates a block.

use pscale_blocks::store::remove_keys;
use pscale_blocks::{Block, BlockName};

use crate::blocks::edit::{EditAction, EditAnswer};
use crate::blocks::text;
use crate::data_dir::DataDir;
use crate::error::Error;

/// The purpose of the text of a new block.
const PURPOSE: &str = "what this block is for";

#[derive(Debug, clap::Args)]
pub struct CreateArgs {
    /// Name of the block: 1 to 64 of a-z, 0-9, underscore and dash, a letter first.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Purpose of the block, the text of its head [default: stdin, as with -].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
}

pub fn execute(args: &CreateArgs, data: &DataDir) -> Result<EditAnswer, Error> {
    let text = text::read(args.text.as_deref(), PURPOSE)?;
    if text.trim().is_empty() {
        return Err(Error::MissingText { purpose: PURPOSE });
    }
    // `Block::new` would cut a text that is too long, and `write` refuses it.
    let mut block = Block::new("");
    block.write(&block.head(), &text)?;
    let store = data.for_writing()?;
    let rev = store.create(&args.name, &block, &data.stamp_by_person())?;
    Ok(EditAnswer {
        // The store removes keys from a new block, but does not report their number.
        keys_removed: remove_keys(&text).1,
        ..EditAnswer::new(&args.name, rev, EditAction::Created)
    })
}
