//! The run of a program: its command line, what it works with, and how it is stopped.

mod flags;
mod interrupt;
mod logging;
mod manual;
mod output_target;
mod paint;
mod program;
mod progress;
mod results;
mod runtime;
mod session;
mod shared_command;
mod usage;

pub use self::flags::{CommonFlags, LogFormat, SeedFlag, seed};
pub use self::interrupt::Interrupt;
pub use self::output_target::{Output, OutputTarget};
pub use self::paint::Tone;
pub use self::program::{DefaultPath, Program, command, run};
pub use self::progress::Progress;
pub use self::results::Results;
pub use self::runtime::{block_on, block_on_threads};
pub use self::session::Session;
