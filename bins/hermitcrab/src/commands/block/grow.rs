//! `block grow`: compresses the entries of a block under a summary.

use pscale_blocks::{BlockName, Op, Summary};

use crate::blocks::edit::{EditAction, EditAnswer, edit, receipt_notice};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::flags::{RevisionFlags, SummaryKindName};

#[derive(Debug, clap::Args)]
pub struct GrowArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Summary of the entries.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: String,
    /// Kind of the summary.
    #[arg(long, value_enum, value_name = "KIND", default_value_t = SummaryKindName::Summary)]
    pub kind: SummaryKindName,
    #[command(flatten)]
    pub expect: RevisionFlags,
}

pub fn execute(args: &GrowArgs, data: &DataDir) -> Result<EditAnswer, Error> {
    let op = Op::Grow {
        summary: Summary {
            kind: args.kind.into(),
            text: args.summary.clone(),
        },
    };
    let edited = edit(data, &args.name, args.expect, &op)?;
    Ok(EditAnswer {
        receipt: receipt_notice(data, &args.name, &edited),
        ..EditAnswer::of_edit(&args.name, EditAction::Grown, &edited)
    })
}
