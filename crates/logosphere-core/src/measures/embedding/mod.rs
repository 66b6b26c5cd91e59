//! Embeddings: texts as vectors of a named encoder.
//!
//! An [`Encoder`] is a local rule or a model of a server, with a hash of what it answers. [`Embeddings`] have the vectors of the
//! texts of a run, and cannot be made without their encoder. [`chargram()`] makes them on this machine; vectors of a server are
//! added by [`Embeddings::insert`]. [`EmbeddedRun`] has the measures, with the encoder that they are of.

mod chargram;
mod dense;
mod encoder;
mod measure;
mod vectors;

pub use chargram::{CHARGRAM, chargram};
pub use encoder::{Encoder, PROBES};
pub(crate) use measure::chargram_means;
pub use measure::{EmbedMeasure, EmbeddedRun, EmbeddedSeries};
pub use vectors::{EmbeddingError, Embeddings, TextHash, texts};
