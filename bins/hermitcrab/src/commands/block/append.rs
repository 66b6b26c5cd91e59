//! `block append`: adds an entry to a block.

use std::io::{self, Write as _};

use bin_support::{Exit, Results};
use pscale_blocks::{Appended, Applied, BlockName, Grown, NodeLine, Op, Path, Summary};
use serde::Serialize;

use crate::answer::Answer;
use crate::blocks::edit::{edit, growth_notice, key_notice, receipt_notice};
use crate::blocks::output::{outline, shown};
use crate::blocks::text;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::flags::{RevisionFlags, SummaryKindName};

#[derive(Debug, clap::Args)]
pub struct AppendArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Text of the entry [default: stdin, as with -].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Summary of the nine entries before it, if there are nine.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: Option<String>,
    /// Kind of the summary.
    #[arg(long, value_enum, value_name = "KIND", default_value_t = SummaryKindName::Summary)]
    pub kind: SummaryKindName,
    #[command(flatten)]
    pub expect: RevisionFlags,
}

/// The answer to an append: the path of the entry, or the summary that must come first.
#[derive(Serialize)]
pub struct AppendAnswer {
    name: BlockName,
    /// The revision of the block after the command.
    rev: u64,
    /// The path of the entry. It is null if a summary must come first; the entry is then **not** written.
    path: Option<Path>,
    /// The summary that must come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs_summary: Option<MissingSummary>,
    /// The change of paths, if the block grew.
    #[serde(skip_serializing_if = "Option::is_none")]
    grown: Option<Grown>,
    /// The number of keys that were removed from the texts.
    keys_removed: u32,
    #[serde(skip)]
    summary_stored: bool,
    /// The line about the summary that was written.
    #[serde(skip)]
    receipt: Option<String>,
}

/// A summary that must be written before the next entry.
#[derive(Serialize)]
struct MissingSummary {
    /// The node that receives the summary.
    at: Path,
    /// Whether the block grows a level by it.
    grows: bool,
    /// The nine entries to summarise.
    entries: Vec<NodeLine>,
}

pub fn execute(args: &AppendArgs, data: &DataDir) -> Result<AppendAnswer, Error> {
    let summary = args.summary.as_ref().map(|text| Summary {
        kind: args.kind.into(),
        text: text.clone(),
    });
    let op = Op::Append {
        text: text::read(args.text.as_deref(), "the text of the entry")?,
        summary,
    };
    let edited = edit(data, &args.name, args.expect, &op)?;
    let mut appending = AppendAnswer {
        name: args.name.clone(),
        rev: edited.rev,
        path: None,
        needs_summary: None,
        grown: None,
        keys_removed: edited.keys_removed,
        summary_stored: false,
        receipt: receipt_notice(data, &args.name, &edited),
    };
    match edited.applied {
        Some(Applied::Appended(Appended::NeedsSummary {
            at,
            grows,
            entries,
            change,
        })) => {
            appending.summary_stored = change.is_some();
            appending.needs_summary = Some(MissingSummary { at, grows, entries });
        }
        Some(Applied::Appended(Appended::Written { path, change })) => {
            appending.path = Some(path);
            appending.grown = change.grown;
        }
        Some(Applied::Changed(_)) | None => {}
    }
    Ok(appending)
}

impl Answer for AppendAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        if let Some(need) = &self.needs_summary {
            return outline(&need.entries, None, out);
        }
        let path = self.path.as_ref().map(shown).unwrap_or_default();
        writeln!(
            out,
            "{} {path} is written, revision {}",
            self.name, self.rev
        )
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if let Some(need) = &self.needs_summary {
            let (name, full) = (&self.name, need.entries.len());
            let state = if self.summary_stored {
                format!(
                    "the summary is stored, and {} is full, too",
                    shown(&need.at)
                )
            } else {
                format!("{name} is full ({full} entries); nothing was written")
            };
            notices.push(format!(
                "{state}. Summarise them to continue: hermitcrab block append {name} TEXT --summary TEXT"
            ));
        }
        notices.extend(growth_notice(&self.name, self.grown.as_ref()));
        notices.extend(self.receipt.clone());
        notices.extend(key_notice(self.keys_removed));
        notices
    }

    /// Returns a failure if the entry is not written.
    fn exit(&self) -> Exit {
        match self.needs_summary {
            Some(_) => Exit::Failed,
            None => Exit::Done,
        }
    }
}
