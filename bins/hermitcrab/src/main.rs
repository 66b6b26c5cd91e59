//! `hermitcrab`: a model that lives in blocks, on the command line.
//!
//! ```sh
//! hermitcrab chat                     # a conversation in the terminal
//! hermitcrab serve                    # the face in a browser
//! ```
//!
//! `hermitcrab --help` lists the commands. The guide is `docs/hermitcrab.md` in the repository.

mod address;
mod answer;
mod blocks;
mod bundle;
mod commands;
mod conversation;
mod data_dir;
mod draft_store;
mod error;
mod flags;
mod kernel_setup;
mod key_file;
mod model_setup;
mod plain_file;
mod react_sources;
mod servers;
mod sizes;
mod takeover;
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;

use bin_support::demo::DemoArgs;
use bin_support::{DefaultPath, Exit, Failure, Program, Session};
use clap::ArgMatches;

use commands::block::{self, BlockArgs};
use commands::chat::{self, ChatArgs};
use commands::compile::{self, CompileArgs};
use commands::cost::{self, CostArgs};
use commands::demo;
use commands::doctor::{self, DoctorArgs};
use commands::export::{self, ExportArgs};
use commands::faces::{self, FacesArgs};
use commands::import::{self, ImportArgs};
use commands::key::{self, KeyArgs};
use commands::mcp::{self, McpArgs};
use commands::memory::{self, MemoryArgs};
use commands::migrate::{self, MigrateArgs};
use commands::prompt::{self, PromptArgs};
use commands::prune::{self, PruneArgs};
use commands::runtime::{self, RuntimeArgs};
use commands::serve::{self, ServeArgs};
use commands::trace::{self, TraceArgs};
use data_dir::DataDir;
use error::Error;
use flags::{AnywhereModelFlags, data};

const EXAMPLES: &str = "\
Examples:
  hermitcrab chat
  hermitcrab block read constitution";

/// Talk with a model that lives in blocks, and edit the blocks
#[derive(Debug, clap::Parser)]
#[command(name = "hermitcrab", version, after_help = EXAMPLES)]
struct Cli {
    // These come first, so that `mut_args` changes these flags alone.
    #[command(flatten)]
    model: AnywhereModelFlags,
    /// Data directory, accepted before and after every command. Commands that use it declare it again for their help.
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

impl Program for Cli {
    const RARE: &'static [&'static str] = &["runtime"];

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
enum Command {
    /// Talk with the model here; a pipe is one turn a line
    #[command(after_help = chat::EXAMPLES, arg(data()))]
    Chat(ChatArgs),
    /// Show the face that the model writes, in a browser
    ///
    /// The page is served to this machine only.
    #[command(after_help = serve::EXAMPLES, arg(data()))]
    Serve(ServeArgs),
    /// Read and edit blocks, without a model or a network
    #[command(after_help = block::EXAMPLES, arg(data().global(true)))]
    Block(BlockArgs),
    /// Check the summaries in the memory against its entries
    #[command(after_help = memory::EXAMPLES, arg(data().global(true)))]
    Memory(MemoryArgs),
    /// Print the next request, or its tokens
    #[command(after_help = prompt::EXAMPLES, arg(data()))]
    Prompt(PromptArgs),
    /// Check a face for faults
    #[command(after_help = compile::EXAMPLES)]
    Compile(CompileArgs),
    /// List the stored faces, print one or use one
    #[command(name = "shells", after_help = faces::EXAMPLES, arg(data().global(true)))]
    Faces(FacesArgs),
    /// Show where a text of a block comes from
    #[command(after_help = trace::EXAMPLES, arg(data()))]
    Trace(TraceArgs),
    /// Print the cost of all calls
    #[command(after_help = cost::EXAMPLES, arg(data()))]
    Cost(CostArgs),
    /// Check settings, data directory and the provider's models
    #[command(after_help = doctor::EXAMPLES, arg(data()))]
    Doctor(DoctorArgs),
    /// Export all blocks as one file, without keys
    #[command(after_help = export::EXAMPLES, arg(data()))]
    Export(ExportArgs),
    /// Import blocks from an export, a block's file or a folder
    #[command(after_help = import::EXAMPLES, arg(data()))]
    Import(ImportArgs),
    /// Import the data of an instance of the earlier generation
    #[command(after_help = migrate::EXAMPLES, arg(data()))]
    Migrate(MigrateArgs),
    /// Remove old archives of logs and what was put aside
    ///
    /// Nothing is removed without this command.
    #[command(after_help = prune::EXAMPLES, arg(data()))]
    Prune(PruneArgs),
    /// Show which React is kept for faces, or install it
    #[command(after_help = runtime::EXAMPLES, arg(data().global(true)))]
    Runtime(RuntimeArgs),
    /// Store the key of a model provider
    #[command(after_help = key::EXAMPLES, arg(data().global(true)))]
    Key(KeyArgs),
    /// Serve the blocks over MCP, or add tools of MCP servers
    ///
    /// Without a command it serves on stdin and stdout: another program's model can then read the blocks; with --write it can
    /// change them, too. The commands let the model of this program use tools of other programs.
    #[command(after_help = mcp::EXAMPLES, arg(data().global(true)))]
    Mcp(McpArgs),
    /// Hold a conversation offline and show what it leaves
    #[command(after_help = demo::EXAMPLES)]
    Demo(DemoArgs),
}

fn main() -> ExitCode {
    bin_support::run(execute)
}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    let data = || {
        let data = DataDir::find(cli.data.as_deref()).map_err(Error::failure)?;
        Ok::<_, Failure>(data.with_clock(cli.model.flags.clock()?))
    };
    match &cli.command {
        Command::Chat(args) => chat::execute(args, &data()?, session),
        Command::Serve(args) => serve::execute(args, &data()?, session),
        Command::Block(args) => block::execute(args, &data()?, session),
        Command::Memory(args) => memory::execute(args, &data()?, session),
        Command::Prompt(args) => prompt::execute(args, &data()?, session),
        Command::Compile(args) => compile::execute(args, session),
        Command::Faces(args) => faces::execute(args, &data()?, session),
        Command::Trace(args) => trace::execute(args, &data()?, session),
        Command::Cost(args) => cost::execute(args, &data()?, session),
        Command::Doctor(args) => doctor::execute(args, &data()?, session),
        Command::Export(args) => export::execute(args, &data()?, session),
        Command::Import(args) => import::execute(args, &data()?, session),
        Command::Migrate(args) => migrate::execute(args, &data()?, session),
        Command::Prune(args) => prune::execute(args, &data()?, session),
        Command::Runtime(args) => runtime::execute(args, &data()?, session),
        Command::Key(args) => key::execute(args, &data()?, session),
        Command::Mcp(args) => mcp::execute(args, cli.data.as_deref(), data, session),
        Command::Demo(args) => demo::execute(args, session),
    }
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches as _, Parser as _};

    use super::*;
    use commands::block::BlockCommand;

    fn parse(words: &[&str]) -> Result<Command, clap::Error> {
        let words = ["hermitcrab"].iter().chain(words);
        Cli::try_parse_from(words).map(|cli| cli.command)
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
                Command::Block(BlockArgs { json: true, .. })
            ));
        }
    }

    #[test]
    fn a_text_may_begin_with_a_dash_and_flags_stay_flags() {
        let write = |words: &[&str]| {
            let words = [&["block", "write", "yard", "0.1"], words].concat();
            match parse(&words) {
                Ok(Command::Block(BlockArgs {
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
