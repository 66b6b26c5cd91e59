//! The face of a hermitcrab: compile the shell that a model wrote, and carry it, sandboxed, to a browser.

pub mod jsx;
mod page;
mod runtime;

pub use jsx::{OxcCompiler, compile_shell};
pub use runtime::Runtime;
