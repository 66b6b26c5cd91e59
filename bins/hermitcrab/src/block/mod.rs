//! The block commands: reading and editing without a model.

mod append;
mod edit;
mod list;
mod log;
mod outline;
mod read;
mod text;

use bin_support::{Exit, Failure, Session};

use crate::answer::give;
use crate::cli;
use crate::cli::BlockCommand;
use crate::data_dir::DataDir;

pub fn execute(args: &cli::Block, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let json = args.json;
    match &args.command {
        BlockCommand::List => give(json, list::list(data), session),
        BlockCommand::Read(args) => give(json, read::read(args, data), session),
        BlockCommand::Create(args) => give(json, edit::create(args, data), session),
        BlockCommand::Write(args) => give(json, edit::write(args, data), session),
        BlockCommand::Append(args) => give(json, append::append(args, data), session),
        BlockCommand::Grow(args) => give(json, edit::grow(args, data), session),
        BlockCommand::Mv(args) => give(json, edit::relocate(args, data), session),
        BlockCommand::Rm(args) => give(json, edit::remove(args, data), session),
        BlockCommand::Log(args) => give(json, log::log(args, data), session),
        BlockCommand::Undo(args) => give(json, log::undo(args, data), session),
    }
}
