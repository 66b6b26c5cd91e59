use std::io;
use std::net::SocketAddr;

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
    /// The host serves another server already.
    #[error("this host has a server already")]
    HostInUse,
}
