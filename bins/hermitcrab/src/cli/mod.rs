//! The command line: every command and its flags.

mod address;
mod blocks;
mod bundles;
mod examples;
mod keys;
mod talk;

use std::path::PathBuf;

use bin_support::{DefaultPath, Failure, Program};
use clap::ArgMatches;

pub use self::address::Address;
pub use self::blocks::*;
pub use self::bundles::*;
pub use self::keys::*;
pub use self::talk::*;
use crate::data_dir::DataDir;
use crate::error::Error;

/// Talk with a model that lives in blocks, and edit the blocks
#[derive(Debug, clap::Parser)]
#[command(name = "hermitcrab", version, after_help = examples::PROGRAM)]
pub struct Cli {
    // First, so that it hides and spreads its own flags only.
    #[command(flatten)]
    pub model: AnywhereModelFlags,
    /// Where everything of this instance is kept [default: hermitcrab in the user's folder for data].
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Without one: `chat`.
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Program for Cli {
    fn places(matches: &ArgMatches) -> Result<Vec<DefaultPath>, Failure> {
        let flag = matches.get_one::<PathBuf>("data");
        let data = DataDir::find(flag.map(PathBuf::as_path)).map_err(Error::failure)?;
        Ok(vec![DefaultPath::new(
            "blocks, faces, costs and keys",
            data.path(),
        )])
    }
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Talk with the model here; a pipe is one turn a line
    #[command(after_help = examples::CHAT)]
    Chat(Chat),
    /// Show the face that the model writes, in a browser
    ///
    /// The page is served to this machine only.
    #[command(after_help = examples::SERVE)]
    Serve(Serve),
    /// Read and edit blocks, without a model or a network
    #[command(after_help = examples::BLOCK)]
    Block(Block),
    /// Print what the next request would be, or its tokens
    #[command(after_help = examples::PROMPT)]
    Prompt(Prompt),
    /// Check a face for faults
    #[command(after_help = examples::COMPILE)]
    Compile(Compile),
    /// List the faces that are kept, print one or use one
    #[command(after_help = examples::SHELLS)]
    Shells(Shells),
    /// Print the cost of all calls
    #[command(after_help = examples::COST)]
    Cost(Cost),
    /// Check settings, data directory and the provider's models
    #[command(after_help = examples::DOCTOR)]
    Doctor(Doctor),
    /// Export all blocks as one file, without keys
    #[command(after_help = examples::EXPORT)]
    Export(ExportAll),
    /// Import blocks from an export, a block's file or a folder
    #[command(after_help = examples::IMPORT)]
    Import(ImportAll),
    /// Import what an instance of the earlier generation left
    #[command(after_help = examples::MIGRATE)]
    Migrate(Migrate),
    /// Keep the key that a model is asked with
    #[command(after_help = examples::KEY)]
    Key(Key),
    /// Serve the blocks over MCP on stdin and stdout
    ///
    /// Another program's model can then read them; with --write it can change them, too.
    #[command(after_help = examples::MCP)]
    Mcp(Mcp),
}

#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Mcp {
    /// Let the client change blocks. Nobody else can while the server runs.
    #[arg(long)]
    pub write: bool,
    /// Print the configuration that makes an MCP client start this server, and serve nothing.
    #[arg(long)]
    pub print_config: bool,
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches as _, Parser as _};

    use super::*;

    fn parse(words: &[&str]) -> Result<Command, clap::Error> {
        let words = ["hermitcrab"].iter().chain(words);
        Cli::try_parse_from(words).map(|cli| cli.command.unwrap())
    }

    #[test]
    fn every_help_has_its_form_and_examples_that_parse() {
        test_support::check_help(&bin_support::command::<Cli>());
    }

    #[test]
    fn flags_stand_anywhere() {
        for line in [
            "--data D --quiet --model M block --json list",
            "block list --json --quiet --model M --data D",
        ] {
            let words = ["hermitcrab"].into_iter().chain(line.split(' '));
            let matches = bin_support::command::<Cli>()
                .try_get_matches_from(words)
                .unwrap();
            let cli = Cli::from_arg_matches(&matches).unwrap();
            assert_eq!(cli.data, Some("D".into()), "{line}");
            assert_eq!(cli.model.flags.model.as_deref(), Some("M"), "{line}");
            assert!(matches.get_flag("quiet"), "{line}");
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
