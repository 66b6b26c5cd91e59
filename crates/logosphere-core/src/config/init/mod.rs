//! The parser of `init.md`, which contains the seed messages of a pool.

mod error;
mod fix;
mod read;

pub use error::{InitError, InitWarning};
pub use fix::InitFix;
pub use read::{Init, parse_init};
