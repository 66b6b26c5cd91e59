//! `block`: reads and edits blocks without a model.

mod append;
mod create;
mod diff;
mod examples;
mod export;
mod grow;
mod lint;
mod log;
mod mv;
mod read;
mod review;
mod rm;
mod search;
mod step;
mod write;

use bin_support::{Exit, Failure, Session};

use self::append::AppendArgs;
use self::create::CreateArgs;
use self::diff::DiffArgs;
use self::export::BlockExportArgs;
use self::grow::GrowArgs;
use self::lint::LintArgs;
use self::log::LogArgs;
use self::mv::MvArgs;
use self::read::ReadArgs;
use self::review::ReviewArgs;
use self::rm::RmArgs;
use self::search::SearchArgs;
use self::step::StepArgs;
use self::write::WriteArgs;
use crate::answer::print_answer;
use crate::blocks::list::list;
use crate::bundle::{self, ImportFlags};
use crate::data_dir::DataDir;

/// Examples of the commands, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab block list
  hermitcrab block read constitution
  hermitcrab block log constitution";

#[derive(Debug, clap::Args)]
pub struct BlockArgs {
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: BlockCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum BlockCommand {
    /// List the blocks
    #[command(after_help = examples::LIST)]
    List,
    /// Show a node and its neighbours
    #[command(after_help = examples::READ, visible_alias = "show")]
    Read(ReadArgs),
    /// Create a block
    #[command(after_help = examples::CREATE, visible_alias = "new")]
    Create(CreateArgs),
    /// Write a node's text; its children stay
    #[command(after_help = examples::WRITE, visible_alias = "edit")]
    Write(WriteArgs),
    /// Add an entry at the next free path
    #[command(after_help = examples::APPEND, visible_alias = "add")]
    Append(AppendArgs),
    /// Compress the entries under a summary, one level up
    #[command(after_help = examples::GROW)]
    Grow(GrowArgs),
    /// Move a node and the nodes below it to a free path
    #[command(after_help = examples::MV, visible_alias = "move")]
    Mv(MvArgs),
    /// Remove a node and the nodes below it
    #[command(after_help = examples::RM, visible_alias = "delete", alias = "remove")]
    Rm(RmArgs),
    /// Find the nodes whose texts contain some words
    #[command(after_help = examples::SEARCH)]
    Search(SearchArgs),
    /// Show the differences of two blocks or two revisions
    ///
    /// The exit code is 4 if there is a difference.
    #[command(after_help = examples::DIFF)]
    Diff(DiffArgs),
    /// Warn of forms that are probably a mistake
    ///
    /// The exit code is 4 if there is a finding.
    #[command(after_help = examples::LINT)]
    Lint(LintArgs),
    /// Write a block, or all of them, to stdout or a file
    #[command(after_help = examples::EXPORT)]
    Export(BlockExportArgs),
    /// Import blocks from a file or a folder
    #[command(after_help = examples::IMPORT)]
    Import(ImportFlags),
    /// Show the edits of a block, or of all
    #[command(after_help = examples::LOG)]
    Log(LogArgs),
    /// Decide about edits of the model that wait for you
    ///
    /// An edit of the model's own blocks waits if a page, a file or another program may have asked for it.
    #[command(after_help = examples::REVIEW)]
    Review(ReviewArgs),
    /// Undo the last edits
    #[command(after_help = examples::UNDO)]
    Undo(StepArgs),
    /// Redo edits that were undone
    ///
    /// After another edit there is nothing to redo.
    #[command(after_help = examples::REDO)]
    Redo(StepArgs),
}

pub fn execute(args: &BlockArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let json = args.json;
    match &args.command {
        BlockCommand::List => {
            let blocks = data.for_reading().and_then(|store| list(&*store));
            print_answer(json, blocks, session)
        }
        BlockCommand::Read(args) => print_answer(json, read::execute(args, data), session),
        BlockCommand::Create(args) => print_answer(json, create::execute(args, data), session),
        BlockCommand::Write(args) => print_answer(json, write::execute(args, data), session),
        BlockCommand::Append(args) => print_answer(json, append::execute(args, data), session),
        BlockCommand::Grow(args) => print_answer(json, grow::execute(args, data), session),
        BlockCommand::Mv(args) => print_answer(json, mv::execute(args, data), session),
        BlockCommand::Rm(args) => print_answer(json, rm::execute(args, data), session),
        BlockCommand::Search(args) => print_answer(json, search::execute(args, data), session),
        BlockCommand::Diff(args) => print_answer(json, diff::execute(args, data), session),
        BlockCommand::Lint(args) => print_answer(json, lint::execute(args, data), session),
        BlockCommand::Export(args) => export::execute(args, json, data, session),
        BlockCommand::Import(args) => print_answer(json, bundle::import(args, data), session),
        BlockCommand::Log(args) => print_answer(json, log::execute(args, data), session),
        BlockCommand::Review(args) => review::execute(args, json, data, session),
        BlockCommand::Undo(args) => print_answer(json, step::undo(args, data), session),
        BlockCommand::Redo(args) => print_answer(json, step::redo(args, data), session),
    }
}
