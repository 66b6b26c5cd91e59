//! The command line: every flag, and which function a command is.

mod address;
mod blocks;
mod bundles;
mod keys;
mod talk;

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{CommonFlags, Exit, Failure, Session};
use clap_complete::Shell;

pub use self::address::Address;
pub use self::blocks::*;
pub use self::bundles::*;
pub use self::keys::*;
pub use self::talk::*;
use crate::answer::give;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::{block, bundle, chat, doctor, key, look, mcp, migrate, serve};

/// A model that lives in blocks, and the blocks themselves.
#[derive(Debug, clap::Parser)]
#[command(name = "hermitcrab", version, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    common: CommonFlags,
    /// Where everything of this instance is kept [default: hermitcrab in the user's folder for data].
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Without one: `chat`.
    #[command(subcommand)]
    command: Option<Command>,
}

impl AsRef<CommonFlags> for Cli {
    fn as_ref(&self) -> &CommonFlags {
        &self.common
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Talk with the model in this terminal; a pipe is one turn a line.
    Chat(Chat),
    /// Show the face that the model writes, in a browser, from this machine only.
    Serve(Serve),
    /// Read and edit blocks. No model and no network is needed.
    Block(Block),
    /// Print what the next request would be, or its tokens.
    Prompt(Prompt),
    /// Look for faults in a face.
    Compile(Compile),
    /// List the faces that are kept, print one, or go back to one.
    Shells(Shells),
    /// Print what calls have taken.
    Cost(Cost),
    /// Check the settings, the data directory and the provider's models.
    Doctor(Doctor),
    /// Write all blocks as one file. No key is in it.
    Export(ExportAll),
    /// Take in the blocks of such a file, of a block's file or of a folder.
    Import(ImportAll),
    /// Take over what an instance of the earlier generation left.
    Migrate(Migrate),
    /// Keep the key that a model is asked with.
    Key(Key),
    /// Serve the blocks to another program's model, over MCP on stdin and stdout. Reading only, unless told otherwise.
    Mcp(Mcp),
    /// Print completions for a shell.
    Completions(Completions),
}

#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Mcp {
    /// Let the client change blocks. Nobody else can while the server runs.
    #[arg(long)]
    pub write: bool,
}

#[derive(Debug, clap::Args)]
struct Completions {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    let data = || DataDir::find(cli.data.as_deref()).map_err(Error::failure);
    let Some(command) = &cli.command else {
        return chat::execute(&Chat::default(), &data()?, session);
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
        Command::Mcp(args) => mcp::execute(*args, data()?, session),
        Command::Completions(args) => completions(args, session),
    }
}

fn completions(args: &Completions, session: &mut Session) -> Result<Exit, Failure> {
    let mut command = <Cli as clap::CommandFactory>::command();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "hermitcrab", &mut script);
    session.results.write_all(&script)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;

    fn parse(words: &[&str]) -> Result<Command, clap::Error> {
        let words = ["hermitcrab"].iter().chain(words);
        Cli::try_parse_from(words).map(|cli| cli.command.unwrap())
    }

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_stand_anywhere() {
        for line in [
            "--data D --quiet block --json list",
            "block list --json --quiet --data D",
        ] {
            let words = ["hermitcrab"].into_iter().chain(line.split(' '));
            let cli = Cli::try_parse_from(words).unwrap();
            assert_eq!(cli.data, Some("D".into()), "{line}");
            assert!(cli.common.quiet, "{line}");
            assert!(matches!(
                cli.command,
                Some(Command::Block(Block { json: true, .. }))
            ));
        }
    }

    #[test]
    fn a_text_may_begin_with_a_dash_and_flags_stay_flags() {
        let write = |words: &[&str]| {
            let words = [&["block", "write", "yard", "0.1"], words].concat();
            match parse(&words) {
                Ok(Command::Block(Block {
                    command: BlockCommand::Write(write),
                    json,
                })) => (write.text, write.expect.rev, json),
                other => panic!("{other:?}"),
            }
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(write(&["- an item"]), (text("- an item"), None, false));
        assert_eq!(
            write(&["--not-a-flag"]),
            (text("--not-a-flag"), None, false)
        );
        assert_eq!(write(&["-", "--rev", "3"]), (text("-"), Some(3), false));
        assert_eq!(write(&["--json", "x"]), (text("x"), None, true));
        assert_eq!(write(&["--", "--json"]), (text("--json"), None, false));
        assert_eq!(write(&[]), (None, None, false));
    }
}
