//! `hermitcrab`: a model that lives in blocks, on the command line.
//!
//! ```sh
//! hermitcrab chat                     # a conversation in the terminal
//! hermitcrab serve                    # the face in a browser
//! ```
//!
//! `hermitcrab --help` lists the commands. The guide is `docs/hermitcrab.md` in the repository.

mod answer;
mod block;
mod bundle;
mod chat;
mod cli;
mod clock;
mod data_dir;
mod doctor;
mod error;
mod key;
mod look;
mod mcp;
mod migrate;
mod opened;
mod plain_file;
mod serve;

use std::process::ExitCode;

use bin_support::{Exit, Failure, Session};

use answer::give;
use cli::{Chat, Cli, Command};
use data_dir::DataDir;
use error::Error;

fn main() -> ExitCode {
    bin_support::run(execute)
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    let data = || DataDir::find(cli.data.as_deref()).map_err(Error::failure);
    let Some(command) = &cli.command else {
        let args = Chat {
            model: cli.model.flags.clone(),
            ..Chat::default()
        };
        return chat::execute(&args, &data()?, session);
    };
    match command {
        Command::Chat(args) => chat::execute(args, &data()?, session),
        Command::Serve(args) => serve::execute(args, &data()?, session),
        Command::Prompt(args) => look::prompt(args, &data()?, session),
        Command::Compile(args) => look::compile(args, session),
        Command::Shells(args) => look::shells(args, &data()?, session),
        Command::Cost(args) => look::cost(args, &data()?, session),
        Command::Doctor(args) => doctor::execute(args, &data()?, session),
        Command::Block(args) => block::execute(args, &data()?, session),
        Command::Export(args) => bundle::export_all(args, &data()?, session),
        Command::Import(args) => give(args.json, bundle::import(&args.import, &data()?), session),
        Command::Migrate(args) => migrate::execute(args, &data()?, session),
        Command::Key(args) => key::execute(args, &data()?, session),
        Command::Mcp(args) if args.print_config => {
            mcp::print_config(*args, cli.data.as_deref(), session)
        }
        Command::Mcp(args) => mcp::execute(*args, data()?, session),
    }
}
