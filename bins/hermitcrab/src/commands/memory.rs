//! `memory`: compares the summaries of a block with the texts below them.

use std::io::{self, Write as _};

use bin_support::{Exit, Failure, Results, Session};
use hermitcrab_kernel::prompt::{CoreBlock, Receipt, SummaryFact};
use pscale_blocks::{BlockName, Path};
use serde::Serialize;

use crate::answer::{Answer, print_answer};
use crate::blocks::output::{line, shown};
use crate::data_dir::DataDir;
use crate::error::Error;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab memory audit
  hermitcrab memory audit constitution --json";

#[derive(Debug, clap::Args)]
pub struct MemoryArgs {
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: MemoryCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum MemoryCommand {
    /// Show the facts that summaries lose or add
    ///
    /// A fact is an identifier, a date, a number, a name or a negation; negations, and dates with the name of a month, are found in
    /// English only. A summary is compared with the texts of its nine entries, or of the nine summaries below it.
    #[command(after_help = EXAMPLES)]
    Audit(AuditArgs),
}

#[derive(Debug, clap::Args)]
pub struct AuditArgs {
    /// Name of the block [default: memory].
    #[arg(value_name = "BLOCK")]
    pub name: Option<BlockName>,
    /// Exit with code 4 if a summary adds a fact.
    #[arg(long)]
    pub fail_on_added: bool,
}

/// The summaries of a block, the widest first.
#[derive(Serialize)]
struct AuditAnswer {
    name: BlockName,
    summaries: Vec<AuditedSummary>,
    #[serde(skip)]
    fail_on_added: bool,
}

/// A summary with its receipt.
#[derive(Serialize)]
struct AuditedSummary {
    path: Path,
    #[serde(flatten)]
    receipt: Receipt,
}

pub fn execute(args: &MemoryArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let MemoryCommand::Audit(audit) = &args.command;
    print_answer(args.json, audit.answer(data), session)
}

impl AuditArgs {
    fn answer(&self, data: &DataDir) -> Result<AuditAnswer, Error> {
        let name = self
            .name
            .as_ref()
            .unwrap_or(CoreBlock::Memory.name())
            .clone();
        let block = data.for_reading()?.load(&name)?.block;
        let summaries = Receipt::all(&block).into_iter();
        Ok(AuditAnswer {
            name,
            summaries: summaries
                .map(|(path, receipt)| AuditedSummary { path, receipt })
                .collect(),
            fail_on_added: self.fail_on_added,
        })
    }
}

impl AuditAnswer {
    fn adds(&self) -> bool {
        let mut receipts = self.summaries.iter().map(|summary| &summary.receipt);
        receipts.any(|receipt| !receipt.added.is_empty())
    }
}

impl Answer for AuditAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        for AuditedSummary { path, receipt } in &self.summaries {
            writeln!(out, "{}  {receipt}", shown(path))?;
            let mut fact = |change: &str, fact: &SummaryFact| {
                let place = fact.path.as_ref().map(shown).unwrap_or_default();
                let text = line(&fact.text, usize::MAX, out);
                let text = format!("  {change:<5}  {:<10}  {text}  {place}", fact.kind);
                writeln!(out, "{}", text.trim_end())
            };
            receipt
                .lost
                .iter()
                .try_for_each(|lost| fact("lost", lost))?;
            receipt
                .added
                .iter()
                .try_for_each(|added| fact("added", added))?;
        }
        Ok(())
    }

    fn notices(&self) -> Vec<String> {
        if self.summaries.is_empty() {
            return vec![format!("{} has no summaries yet", self.name)];
        }
        Vec::new()
    }

    fn exit(&self) -> Exit {
        if self.fail_on_added && self.adds() {
            Exit::CheckFailed
        } else {
            Exit::Done
        }
    }
}
