//! The face of a hermitcrab: compile the shell that a model wrote, and carry it, sandboxed, to a browser.

pub mod jsx;
mod runtime;

pub use jsx::{OxcCompiler, compile_shell, source_place};
pub use runtime::Runtime;
