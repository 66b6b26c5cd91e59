//! JSX that a model wrote: found in its reply, checked, compiled.
//!
//! The order: `find` the code in the reply, parse it, take imports and exports out (`module`), choose the `component`,
//! `check` what the code uses, `emit` a script.

mod big_stack;
mod check;
mod compile_error;
mod component;
mod emit;
mod find;
mod module;
mod names;
mod needs;
mod read;
mod source_place;

use hermitcrab_kernel::faces::{CompiledShell, ShellCompiler, ShellError};

use compile_error::{CompileError, Kind};
pub use source_place::source_place;

/// The longest text that is compiled, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// The kernel's compiler, with `oxc`.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "a compiler without settings")]
pub struct OxcCompiler;

impl ShellCompiler for OxcCompiler {
    fn compile(&self, text: &str) -> Result<CompiledShell, Vec<ShellError>> {
        compile_shell(text)
    }
}

/// Finds the component in a reply and compiles it.
///
/// The script is a classic one. It calls `globalThis.__hermitcrab` once, with a function that takes `React` and
/// `ReactDOM` and returns the component.
///
/// # Errors
/// Every fault that was found, at least one. Lines and columns count in `text`, from 1.
pub fn compile_shell(text: &str) -> Result<CompiledShell, Vec<ShellError>> {
    if text.len() > MAX_BYTES {
        let message = format!("{} bytes; a face has at most {MAX_BYTES}", text.len());
        let fault = CompileError::without_position(Kind::TooLarge, message);
        return Err(compile_error::to_shell_errors(vec![fault], text, 0, false));
    }
    big_stack::with_room(text.len(), || read::reply(text))
        .unwrap_or_else(|fault| Err(compile_error::to_shell_errors(vec![fault], text, 0, false)))
}
