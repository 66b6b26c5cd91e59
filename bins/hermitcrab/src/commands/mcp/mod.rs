//! `mcp`: serves the blocks to models of other programs, over the Model Context Protocol on stdin and stdout, and adds tools of
//! other programs.
//!
//! Requests are answered in the order in which they arrive.

mod blocks;
mod client;
mod config;
mod face;
mod orient;
mod resources;
mod server;
mod tools;

use std::path::Path;

use bin_support::{Exit, Failure, Session};

use crate::data_dir::DataDir;
use crate::error::Error;
use blocks::ServedBlocks;
pub use client::McpCommand;
use face::ServedFace;
use server::Server;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab mcp
  hermitcrab mcp --write --ui
  hermitcrab mcp --write --print-config
  hermitcrab mcp add other --allow block_read -- hermitcrab mcp";

#[derive(Debug, clap::Args)]
pub struct McpArgs {
    /// Let the client change blocks. No other process can change them while the server runs.
    #[arg(long)]
    pub write: bool,
    /// Let a client with MCP Apps show the face.
    #[arg(long)]
    pub ui: bool,
    /// Print the configuration with which an MCP client starts this server, and exit.
    #[arg(long)]
    pub print_config: bool,
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

/// Serves the blocks of a data directory, prints the configuration of a client, or runs a command on servers. `flag` is the value
/// of `--data`.
pub fn execute(
    args: &McpArgs,
    flag: Option<&Path>,
    data: impl FnOnce() -> Result<DataDir, Failure>,
    session: &mut Session,
) -> Result<Exit, Failure> {
    if let Some(command) = &args.command {
        if args.write || args.ui || args.print_config {
            return Err(Error::McpFlags.failure());
        }
        return client::execute(command, &data()?, session);
    }
    if args.print_config {
        return config::print(args, flag, session);
    }
    let data = data()?;
    let face = args.ui.then(|| ServedFace::new(data.path(), args.write));
    let blocks = ServedBlocks::open(data, args.write).map_err(Error::failure)?;
    bin_support::mcp::serve(Server::new(blocks, face), session)
}
