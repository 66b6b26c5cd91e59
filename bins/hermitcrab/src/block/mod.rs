//! The block commands: reading and editing without a model.

mod append;
mod diff;
mod edit;
mod lint;
mod list;
mod log;
mod outline;
mod read;
mod search;
mod text;

pub use self::edit::keys_removed;
pub use self::list::list;
pub use self::log::{latest, log, redo, undo};
pub use self::read::read;

use bin_support::{Exit, Failure, Session};

use crate::answer::give;
use crate::bundle;
use crate::cli::{self, BlockCommand};
use crate::data_dir::DataDir;

pub fn execute(args: &cli::Block, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let json = args.json;
    let reading = || data.for_reading();
    let writing = || data.for_writing();
    match &args.command {
        BlockCommand::List => give(json, reading().and_then(|store| list(&*store)), session),
        BlockCommand::Read(args) => give(
            json,
            reading().and_then(|store| read(args, &*store)),
            session,
        ),
        BlockCommand::Create(args) => give(json, edit::create(args, data), session),
        BlockCommand::Write(args) => give(json, edit::write(args, data), session),
        BlockCommand::Append(args) => give(json, append::append(args, data), session),
        BlockCommand::Grow(args) => give(json, edit::grow(args, data), session),
        BlockCommand::Mv(args) => give(json, edit::relocate(args, data), session),
        BlockCommand::Rm(args) => give(json, edit::remove(args, data), session),
        BlockCommand::Search(args) => give(json, search::search(args, data), session),
        BlockCommand::Diff(args) => give(json, diff::diff(args, data), session),
        BlockCommand::Lint(args) => give(json, lint::lint(args, data), session),
        BlockCommand::Export(args) => bundle::export(args, json, data, session),
        BlockCommand::Import(args) => give(json, bundle::import(args, data), session),
        BlockCommand::Log(args) => give(
            json,
            reading().and_then(|store| log(args, &*store)),
            session,
        ),
        BlockCommand::Undo(args) => give(
            json,
            writing().and_then(|store| undo(args, &*store)),
            session,
        ),
        BlockCommand::Redo(args) => give(
            json,
            writing().and_then(|store| redo(args, &*store)),
            session,
        ),
    }
}
