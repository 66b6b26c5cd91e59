//! Texts to be encoded: the three levels, and datasets of one's own.

mod case;
mod level;

pub use case::Case;
pub use level::{LEVELS, Level};
