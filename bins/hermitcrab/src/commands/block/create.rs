//! `block create`: makes a block.

use pscale_blocks::store::remove_keys;
use pscale_blocks::{Block, BlockName};

use crate::blocks::edit::{EditAction, EditAnswer};
use crate::blocks::text;
use crate::clock::by_the_person;
use crate::data_dir::DataDir;
use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct CreateArgs {
    /// Its name: 1 to 64 of a-z, 0-9, underscore and dash, a letter first.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// What it is, the text of its head [default: stdin, as with -].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
}

pub fn execute(args: &CreateArgs, data: &DataDir) -> Result<EditAnswer, Error> {
    let text = text::given(args.text.as_deref())?;
    if text.trim().is_empty() {
        return Err(Error::MissingText);
    }
    // Written and not given to the new block, which would cut a text that is too long.
    let mut block = Block::new("");
    block.write(&block.head(), &text)?;
    let store = data.for_writing()?;
    let rev = store.create(&args.name, &block, &by_the_person())?;
    Ok(EditAnswer {
        // What the store does, and does not say of a new block.
        keys_removed: remove_keys(&text).1,
        ..EditAnswer::new(&args.name, rev, EditAction::Created)
    })
}
