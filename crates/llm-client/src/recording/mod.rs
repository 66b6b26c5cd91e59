//! Cassettes: every attempt is recorded, and a recorded one is replayed.

pub(crate) mod cassette;
pub(crate) mod clock;
mod deltas;
pub(crate) mod hash;
pub(crate) mod recorder;
pub(crate) mod replay;
pub(crate) mod root;
mod syncer;
mod written;
