//! `block review`: lists the edits that wait for the person, and decides about them.

use bin_support::{Exit, Failure, Session};

use crate::answer::print_answer;
use crate::blocks::review::{approve, drop, list};
use crate::data_dir::DataDir;

use super::examples;

#[derive(Debug, clap::Args)]
pub struct ReviewArgs {
    #[command(subcommand)]
    pub command: Option<ReviewCommand>,
}

#[derive(Debug, clap::Subcommand)]
pub enum ReviewCommand {
    /// Make an edit that waits
    #[command(after_help = examples::REVIEW)]
    Approve {
        /// Id of the edit, as the list shows it.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Remove an edit that waits
    #[command(after_help = examples::REVIEW)]
    Drop {
        /// Id of the edit, as the list shows it.
        #[arg(value_name = "ID")]
        id: String,
    },
}

pub fn execute(
    args: &ReviewArgs,
    json: bool,
    data: &DataDir,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let queue = data.review();
    match &args.command {
        None => {
            let waiting = data.for_reading().and_then(|store| list(&queue, &*store));
            print_answer(json, waiting, session)
        }
        Some(ReviewCommand::Approve { id }) => {
            let store = data.for_writing();
            let approved = store.and_then(|store| approve(id, &queue, &*store, data.now()));
            print_answer(json, approved, session)
        }
        Some(ReviewCommand::Drop { id }) => {
            // No other process writes to the queue while this one has the lock.
            let dropped = data.for_writing().and_then(|_store| drop(id, &queue));
            print_answer(json, dropped, session)
        }
    }
}
