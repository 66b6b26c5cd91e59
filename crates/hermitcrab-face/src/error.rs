use std::io;
use std::net::SocketAddr;

use hermitcrab_kernel::faces::ShellError;

/// An error of the face server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaceError {
    /// The address cannot be had.
    #[error("{addr} cannot be had")]
    Bind {
        /// The address.
        addr: SocketAddr,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The server ended.
    #[error("the server broke")]
    Serve(#[source] io::Error),
    /// The system has no random numbers, so that no token can be made.
    #[error("the system has no random numbers")]
    NoRandom,
    /// The program's own face has a fault.
    #[error("the safe face does not compile: {}", .0.first().map_or("", |error| &error.message))]
    SafeFace(Vec<ShellError>),
    /// The host serves another server already.
    #[error("this host has a server already")]
    HostInUse,
}
