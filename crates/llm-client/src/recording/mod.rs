//! Cassettes: every attempt is recorded, and a recorded one is replayed.

pub(crate) mod cassette;
mod deltas;
pub(crate) mod hash;
pub(crate) mod recorder;
pub(crate) mod replay;
mod syncer;
