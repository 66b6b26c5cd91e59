//! Blocks for other programs' models, over the Model Context Protocol on stdin and stdout.
//!
//! The session is the client's: it ends when the client closes stdin, and requests are answered in the order in which they
//! came. What is no JSON is passed over, as in other servers of the protocol, and so is a line over 16 MiB.

mod blocks;
mod config;
mod orient;
mod reply;
mod resources;
mod server;
mod tools;

use std::io::IsTerminal as _;

use bin_support::{Exit, Failure, Session};
use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::stdio;

use crate::cli::Mcp;
use crate::data_dir::DataDir;
use crate::error::Error;
use blocks::Blocks;
pub use config::print_config;
use server::Server;

pub fn execute(args: Mcp, data: DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let blocks = Blocks::open(data, args.write).map_err(Error::failure)?;
    if std::io::stdin().is_terminal() {
        session.warn("this is a server for an MCP client, which starts it and writes to its stdin");
    }
    // One thread: the requests of a client are done one after another.
    bin_support::block_on(serve(Server::new(blocks)))?
}

async fn serve(server: Server) -> Result<Exit, Failure> {
    let running = match server.serve(stdio()).await {
        Ok(running) => running,
        // The client left before it had said anything.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(Exit::Done),
        Err(ServerInitializeError::InitializeFailed(error)) => {
            let why = error.message.into_owned();
            return Err(Error::Handshake { why }.failure());
        }
        Err(_) => {
            let why = "its first message is none that may come first".to_owned();
            return Err(Error::Handshake { why }.failure());
        }
    };
    match running.waiting().await? {
        QuitReason::JoinError(error) => Err(error.into()),
        _ => Ok(Exit::Done),
    }
}
