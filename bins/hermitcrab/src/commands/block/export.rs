//! `block export`: exports a block as its file, or all blocks as a bundle.

use bin_support::{Exit, Failure, OutputTarget, Session};
use pscale_blocks::BlockName;

use crate::bundle::{ExportText, all_blocks, send};
use crate::data_dir::DataDir;
use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct BlockExportArgs {
    /// Name of the block, which is exported as its file [default: all blocks, as a bundle].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// File to write; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

pub fn execute(
    args: &BlockExportArgs,
    json: bool,
    data: &DataDir,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let export = match &args.name {
        Some(name) => bare(data, name, session),
        None => all_blocks(data, false),
    };
    send(export, args.output.as_ref(), json, data, session)
}

/// Returns the file of a block as it is in the store. Labels have no place in it.
fn bare(data: &DataDir, name: &BlockName, session: &Session) -> Result<ExportText, Error> {
    let store = data.for_reading()?;
    let block = store.load(name)?.block;
    if !store.labels(name)?.nodes().is_empty() {
        session.warn(&format!(
            "{name} has texts from outside, which its file does not say: import it without --trust, or use `hermitcrab export`"
        ));
    }
    Ok(ExportText {
        text: block.to_file(),
        blocks: vec![name.clone()],
    })
}
