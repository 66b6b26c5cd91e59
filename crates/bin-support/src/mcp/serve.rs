//! The session of a server, from the first message to the end of stdin.

use std::io::IsTerminal as _;

use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio;
use rmcp::{ServerHandler, ServiceExt as _};

use crate::{Error, Exit, Failure, Session, block_on};

/// The longest line of a client, in bytes; a longer one is skipped.
const LONGEST: usize = 16 << 20;

/// Serves a client on stdin and stdout until it closes stdin, and a person on a terminal a notice.
///
/// # Errors
/// The first message opens no session, or the system has no resources for the server.
pub fn serve(server: impl ServerHandler, session: &mut Session) -> Result<Exit, Failure> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate has the streams of the programs"
    )]
    let is_terminal = std::io::stdin().is_terminal();
    if is_terminal {
        session.warn("this is a server for an MCP client, which starts it and writes to its stdin");
    }
    // One thread is enough: the requests of a client are handled one after another.
    block_on(run(server))?
}

async fn run(server: impl ServerHandler) -> Result<Exit, Failure> {
    let (stdin, stdout) = stdio();
    let lines = AsyncRwTransport::new_server(stdin, stdout).with_max_line_length(LONGEST);
    let running = match server.serve(lines).await {
        Ok(running) => running,
        // The client closed the connection before its first message.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(Exit::Done),
        Err(ServerInitializeError::InitializeFailed(error)) => {
            let why = error.message.into_owned();
            return Err(Error::Handshake { why }.into());
        }
        Err(_) => {
            let why = "its first message is not one that begins a session".to_owned();
            return Err(Error::Handshake { why }.into());
        }
    };
    match running.waiting().await? {
        QuitReason::JoinError(error) => Err(error.into()),
        _ => Ok(Exit::Done),
    }
}
