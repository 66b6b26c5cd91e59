//! The checks of the texts about a program: its guide in `docs/`, and its help.

mod guide;
mod help;

pub use guide::Guide;
pub(crate) use help::name;
pub use help::{check_help, check_shared_commands};
