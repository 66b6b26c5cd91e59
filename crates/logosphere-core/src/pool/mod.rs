//! The pool of messages, and the samples that minds read.

mod messages;
pub(crate) mod number;
mod sampler;

pub use messages::{ActiveView, Origin, Pool, PoolError, Retention};
pub use number::MessageId;
pub(crate) use number::{MindId, Round};
pub(crate) use sampler::draw;
pub use sampler::{ALGORITHM, SampleRng, sample_rng};
